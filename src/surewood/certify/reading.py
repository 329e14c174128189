"""Guarantees on their way into a certificate.

Evidence yields a `Reading`: guarantees still waiting for their part of delta (`Pending`), lines without one,
and guarantees turned away because a condition does not hold. `Caller` adds what only the caller knows and
what `certify` found out about the training sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from surewood.bounds import Condition, Entry, Method, Withheld, issue_guarantee
from surewood.bounds.condition import CALLER, CHECKED

__all__ = ["Caller", "Pending", "Reading", "claim_or_withhold"]


@dataclass(frozen=True)
class Caller:
    """What is known about the training sample beyond what the model says.

    Parameters
    ----------
    n_models : int
        Number of models, or settings, out of which this one was chosen, on whatever data.
    fixed_features : bool
        Nothing was fitted on the sample before the model saw it.
    fitted_steps : tuple of str
        Steps of a pipeline that were; then `fixed_features` is not the caller's word but known.
    copies : bool
        More than 1 % of the training rows are copies of others ([D-38]).
    ordered : bool
        Rows are ordered in time, or come in groups: they are not independent.
    """

    n_models: int = 1
    fixed_features: bool = True
    fitted_steps: tuple[str, ...] = ()
    copies: bool = False
    ordered: bool = False

    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of every guarantee from the training sample, what the caller only states first."""
        text = "no scaler, encoder or feature selection was fitted on the training rows before the model"
        if self.fitted_steps:
            fixed = Condition(text, False, CHECKED)
        else:
            fixed = Condition(text, bool(self.fixed_features), CALLER)
        found = [
            Condition("at most 1 % of the training rows are copies of others", not self.copies, CHECKED),
            Condition("training rows are independent of each other", not self.ordered, CALLER),
        ]
        return (fixed, *(condition for condition in found if not condition.holds))


@dataclass(frozen=True)
class Pending:
    """A guarantee that can be issued as soon as its part of delta is known."""

    method: Method
    issue: Callable[[float], Entry]


@dataclass
class Reading:
    """What one piece of evidence allows."""

    claims: list[Pending] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    withheld: list[Withheld] = field(default_factory=list)
    majority_error: float | None = None

    def add(self, other: Reading) -> None:
        """Join what another piece of evidence allows; the first baseline stays."""
        self.claims += other.claims
        self.entries += other.entries
        self.withheld += other.withheld
        if self.majority_error is None:
            self.majority_error = other.majority_error


def claim_or_withhold(
    reading: Reading,
    method: Method,
    conditions: Sequence[Condition],
    issue: Callable[[float], dict[str, Any]],
    **fields: Any,
) -> None:
    """Add a guarantee whose `issue` gives value and decomposition at a delta, or the reason why not."""
    broken = [condition.text for condition in conditions if not condition.holds]
    if broken:
        reading.withheld.append(Withheld(method, "conditions not met: " + "; ".join(broken)))
        return

    def entry(delta: float) -> Entry:
        return issue_guarantee(method, delta=delta, conditions=conditions, **fields, **issue(delta))

    reading.claims.append(Pending(method, entry))
