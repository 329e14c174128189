"""What may be claimed on a holdout: `claims=[...]` of `certify` (theory.md §11.1-11.3).

A claim is named before looking: ``"error"``, ``"recall:bad"``, ``"error_by:column"``, or a `Claim`. All
claims of a certificate share its delta. `KINDS` is the one table of claims: how each is called, what it
needs, and the function that gives its limit on the counted rows (`Scored`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from surewood._arrays import Floats, Mask
from surewood.base.wording import plural
from surewood.bounds import (
    Method,
    auc_limit,
    betting_upper_limit,
    calibration_limit,
    clopper_pearson,
    mcc_limit,
    rows_needed,
)
from surewood.bounds.holdout import LOG_LOSS_FLOOR
from surewood.bounds.statements import AT_LEAST, AT_MOST, GroupLimit

__all__ = ["KINDS", "Claim", "Limit", "Scored", "claim_fields", "read_claims"]


@dataclass(frozen=True)
class Claim:
    """One thing to be guaranteed, named before looking at the holdout.

    Parameters
    ----------
    quantity : str
        One of ``error, accuracy, balanced_accuracy, brier, log_loss, cost, recall, specificity, fpr,
        precision, npv, f1, mcc, auc, calibration, error_by``.
    of : label, optional
        The class, for recall, specificity, false positive rate (``fpr``), precision, negative predictive
        value (``npv``), F1, Matthews correlation coefficient (``mcc``), area under the ROC curve (``auc``)
        and expected calibration error (``calibration``), each of this class against the others.
    by : str, list of str or array, optional
        For ``error_by``: column(s) of the holdout, or one label per row.
    cost : array of shape (n_classes, n_classes), optional
        For ``cost``: cost of predicting the column's class where the row's class is true, in the order of
        ``classes_``; gains are negative. A class that the model does not know costs the largest entry.

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
        if self.quantity not in KINDS:
            raise ValueError(f"claims must be among {', '.join(KINDS)}, got {self.quantity!r}")
        needs = KINDS[self.quantity].needs
        if needs and getattr(self, needs) is None:
            words = {
                "of": f"a class, such as '{self.quantity}:bad'",
                "by": "a column",
                "cost": "a cost matrix",
            }
            raise ValueError(f"claim {self.quantity!r} needs {words[needs]}")

    def __str__(self) -> str:
        return KINDS[self.quantity].words.format(_word(self.of))


