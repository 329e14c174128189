"""What may be claimed on a holdout: `claims=[...]` of `certify` (theory.md §11.1-11.3).

A claim is named before looking: ``"error"``, ``"accuracy"``, ``"recall:bad"``, ``"fpr:bad"``,
``"precision:bad"``, ``"f1:bad"``, ``"balanced_accuracy"``, ``"brier"``, ``"cost"`` (with a matrix) or
``"error_by:column"``; or a `Claim`. All claims of a certificate share its delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import Floats, Mask
from surewood.bounds import AT_LEAST, AT_MOST, Method, rows_needed
from surewood.bounds.entry import GroupLimit

from .counting import Counted, Limit

__all__ = ["QUANTITIES", "Claim", "Scored", "claim_fields", "read_claims"]

_PLAIN = ("error", "accuracy", "balanced_accuracy", "brier", "cost")
_OF_CLASS = ("recall", "fpr", "precision", "f1")
QUANTITIES = (*_PLAIN, *_OF_CLASS, "error_by")


@dataclass(frozen=True)
class Claim:
    """One thing to be guaranteed, named before looking at the holdout.

    Parameters
    ----------
    quantity : str
        One of ``error, accuracy, balanced_accuracy, brier, cost, recall, fpr, precision, f1, error_by``.
    of : label, optional
        The class, for recall, false positive rate (``fpr``), precision and F1.
    by : str, list of str or array, optional
        For ``error_by``: column(s) of the holdout, or one label per row.
    cost : array of shape (n_classes, n_classes), optional
        For ``cost``: cost of predicting the column's class where the row's class is true, in the order of
        ``classes_``.

    Examples
    --------
    >>> from surewood.certify import Claim
    >>> str(Claim("recall", of="bad")), str(Claim("error"))
    ("recall of 'bad'", 'error')
    """

    quantity: str
    of: Any = None
    by: Any = field(default=None, compare=False)
    cost: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES:
            raise ValueError(f"claims must be among {', '.join(QUANTITIES)}, got {self.quantity!r}")
        needs = {"error_by": ("by", self.by), "cost": ("cost", self.cost)}
        needs |= dict.fromkeys(_OF_CLASS, ("of", self.of))
        name, value = needs.get(self.quantity, ("", self))
        if value is None:
            words = {"of": "a class, such as 'recall:bad'", "by": "a column", "cost": "a cost matrix"}
            raise ValueError(f"claim {self.quantity!r} needs {words[name]}")

    def __str__(self) -> str:
        names = {"fpr": "false positive rate", "f1": "F1", "brier": "Brier score", "cost": "expected cost"}
        name = names.get(self.quantity, self.quantity.replace("_", " "))
        return f"{name} of {_word(self.of)}" if self.quantity in _OF_CLASS else name


def _word(label: Any) -> str:
    """A label as a reader would write it, without its NumPy type."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def read_claims(claims: Any, classes: Sequence[Any] | None) -> list[Claim]:
    """Claims from names and objects, with classes found by value or by their text."""
    given = ["error"] if claims is None else [claims] if isinstance(claims, str | Claim) else list(claims)
    if not given:
        raise ValueError("claims must name at least one quantity")
    read: list[Claim] = []
    for item in given:
        if isinstance(item, str):
            quantity, _, rest = item.partition(":")
            argument = "by" if quantity == "error_by" else "of"
            item = Claim(quantity, **({argument: rest} if rest else {}))
        if not isinstance(item, Claim):
            raise TypeError(f"claims must be names or Claim objects, got {type(item).__name__}")
        read.append(_with_known_class(item, classes))
    return read


def _with_known_class(claim: Claim, classes: Sequence[Any] | None) -> Claim:
    if claim.of is None or classes is None:
        return claim
    found = [c for c in classes if c == claim.of] or [c for c in classes if str(c) == str(claim.of)]
    if not found:
        known = ", ".join(str(c) for c in list(classes)[:5])
        raise ValueError(
            f"claim {claim.quantity!r}: the model does not know class {_word(claim.of)}; it knows {known}"
        )
    return Claim(claim.quantity, of=found[0])


