"""Guarantees on their way into a certificate.

Evidence yields a `Reading`: guarantees still waiting for their share of delta (`Claim`), lines without one,
and claims turned away because a condition does not hold. `Caller` adds what only the caller knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from surewood.bounds import Condition, Entry, Method, Withheld, issue_guarantee

__all__ = ["BY_CALLER", "Caller", "Claim", "Reading", "claim_or_withhold"]

BY_CALLER = "stated by the caller"


@dataclass(frozen=True)
class Caller:
    """What only the caller knows about the training sample.

    Parameters
    ----------
    n_models : int
        Number of models, or settings, out of which this one was chosen, on whatever data.
    fixed_features : bool
        Nothing was fitted on the sample before the model saw it.
    """

    n_models: int = 1
    fixed_features: bool = True

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of every guarantee from the training sample."""
        text = "no scaler, encoder or selection was fitted on the sample before the model"
        return (Condition(text, bool(self.fixed_features), BY_CALLER),)


@dataclass(frozen=True)
class Claim:
    """A guarantee that can be issued as soon as its share of delta is known."""

    method: Method
    issue: Callable[[float], Entry]


@dataclass
class Reading:
    """What one piece of evidence allows."""

    claims: list[Claim] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    withheld: list[Withheld] = field(default_factory=list)
    majority_error: float | None = None


def claim_or_withhold(
    reading: Reading,
    method: Method,
    conditions: Sequence[Condition],
    issue: Callable[[float], dict[str, Any]],
    **fields: Any,
) -> None:
    """Add a claim whose `issue` gives value and decomposition at a delta, or the reason why there is none."""
    broken = [condition.text for condition in conditions if not condition.holds]
    if broken:
        reading.withheld.append(Withheld(method, "does not hold: " + "; ".join(broken)))
        return

    def entry(delta: float) -> Entry:
        return issue_guarantee(method, delta=delta, conditions=conditions, **fields, **issue(delta))

    reading.claims.append(Claim(method, entry))