def _word(label: Any) -> str:
    """A label as a reader would write it, without its NumPy type."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def read_claims(claims: Any, classes: Sequence[Any] | None) -> list[Claim]:
    """Claims from names and objects, with classes found by value or by their text."""
    wanted = ["error"] if claims is None else [claims] if isinstance(claims, str | Claim) else list(claims)
    if not wanted:
        raise ValueError("claims must name at least one quantity")
    read: list[Claim] = []
    for item in wanted:
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
    equal = [c for c in classes if c == claim.of] or [c for c in classes if str(c) == str(claim.of)]
    if not equal:
        names = ", ".join(str(c) for c in list(classes)[:5])
        raise ValueError(
            f"claim {claim.quantity!r}: the model does not know class {_word(claim.of)}; it knows {names}"
        )
    return Claim(claim.quantity, of=equal[0])


class Limit(NamedTuple):
    """An upper limit, how many rows or groups it rests on, how it was found, and the mean observed."""

    value: float
    n: int
    method: Method
    mean: float


@dataclass(frozen=True)
class Scored:
    """The counted rows with their labels, in the order in which they are bet on.

    Attributes
    ----------
    truth, predicted : ndarray of object
    probabilities : ndarray, optional
    classes : list, optional
        The model's classes.
    by : mapping of a claim's position to labels
        Group labels of the claims ``error_by``, with the words for the column.
    groups : ndarray, optional
        Group of each row, where groups are the unit.
    stratified : bool
        The holdout was drawn with fixed numbers of rows per class ([D-36]).
    """

    truth: NDArray[Any]
    predicted: NDArray[Any]
    probabilities: Floats | None = None
    classes: list[Any] | None = None
    by: dict[int, tuple[NDArray[Any], str]] = field(default_factory=dict)
    groups: NDArray[Any] | None = None
    stratified: bool = False

    @cached_property
    def wrong(self) -> Floats:
        """1 where the prediction is wrong."""
        return np.asarray(self.predicted != self.truth, dtype=np.float64)

    @cached_property
    def labels(self) -> list[Any]:
        """Classes of the model, then those that only the holdout has."""
        every = [*(self.classes or []), *sorted(set(self.truth), key=str)]
        return list(dict.fromkeys(every))

    @cached_property
    def group_codes(self) -> NDArray[np.intp]:
        """Number of each row's group, in a shuffled order of their names: groups are bet on in it.

        Names may tell the outcome, so every set of names, labels and predictions has an order of its own.
        """
        assert self.groups is not None
        names, codes = np.unique(self.groups.astype(str), return_inverse=True)
        rows = [f"{row}" for row in zip(self.groups, self.truth, self.predicted)]
        seed = int(pd.util.hash_array(np.unique(rows).astype(object)).sum(dtype=np.uint64))
        return np.asarray(np.random.default_rng(seed).permutation(names.size)[codes])

    @property
    def n_units(self) -> int:
        """Rows, or groups."""
        return self.truth.size if self.groups is None else int(self.group_codes.max(initial=-1)) + 1

    @property
    def unit(self) -> str:
        """What counts as one."""
        return "rows" if self.groups is None else "groups"

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

    @cached_property
    def fractions(self) -> dict[Any, float]:
        """Fraction of the rows with each label."""
        return {label: float(self.is_true(label).mean()) for label in self.labels}

    @cached_property
    def majority_error(self) -> float:
        """Error of always predicting the most frequent label ([D-42])."""
        majority = max(self.fractions, key=self.fractions.__getitem__)
        return 1.0 - self.mean(self.is_true(majority).astype(np.float64))

    def mean(self, loss: Floats) -> float:
        """Mean over all rows, or over the means of all groups."""
        everywhere = np.ones(loss.size, dtype=bool)
        return float((loss if self.groups is None else self.group_means(loss, everywhere)).mean())

    def group_means(self, loss: Floats, where: Mask) -> Floats:
        """Mean loss of every group with a row in `where`."""
        rows = np.bincount(self.group_codes[where], minlength=self.n_units)
        sums = np.bincount(self.group_codes[where], weights=loss[where], minlength=self.n_units)
        return np.asarray(sums[rows > 0] / rows[rows > 0])

    def upper(
        self,
        loss: Floats,
        where: Mask | None = None,
        *,
        delta: float,
        n_models: int = 1,
        zero_one: bool = True,
    ) -> Limit:
        """Upper limit of the mean of a loss in [0, 1] over the rows, or groups, in `where`.

        The exact binomial limit for losses that are 0 or 1 whatever the rows, betting for others and for
        means of groups: choosing between them by the values observed would cost delta twice. Of a stratified
        holdout, the limits of the classes at their parts of delta, weighted by their fractions.
        """
        where = np.ones(loss.size, dtype=bool) if where is None else where
        codes = self._codes[0][: self.truth.size]
        if self.stratified and np.unique(codes[where]).size > 1:
            classes, rows = np.unique(codes[where], return_counts=True)
            share = delta / classes.size
            own = [
                self.upper(loss, where & (codes == c), delta=share, n_models=n_models, zero_one=zero_one)
                for c in classes
            ]
            value = float(np.average([limit.value for limit in own], weights=rows))
            mean = float(np.average([limit.mean for limit in own], weights=rows))
            return Limit(value, int(rows.sum()), own[0].method, mean)
        values = loss[where] if self.groups is None else self.group_means(loss, where)
        if not values.size:
            return Limit(1.0, 0, Method.HOLDOUT, math.nan)
        n, mean = values.size, float(values.mean())
        if self.groups is not None or not zero_one:
            limit = betting_upper_limit(np.clip(values, 0.0, 1.0), delta=delta, n_models=n_models)
            return Limit(limit, n, Method.BETTING, mean)
        limit = clopper_pearson(int(values.sum()), n, delta=delta, n_models=n_models)
        return Limit(limit, n, Method.HOLDOUT, mean)


@dataclass(frozen=True)
class _Asked:
    """A claim on its rows: `upper` takes a loss, the rows it is about, and a part of delta."""

    claim: Claim
    position: int
    scored: Scored
    delta: float
    n_models: int

    def upper(
        self, loss: Floats, where: Mask | None = None, part: float = 1.0, *, zero_one: bool = True
    ) -> Limit:
        return self.scored.upper(
            loss, where, delta=self.delta * part, n_models=self.n_models, zero_one=zero_one
        )


def claim_fields(claim: Claim, position: int, scored: Scored, delta: float, n_models: int) -> dict[str, Any]:
    """Fields of the guarantee at this delta: method, value, side, n, parts."""
    kind = KINDS[claim.quantity]
    if scored.groups is not None and not kind.by_group:
        possible = ", ".join(name for name, other in KINDS.items() if other.by_group)
        raise ValueError(f"claim {claim.quantity!r} is not possible with groups; possible: {possible}")
    if scored.stratified and not kind.by_class:
        possible = ", ".join(name for name, one in KINDS.items() if one.by_class)
        raise ValueError(
            f"claim {claim.quantity!r} is not possible with stratified=True; possible: {possible}"
        )
    return kind.limit(_Asked(claim, position, scored, delta, n_models)) | {"percent": kind.percent}


def _fields(
    asked: _Asked, limits: Sequence[Limit], value: float, side: str, parts: dict[str, float], note: str = ""
) -> dict[str, Any]:
    method = Method.BETTING if any(limit.method is Method.BETTING for limit in limits) else Method.HOLDOUT
    n = max(1, min(asked.scored.n_units, sum(limit.n for limit in limits)))
    fields = {"method": method, "value": value, "side": side, "n": n}
    return fields | {"quantity": str(asked.claim), "decomposition": parts, "note": note}


def _rate(asked: _Asked, limit: Limit, *, side: str, constant: float | None = None) -> dict[str, Any]:
    """A rate that is itself limited from above, or whose complement is; and that of a constant prediction."""
    lower = side == AT_LEAST
    parts = {} if limit.n else {"rows counted": 0.0}
    if limit.n:
        name = "error rate" if asked.claim.quantity == "error" else "observed"
        parts[name] = 1.0 - limit.mean if lower else limit.mean
    if constant is not None:
        parts[CONSTANT] = constant
    note = ""
    if limit.value >= 1.0 and limit.n < 5:
        enough = rows_needed(0.0, 0.5, delta=asked.delta, n_models=asked.n_models)
        note = f"{plural(limit.n, 'row guarantees', 'rows guarantee')} nothing; at least {enough} are needed"
    return _fields(asked, [limit], 1.0 - limit.value if lower else limit.value, side, parts, note)


def _error(asked: _Asked) -> dict[str, Any]:
    fields = _rate(asked, asked.upper(asked.scored.wrong), side=AT_MOST)
    errors = {"errors": float(asked.scored.wrong.sum())}
    return fields | {"decomposition": errors | fields["decomposition"]}


def _accuracy(asked: _Asked) -> dict[str, Any]:
    baseline = 1.0 - asked.scored.majority_error
    return _rate(asked, asked.upper(asked.scored.wrong), side=AT_LEAST, constant=baseline)


def _missed(asked: _Asked, part: float = 1.0) -> Limit:
    """Rows of the class that are predicted as another."""
    scored, label = asked.scored, asked.claim.of
    return asked.upper((~scored.is_predicted(label)).astype(np.float64), scored.is_true(label), part)


def _false(asked: _Asked, part: float = 1.0) -> Limit:
    """Rows predicted as the class that are another."""
    scored, label = asked.scored, asked.claim.of
    return asked.upper((~scored.is_true(label)).astype(np.float64), scored.is_predicted(label), part)


def _recall(asked: _Asked) -> dict[str, Any]:
    return _rate(asked, _missed(asked), side=AT_LEAST)


def _precision(asked: _Asked) -> dict[str, Any]:
    return _rate(asked, _false(asked), side=AT_LEAST, constant=_fraction(asked))


def _fraction(asked: _Asked) -> float:
    """Fraction of the claim's class."""
    return asked.scored.mean(asked.scored.is_true(asked.claim.of).astype(np.float64))