@dataclass(frozen=True)
class Scored:
    """The counted rows with their labels, in the order of `Counted.rows`.

    Attributes
    ----------
    counted : Counted
    truth, predicted : ndarray of object
    probabilities : ndarray, optional
    classes : sequence, optional
        The model's classes.
    by : mapping of column to labels
        Group labels of the claims ``error_by``, with the words for the column.
    """

    counted: Counted
    truth: NDArray[Any]
    predicted: NDArray[Any]
    probabilities: Floats | None = None
    classes: Sequence[Any] | None = None
    by: dict[int, tuple[NDArray[Any], str]] = field(default_factory=dict)

    @cached_property
    def wrong(self) -> Floats:
        """1 where the prediction is wrong."""
        return np.asarray(self.predicted != self.truth, dtype=np.float64)

    @cached_property
    def _codes(self) -> tuple[NDArray[np.intp], dict[Any, int]]:
        """Labels as numbers, true ones first: comparing objects once per claim would be slow."""
        codes, labels = pd.factorize(np.concatenate([self.truth, self.predicted]))
        return codes, {label: k for k, label in enumerate(labels)}

    def is_true(self, label: Any) -> Mask:
        """Rows of the class."""
        codes, known = self._codes
        return np.asarray(codes[: self.truth.size] == known.get(label, -1))

    def is_predicted(self, label: Any) -> Mask:
        """Rows predicted as the class."""
        codes, known = self._codes
        return np.asarray(codes[self.truth.size :] == known.get(label, -1))


def claim_fields(claim: Claim, position: int, scored: Scored, delta: float, n_models: int) -> dict[str, Any]:
    """Fields of the guarantee at this delta: method, value, side, n, parts."""
    wrong, counted = scored.wrong, scored.counted

    def upper(loss: Floats, where: Mask | None = None, part: float = 1.0) -> Limit:
        return counted.upper(loss, where, delta=delta * part, n_models=n_models)

    if claim.quantity in ("error", "accuracy"):
        return _rate(claim, upper(wrong), delta, n_models, lower=claim.quantity == "accuracy", errors=wrong)
    if claim.quantity in _OF_CLASS:
        return _of_class(claim, scored, upper, delta, n_models)
    if claim.quantity == "balanced_accuracy":
        classes = list(scored.classes) if scored.classes is not None else sorted(set(scored.truth), key=str)
        limits = [upper(wrong, scored.is_true(c), 1.0 / len(classes)) for c in classes]
        parts = {f"recall of {_word(c)}, at least": 1.0 - limit.value for c, limit in zip(classes, limits)}
        value = float(np.mean([1.0 - limit.value for limit in limits]))
        return _fields(claim, limits, value, AT_LEAST, parts)
    if claim.quantity == "error_by":
        return _by_group(claim, position, scored, upper)
    return _of_loss(claim, scored, upper)


def _fields(
    claim: Claim, limits: Sequence[Limit], value: float, side: str, parts: dict[str, float], note: str = ""
) -> dict[str, Any]:
    method = Method.BETTING if any(limit.method is Method.BETTING for limit in limits) else Method.HOLDOUT
    n = max(1, sum(limit.n for limit in limits))
    fields = {"method": method, "value": value, "side": side, "n": n}
    return fields | {"quantity": str(claim), "decomposition": parts, "note": note}


def _rate(
    claim: Claim, limit: Limit, delta: float, n_models: int, *, lower: bool, errors: Floats | None = None
) -> dict[str, Any]:
    value = 1.0 - limit.value if lower else limit.value
    parts = {"rows counted": float(limit.n)} if limit.n == 0 else {}
    if limit.n:
        name = "error rate" if claim.quantity == "error" else "observed"
        parts[name] = 1.0 - limit.mean if lower else limit.mean
        if errors is not None:
            parts = {"errors": float(errors.sum()), **parts}
    note = ""
    if limit.value >= 1.0 and limit.n < 5:
        enough = rows_needed(0.0, 0.5, delta=delta, n_models=n_models)
        note = f"too few rows to say anything: {limit.n}; at least {enough} are needed"
    return _fields(claim, [limit], value, AT_LEAST if lower else AT_MOST, parts, note)


