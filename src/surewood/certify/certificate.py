"""The certificate: lines by status, a verdict, and its forms as text, HTML, table and JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from surewood.bounds import Condition, Entry, Method, Status, Withheld
from surewood.bounds.statements import AT_LEAST, CALLER

from .claims import CONSTANT, COST
from .wording import certificate_html, certificate_text, trivial_text, verdict_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Certificate"]


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is guaranteed about a fitted model, what is not, and what it assumes.

    Parameters
    ----------
    entries : tuple of Entry
    withheld : tuple of Withheld
        Guarantees not given, with reasons.
    model : str
        Name of the model's class.
    delta : float
        Probability that any of the guarantees fails: they share it, so any of them may be quoted.
    majority_error : float, optional
        Observed error of the baseline, which always predicts the majority class ([D-42]).
    facts : tuple of str
        What a reader must know first, such as how many rows equal training rows.
    other_rows : Entry, optional
        Where many counted rows equal training rows: the error on the others, at a delta of its own.
    copies : {"count", "leave_out"}, optional
        Whether rows that equal a training row were counted ([D-33]).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier, certify
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = BinnedForestClassifier(20, random_state=0)
    >>> certificate = certify.certify(forest.fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> round(certificate.best.value, 3), certificate.is_trivial
    (0.135, False)
    >>> certificate.to_frame()[["status", "value"]].round(3).values.tolist()
    [['GUARANTEE', 0.135], ['ESTIMATE', 0.067]]
    """

    entries: tuple[Entry, ...]
    withheld: tuple[Withheld, ...]
    model: str
    delta: float
    majority_error: float | None = None
    facts: tuple[str, ...] = ()
    other_rows: Entry | None = None
    copies: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(self.entries))
        object.__setattr__(self, "withheld", tuple(self.withheld))
        object.__setattr__(self, "facts", tuple(self.facts))
        shares = math.fsum(entry.delta for entry in self.guarantees if entry.delta is not None)
        if shares > self.delta * (1 + 1e-9):
            raise ValueError(f"the guarantees' deltas sum to {shares:g}, more than delta={self.delta:g}")

    def by_status(self, status: Status) -> tuple[Entry, ...]:
        """Return the entries that carry this word."""
        return tuple(entry for entry in self.entries if entry.status is status)

    @property
    def guarantees(self) -> tuple[Entry, ...]:
        """Entries that limit the error, or whatever was claimed."""
        return self.by_status(Status.GUARANTEE)

    @property
    def best(self) -> Entry | None:
        """The smallest guarantee of the error; it may be quoted because all of them hold together."""
        errors = [entry for entry in self.guarantees if entry.quantity == "error"]
        return min(errors, key=lambda entry: entry.value, default=None)

    @property
    def lead(self) -> Entry | None:
        """The guarantee that the verdict states: an expected cost, the error, or the first useful claim.

        An error that does not beat the baseline does not lead, and no other claim from the training sample.
        """
        costs = [entry for entry in self.guarantees if entry.quantity == COST]
        if costs:
            return costs[0]
        if self.best is not None and self._is_useful(self.best):
            return self.best
        if self.best is not None and self.best.sample == "holdout":
            return None
        others = [entry for entry in self.guarantees if entry.quantity != "error"]
        held_out = [entry for entry in others if entry.sample == "holdout"]
        return next(filter(self._is_useful, others), held_out[0] if held_out else None)

    def _is_useful(self, entry: Entry) -> bool:
        """Whether a limit is better than what a constant prediction gives."""
        m, lower = self.majority_error, entry.side == AT_LEAST
        constant = entry.decomposition.get(CONSTANT, entry.floor if lower else entry.ceiling)
        if entry.quantity == "error":
            constant = constant if m is None else m
        elif entry.sample != "holdout":  # a Brier score: of two classes, and less than of more
            constant = 0.0 if m is None else 2.0 * m * (1.0 - m)
        return entry.value > constant if lower else entry.value < constant

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantees assume on the caller's word alone, each once."""
        stated = [
            condition.text
            for entry in self.guarantees
            for condition in entry.conditions
            if condition.source == CALLER
        ]
        return tuple(dict.fromkeys(stated))

    @property
    def is_trivial(self) -> bool:
        """Whether what leads is no better than a constant prediction ([D-42])."""
        return self.lead is None or not self._is_useful(self.lead)

    @property
    def verdict(self) -> str:
        """One sentence: population, quantity, limit and confidence; or why there is no guarantee."""
        if self.lead is not None:
            return verdict_text(self.lead, self.delta, not self.is_trivial)
        if self.guarantees:
            return trivial_text(self.best or self.guarantees[0], self.majority_error)
        reasons = [item.reason for item in self.withheld if item.code and item.method == Method.HOLDOUT]
        reasons.append("hold out rows and certify the model on them")
        return f"no guarantee: {reasons[0]}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and words; every form is made from this."""
        return {
            "model": self.model,
            "delta": self.delta,
            "majority_error": self.majority_error,
            "verdict": self.verdict,
            "trivial": self.is_trivial,
            "copies": self.copies,
            "facts": list(self.facts),
            "assumptions": list(self.assumptions),
            "entries": [_entry_dict(entry) for entry in self.entries],
            "other_rows": None if self.other_rows is None else _entry_dict(self.other_rows),
            "withheld": [
                {"method": str(item.method), "reason": item.reason, "code": item.code}
                for item in self.withheld
            ],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the certificate as strict JSON; an infinite diagnostic is written as ``"inf"``."""
        return json.dumps(_finite(self.to_dict()), indent=indent, allow_nan=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per entry."""
        import pandas as pd

        rows = [_entry_dict(entry) for entry in self.entries]
        for row in rows:
            row["conditions"] = "; ".join(str(Condition(**one)) for one in row["conditions"])
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def __repr__(self) -> str:
        return certificate_text(self.to_dict())

    def _repr_html_(self) -> str:
        return certificate_html(self.to_dict())


_COLUMNS = (
    "status",
    "method",
    "quantity",
    "side",
    "value",
    "percent",
    "delta",
    "sample",
    "unit",
    "n",
    "n_models",
    "variant",
    "gamma_scale",
    "biased",
    "conditions",
    "decomposition",
    "population",
    "note",
)


def _entry_dict(entry: Entry) -> dict[str, Any]:
    row = {name: getattr(entry, name) for name in _COLUMNS}
    row["status"], row["method"] = str(entry.status), str(entry.method)
    row["conditions"] = [asdict(condition) for condition in entry.conditions]
    row["decomposition"] = dict(entry.decomposition)
    row["groups"] = [asdict(group) for group in entry.groups]
    return row


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