def _false_positives(asked: _Asked) -> Limit:
    """Rows of other classes that are predicted as the class."""
    scored, label = asked.scored, asked.claim.of
    return asked.upper(scored.is_predicted(label).astype(np.float64), ~scored.is_true(label))


def _fpr(asked: _Asked) -> dict[str, Any]:
    return _rate(asked, _false_positives(asked), side=AT_MOST)


def _specificity(asked: _Asked) -> dict[str, Any]:
    return _rate(asked, _false_positives(asked), side=AT_LEAST)


def _npv(asked: _Asked) -> dict[str, Any]:
    """Among the rows predicted as other classes, those that are."""
    scored, label = asked.scored, asked.claim.of
    limit = asked.upper(scored.is_true(label).astype(np.float64), ~scored.is_predicted(label))
    return _rate(asked, limit, side=AT_LEAST, constant=1.0 - _fraction(asked))


def _f1(asked: _Asked) -> dict[str, Any]:
    precision, recall = _false(asked, 0.5), _missed(asked, 0.5)
    p, r = 1.0 - precision.value, 1.0 - recall.value
    value = 2.0 * p * r / (p + r) if p + r > 0 else 0.0
    always = _fraction(asked)
    parts = {"precision, at least": p, "recall, at least": r, CONSTANT: 2.0 * always / (1.0 + always)}
    return _fields(asked, [precision, recall], value, AT_LEAST, parts) | {"n": asked.scored.n_units}