def _of_class(claim: Claim, scored: Scored, upper: Any, delta: float, n_models: int) -> dict[str, Any]:
    is_class, is_predicted = scored.is_true(claim.of), scored.is_predicted(claim.of)
    missed, false = (~is_predicted).astype(np.float64), (~is_class).astype(np.float64)
    if claim.quantity == "recall":
        return _rate(claim, upper(missed, is_class), delta, n_models, lower=True)
    if claim.quantity == "precision":
        return _rate(claim, upper(false, is_predicted), delta, n_models, lower=True)
    if claim.quantity == "fpr":
        return _rate(claim, upper(1.0 - missed, ~is_class), delta, n_models, lower=False)
    precision, recall = upper(false, is_predicted, 0.5), upper(missed, is_class, 0.5)
    p, r = 1.0 - precision.value, 1.0 - recall.value
    value = 2.0 * p * r / (p + r) if p + r > 0 else 0.0
    parts = {"precision, at least": p, "recall, at least": r}
    return _fields(claim, [precision, recall], value, AT_LEAST, parts)


def _by_group(claim: Claim, position: int, scored: Scored, upper: Any) -> dict[str, Any]:
    labels, words = scored.by[position]
    names = sorted(set(labels))
    limits = [upper(scored.wrong, labels == name, 1.0 / len(names)) for name in names]
    worst = int(np.argmax([limit.value for limit in limits]))
    parts = {str(name): limit.value for name, limit in zip(names, limits)}
    fields = _fields(claim, limits, limits[worst].value, AT_MOST, parts)
    note = f"largest for {words} = {names[worst]} ({limits[worst].n} rows); holds for all {len(names)} groups"
    groups = tuple(
        GroupLimit(str(name), limit.n, float(limit.mean), float(limit.value))
        for name, limit in zip(names, limits)
    )
    return fields | {"quantity": f"error in every {words}", "note": note, "groups": groups}


def _of_loss(claim: Claim, scored: Scored, upper: Any) -> dict[str, Any]:
    if claim.quantity == "brier":
        loss, ceiling = _brier(scored), 2.0
    else:
        loss, ceiling = _cost(claim, scored)
    limit = upper(loss / ceiling if ceiling > 0 else loss)
    fields = _fields(claim, [limit], limit.value * ceiling, AT_MOST, {"observed": limit.mean * ceiling})
    return fields | {"method": limit.method, "ceiling": ceiling}


def _positions(labels: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    lookup = {label: k for k, label in enumerate(classes)}
    return np.array([lookup.get(label, -1) for label in labels], dtype=np.intp)


def _brier(scored: Scored) -> Floats:
    p = scored.probabilities
    if p is None or scored.classes is None:
        raise ValueError("claim 'brier' needs a model with predict_proba")
    if not np.allclose(p.sum(axis=1), 1.0, atol=1e-6) or p.min() < -1e-9:
        raise ValueError("claim 'brier' needs probabilities that sum to one")
    at = _positions(scored.truth, scored.classes)
    target = np.zeros_like(p)
    known = at >= 0
    target[np.flatnonzero(known), at[known]] = 1.0
    loss = ((p - target) ** 2).sum(axis=1)
    # a class the model does not know has no column: its own term is 1
    return np.asarray(np.minimum(loss + ~known, 2.0))


def _cost(claim: Claim, scored: Scored) -> tuple[Floats, float]:
    if scored.classes is None:
        raise ValueError("claim 'cost' needs a model with classes_")
    matrix, k = np.asarray(claim.cost, dtype=np.float64), len(scored.classes)
    if matrix.shape != (k, k) or not np.isfinite(matrix).all() or matrix.min() < 0:
        raise ValueError(
            f"cost must be a matrix of shape ({k}, {k}) with entries >= 0, got shape {matrix.shape}"
        )
    truth, predicted = (_positions(labels, scored.classes) for labels in (scored.truth, scored.predicted))
    if (truth < 0).any():
        raise ValueError("claim 'cost' needs labels the model knows: the matrix has no row for others")
    ceiling = float(matrix.max())
    return np.asarray(matrix[truth, predicted]), ceiling
