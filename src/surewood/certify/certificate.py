"""The certificate: lines by status, a verdict, and its forms as text, HTML, table and JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surewood.bounds import Entry, Status, Withheld

from .rendering import certificate_html, certificate_text, rounded_up

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NOTHING_TO_PROMISE", "Certificate"]

NOTHING_TO_PROMISE = "no non-trivial guarantee at this sample size"


@dataclass(frozen=True, repr=False)
class Certificate:
    """What may be promised about a fitted model, and what may not.

    Parameters
    ----------
    entries : tuple of Entry
    withheld : tuple of Withheld
        Guarantees not given, with reasons.
    model : str
        Name of the model's class.
    delta : float
        Probability that any of the guarantees fails: they share it, so the smallest may be quoted.
    majority_error : float, optional
        Error of always naming the largest class, as observed.
    """

    entries: tuple[Entry, ...]
    withheld: tuple[Withheld, ...]
    model: str
    delta: float
    majority_error: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(self.entries))
        object.__setattr__(self, "withheld", tuple(self.withheld))
        shares = math.fsum(entry.delta for entry in self.guarantees if entry.delta is not None)
        if shares > self.delta * (1 + 1e-9):
            raise ValueError(f"the guarantees' deltas sum to {shares:g}, more than delta={self.delta:g}")

    def by_status(self, status: Status) -> tuple[Entry, ...]:
        """Return the entries that carry this word."""
        return tuple(entry for entry in self.entries if entry.status is status)

    @property
    def guarantees(self) -> tuple[Entry, ...]:
        """Entries that bound the risk."""
        return self.by_status(Status.GUARANTEE)

    @property
    def best(self) -> Entry | None:
        """The smallest guarantee; it holds with probability 1 - delta because all of them do together."""
        return min(self.guarantees, key=lambda entry: entry.value, default=None)

    @property
    def is_trivial(self) -> bool:
        """Whether no guarantee beats 1 and the majority-class rate."""
        limit = 1.0 if self.majority_error is None else min(1.0, self.majority_error)
        return self.best is None or self.best.value >= limit

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.best is None:
            return "no guarantee could be given"
        if self.is_trivial:
            return NOTHING_TO_PROMISE
        return (
            f"guaranteed error at most {rounded_up(self.best.value)} with probability at least "
            f"{_probability(self.delta)}, by {self.best.method}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and words; every form is made from this."""
        return {
            "model": self.model,
            "delta": self.delta,
            "majority_error": self.majority_error,
            "verdict": self.verdict,
            "entries": [_entry_dict(entry) for entry in self.entries],
            "withheld": [{"method": str(w.method), "reason": w.reason} for w in self.withheld],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the certificate as strict JSON; an infinite diagnostic is written as ``"inf"``."""
        return json.dumps(_finite(self.to_dict()), indent=indent, allow_nan=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row an entry."""
        import pandas as pd

        rows = [_entry_dict(entry) for entry in self.entries]
        for row in rows:
            row["conditions"] = "; ".join(str(condition) for condition in row["conditions"])
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def __repr__(self) -> str:
        return certificate_text(self.to_dict())

    def _repr_html_(self) -> str:
        return certificate_html(self.to_dict())


_COLUMNS = (
    "status",
    "method",
    "value",
    "delta",
    "sample",
    "n",
    "n_models",
    "variant",
    "gamma_scale",
    "biased",
    "conditions",
    "decomposition",
    "note",
)


def _entry_dict(entry: Entry) -> dict[str, Any]:
    row = {name: getattr(entry, name) for name in _COLUMNS}
    row["status"], row["method"] = str(entry.status), str(entry.method)
    row["conditions"] = [str(condition) for condition in entry.conditions]
    row["decomposition"] = dict(entry.decomposition)
    return row


def _probability(delta: float) -> str:
    """1 - delta in four digits if that is not more than it is, as a difference otherwise."""
    text = f"{1 - delta:.4g}"
    return text if float(text) <= 1 - delta + 1e-15 and float(text) < 1 else f"1 - {rounded_up(delta)}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