def _mcc(asked: _Asked) -> dict[str, Any]:
    is_class = asked.scored.is_true(asked.claim.of)
    is_predicted = asked.scored.is_predicted(asked.claim.of)
    tp, fn = int((is_class & is_predicted).sum()), int((is_class & ~is_predicted).sum())
    fp, tn = int((~is_class & is_predicted).sum()), int((~is_class & ~is_predicted).sum())
    spread = math.sqrt((tp + fn) * (fp + tn) * (tp + fp) * (fn + tn))
    observed = {"observed": (tp * tn - fn * fp) / spread} if spread else {}
    limit = mcc_limit(tp, fn, fp, tn, delta=asked.delta, n_models=asked.n_models)
    fields = _fields(asked, [], limit, AT_LEAST, observed | {CONSTANT: 0.0})
    return fields | {"n": max(1, is_class.size), "floor": -1.0}


def _auc(asked: _Asked) -> dict[str, Any]:
    is_class, p = asked.scored.is_true(asked.claim.of), _probability(asked)
    limit = auc_limit(p, is_class, delta=asked.delta, n_models=asked.n_models)
    n_true, n_others = int(is_class.sum()), int((~is_class).sum())
    observed = {}
    if n_true and n_others:
        rank_sum = rankdata(p)[is_class].sum()
        observed["observed"] = float((rank_sum - n_true * (n_true + 1) / 2) / (n_true * n_others))
    fields = _fields(asked, [], limit, AT_LEAST, observed | {CONSTANT: 0.5})
    return fields | {"method": Method.BETTING, "n": max(1, is_class.size)}


def _calibration(asked: _Asked) -> dict[str, Any]:
    is_class, p = asked.scored.is_true(asked.claim.of), _probability(asked)
    limit = calibration_limit(p, is_class, delta=asked.delta, n_models=asked.n_models)
    bins = np.minimum((p * 10).astype(np.intp), 9)
    gaps = np.bincount(bins, weights=p - is_class, minlength=10) / p.size
    fields = _fields(asked, [], limit, AT_MOST, {"observed": float(np.abs(gaps).sum())})
    return fields | {"method": Method.BETTING, "n": p.size}


def _probability(asked: _Asked) -> Floats:
    """Predicted probability of the claim's class."""
    p, classes = _probabilities(asked)
    return np.clip(p[:, classes.index(asked.claim.of)], 0.0, 1.0)


def _probabilities(asked: _Asked) -> tuple[Floats, list[Any]]:
    """Probabilities and their classes, which claims about probabilities always have."""
    p, classes = asked.scored.probabilities, asked.scored.classes
    assert p is not None
    assert classes is not None
    return p, classes


def _balanced_accuracy(asked: _Asked) -> dict[str, Any]:
    """Mean of the recalls; a class that the model does not know has recall 0."""
    scored = asked.scored
    classes = scored.labels
    known = classes if scored.classes is None else scored.classes
    limits = [asked.upper(scored.wrong, scored.is_true(c), 1.0 / len(known)) for c in known]
    recalls = [1.0 - limit.value for limit in limits] + [0.0] * (len(classes) - len(known))
    parts = {f"recall of {_word(c)}, at least": recall for c, recall in zip(classes, recalls)}
    parts[CONSTANT] = 1.0 / len(classes)
    of = "the holdout" if scored.classes is None else "the model"
    over = f"the {len(known)} classes of {of}"
    if len(classes) > len(known):  # a class that is in neither may have any recall
        over = f"{len(classes)} classes, {len(classes) - len(known)} of them unknown to the model,"
    fields = _fields(asked, limits, float(np.mean(recalls)), AT_LEAST, parts)
    return fields | {"quantity": f"balanced accuracy over {over}"}


def _error_by(asked: _Asked) -> dict[str, Any]:
    labels, words = asked.scored.by[asked.position]
    names = sorted(set(labels))
    limits = [asked.upper(asked.scored.wrong, labels == name, 1.0 / len(names)) for name in names]
    worst = int(np.argmax([limit.value for limit in limits]))
    parts = {str(name): limit.value for name, limit in zip(names, limits)}
    fields = _fields(asked, limits, limits[worst].value, AT_MOST, parts)
    note = f"largest for {words} = {names[worst]} ({limits[worst].n} {asked.scored.unit})"
    groups = tuple(
        GroupLimit(str(name), limit.n, float(limit.mean), float(limit.value))
        for name, limit in zip(names, limits)
    )
    quantity = f"error in each of the {len(names)} groups of the holdout (by {words})"
    return fields | {"quantity": quantity, "note": note, "groups": groups}


def _of_loss(
    asked: _Asked,
    loss: Floats,
    constant: float,
    ceiling: float,
    floor: float = 0.0,
    *,
    two_valued: bool = False,
) -> dict[str, Any]:
    """The mean of a loss between its floor and its ceiling, or one that is either; and a constant's."""
    width = ceiling - floor
    share = (loss - floor) / width if width > 0 else np.zeros_like(loss)
    limit = asked.upper(share, zero_one=two_valued)
    observed = {"observed": floor + limit.mean * width, CONSTANT: constant}
    # rounding must not lead beyond the ends
    value = min(floor + limit.value * width, ceiling)
    return _fields(asked, [limit], value, AT_MOST, observed) | {"floor": floor, "ceiling": ceiling}


def _brier(asked: _Asked) -> dict[str, Any]:
    scored = asked.scored
    p, classes = _probabilities(asked)
    at = _positions(scored.truth, classes)
    target = np.zeros_like(p)
    known = at >= 0
    target[np.flatnonzero(known), at[known]] = 1.0
    loss = ((p - target) ** 2).sum(axis=1)
    frequencies = scored.fractions
    constant = 1.0 + sum(f**2 for f in frequencies.values()) - 2.0 * scored.mean(_of_truth(scored))
    # a class the model does not know has no column: its own term is 1
    return _of_loss(asked, np.asarray(np.minimum(loss + ~known, 2.0)), constant, 2.0)


def _of_truth(scored: Scored) -> Floats:
    """Of every row, the fraction of rows with its label: what predicting the fractions says of it."""
    return np.array([scored.fractions[label] for label in scored.truth])


def _log_loss(asked: _Asked) -> dict[str, Any]:
    """Probabilities are raised to the floor; a class that the model does not know has probability 0."""
    p, classes = _probabilities(asked)
    at = _positions(asked.scored.truth, classes)
    of_truth = np.where(at >= 0, p[np.arange(at.size), at], 0.0)
    loss, constant = (
        -np.log(np.clip(p_truth, LOG_LOSS_FLOOR, 1.0)) for p_truth in (of_truth, _of_truth(asked.scored))
    )
    return _of_loss(asked, loss, asked.scored.mean(constant), -math.log(LOG_LOSS_FLOOR))


def _cost(asked: _Asked) -> dict[str, Any]:
    """Expected cost, and beside it what the best constant decision costs on the same rows."""
    scored, classes = asked.scored, asked.scored.classes
    if classes is None:
        raise ValueError("claim 'cost' needs a model with classes_")
    matrix, k = np.asarray(asked.claim.cost, dtype=np.float64), len(classes)
    if matrix.shape != (k, k) or not np.isfinite(matrix).all():
        raise ValueError(f"cost must be a finite matrix of shape ({k}, {k}), got shape {matrix.shape}")
    floor, ceiling = float(matrix.min()), float(matrix.max())
    two_valued = np.unique(matrix).size <= 2
    # the last row and column: labels that are no class of the model, such as "abstain"
    matrix = np.pad(matrix, (0, 1), constant_values=ceiling)
    of_truth = matrix[_positions(scored.truth, classes)]
    loss = of_truth[np.arange(scored.truth.size), _positions(scored.predicted, classes)]
    constant = min(scored.mean(of_truth[:, j]) for j in range(k))
    return _of_loss(asked, loss, constant, ceiling, floor, two_valued=two_valued)


def _positions(labels: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    lookup = {label: k for k, label in enumerate(classes)}
    return np.array([lookup.get(label, -1) for label in labels], dtype=np.intp)


COST = "expected cost"
CONSTANT = "constant prediction"  # the part of a claim that says what the best of these would give


class _Kind(NamedTuple):
    """A kind of claim."""

    words: str
    limit: Callable[[_Asked], dict[str, Any]]
    #: Argument of `Claim` that it needs.
    needs: str = ""
    #: Whether it can be made of limits per class, for a stratified holdout.
    by_class: bool = False
    #: Whether it can be an average over groups.
    by_group: bool = True
    #: Whether it is about probabilities.
    probabilities: bool = False
    #: Whether it is a fraction, to be shown in percent.
    percent: bool = True


KINDS = {
    "error": _Kind("error", _error, by_class=True),
    "accuracy": _Kind("accuracy", _accuracy, by_class=True),
    "balanced_accuracy": _Kind("balanced accuracy", _balanced_accuracy, by_class=True, by_group=False),
    "brier": _Kind("Brier score", _brier, by_class=True, probabilities=True, percent=False),
    "log_loss": _Kind(
        f"log-loss (probabilities below {LOG_LOSS_FLOOR:g} count as {LOG_LOSS_FLOOR:g})",
        _log_loss,
        by_class=True,
        probabilities=True,
        percent=False,
    ),
    "cost": _Kind(COST, _cost, "cost", by_class=True, percent=False),
    "recall": _Kind("recall of {}", _recall, "of", by_class=True),
    "specificity": _Kind("specificity of {}", _specificity, "of", by_class=True),
    "fpr": _Kind("false positive rate of {}", _fpr, "of", by_class=True),
    "precision": _Kind("precision of {}", _precision, "of"),
    "npv": _Kind("negative predictive value of {}", _npv, "of"),
    "f1": _Kind("F1 of {}", _f1, "of", by_group=False),
    "mcc": _Kind("MCC of {}", _mcc, "of", by_group=False, percent=False),
    "auc": _Kind("AUC of {}", _auc, "of", by_group=False, probabilities=True, percent=False),
    "calibration": _Kind("calibration error of {}", _calibration, "of", by_group=False, probabilities=True),
    "error_by": _Kind("error by {}", _error_by, "by"),
}
