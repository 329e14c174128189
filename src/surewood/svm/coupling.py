"""Probabilities of classes from decisions of pairs, learned on held-out rows.

`HeldOutRows`: decisions of SVMs at rows that they did not see, some rows at a time. With many classes a row
has many pairs: at 500 classes a thousand rows have a gigabyte of decisions. What is learned from them needs a
few numbers of each row, so large ones are formed again instead of being kept.

`PairCoupling`: every pair of classes has a logistic curve P(a beats b) = 1 / (1 + e^(−slope · decision −
offset)) (Platt), pulled towards a slope common to all pairs and no offset where its points are few. The
curves are coupled into probabilities of classes by the second method of Wu, Lin and Weng (2004): the p that
makes r_ba p_a = r_ab p_b hold best, a small linear system per row; beyond 40 classes the mean probability of
winning a pair takes its place. One more number, the sharpness, is the power of the result. An offset may
favour the class that lost the vote: `lift` then gives both the same probability.

`ScoreCoupling`: the methods that all estimators share, on one score per class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit

from surewood._arrays import Floats, check_number, check_values
from surewood.base.calibration import ScoreCalibrator
from surewood.svm.one_vs_one import Predictor, class_scores, class_votes, sums_of_pairs

BLOCK_BYTES = 16 << 20  # of decisions that are looked at together


@dataclass(frozen=True)
class HeldOutRows:
    """Rows that an SVM did not see, of classes that it knows, and its decisions there.

    Examples
    --------
    >>> import numpy as np
    >>> held = HeldOutRows.of(np.array([3, 5]), np.array([0, 1]), np.array([[0.5], [-1.0]]))
    >>> [(rows.tolist(), decisions.tolist()) for rows, decisions in held.blocks()]
    [([3, 5], [[0.5], [-1.0]])]
    """

    rows: NDArray[Any]
    #: Classes of the SVM.
    classes: NDArray[Any]
    #: Decisions at a slice of the rows, shape (rows, pairs).
    decide: Callable[[slice], Floats]

    @classmethod
    def of(cls, rows: NDArray[Any], classes: NDArray[Any], decisions: Floats) -> HeldOutRows:
        """With decisions that are there already."""
        return cls(rows, classes, decisions.__getitem__)

    @classmethod
    def of_svm(
        cls,
        predictor: Predictor,
        design: Floats,
        rows: NDArray[Any],
        classes: NDArray[Any],
        n_jobs: int | None,
    ) -> HeldOutRows:
        """Those of an SVM at some rows of a design: kept where they are few, else formed when asked for."""

        def decide(part: slice) -> Floats:
            return predictor.decisions(design[rows[part]], n_jobs=n_jobs)

        if decision_bytes(len(rows), len(classes)) > BLOCK_BYTES:
            return cls(rows, classes, decide)
        return cls.of(rows, classes, decide(slice(None)))

    @property
    def is_usable(self) -> bool:
        """Whether there is something to learn from."""
        return len(self.rows) > 0 and len(self.classes) > 1

    def blocks(self) -> Iterator[tuple[NDArray[Any], Floats]]:
        """Rows and decisions, part by part."""
        size = max(1, int(BLOCK_BYTES / max(decision_bytes(1, len(self.classes)), 1.0)))
        for first in range(0, len(self.rows), size):
            part = slice(first, first + size)
            yield self.rows[part], self.decide(part)


HeldOut = list[HeldOutRows]


def decision_bytes(n_rows: int, n_classes: int) -> float:
    """Bytes of the decisions of all pairs of classes.

    Examples
    --------
    >>> decision_bytes(200, 500) / 2**20 > 190
    True
    """
    return 8.0 * n_rows * (n_classes * (n_classes - 1) // 2)


def held_out_error(held_out: HeldOut, codes: NDArray[Any], weight: Floats) -> tuple[float, int]:
    """Fraction of the weight that the votes of the SVMs get wrong, and the number of rows."""
    wrong = mass = 0.0
    for held in held_out:
        rows, classes = held.rows, held.classes
        votes = [class_votes(decisions, len(classes)).argmax(axis=1) for _, decisions in held.blocks()]
        wrong += float(weight[rows] @ (classes[np.concatenate(votes)] != codes[rows]))
        mass += float(weight[rows].sum())
    return wrong / mass, sum(len(held.rows) for held in held_out)


_SMALLEST = 1e-12
_NEAREST = 1e-7  # of a pair's probability to 0 and 1, as in libsvm
_NEWTON_STEPS = 25
_MOST_COUPLED = 40  # classes up to which a linear system per row is cheap
_ROWS_AT_ONCE = 2048  # linear systems solved together


@dataclass
class PairCoupling:
    """Curves of all pairs of `n_classes` classes, in the order of ``triu_indices``, and a sharpness.

    `held_out_error` is that of the SVMs it was fitted on, at `n_held_out` rows that they did not see.

    Examples
    --------
    >>> import numpy as np
    >>> coupling = PairCoupling(2, np.array([2.0]), np.array([0.0]))
    >>> coupling.probabilities(np.array([[0.0], [1.0]]), np.array([0, 1])).round(2)
    array([[0.5 , 0.5 ],
           [0.88, 0.12]])
    """

    n_classes: int
    slope: Floats = field(default_factory=lambda: np.ones(0))
    offset: Floats = field(default_factory=lambda: np.zeros(0))
    sharpness: float = 1.0
    held_out_error: float = 0.0
    n_held_out: int = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("n_classes", self.n_classes, 1, 65535, whole=True)
        check_number("sharpness", self.sharpness, 1e-6, 1e6)
        n_pairs = self.n_classes * (self.n_classes - 1) // 2
        check_values("slope", self.slope, "f", (n_pairs,))
        check_values("offset", self.offset, "f", (n_pairs,))

    @classmethod
    def fit(cls, held_out: HeldOut, codes: NDArray[Any], weight: Floats, n_classes: int) -> PairCoupling:
        """Fit on decisions of SVMs at rows that they did not see (of classes that they know)."""
        n_pairs = n_classes * (n_classes - 1) // 2
        coupling = cls(n_classes, np.ones(n_pairs), np.zeros(n_pairs))
        held_out = [held for held in held_out if held.is_usable]
        if not held_out:
            return coupling
        pair, value, won, mass = _contests(held_out, codes, weight, n_classes)
        points = np.concatenate([held.rows for held in held_out])
        total = max(float(weight[points].sum()), 1.0)
        signed = np.where(won, value, -value)

        def slope_loss(slope: float) -> float:
            return float(mass @ np.logaddexp(0.0, -slope * signed) / mass.sum())

        shared = _smallest(slope_loss, 1.0 / total)
        coupling.slope, coupling.offset = _platt(pair, value, won, mass, shared, n_pairs)
        coupling.held_out_error, coupling.n_held_out = held_out_error(held_out, codes, weight)
        parts = [coupling._coupled(d, held.classes) for held in held_out for _, d in held.blocks()]
        proba = np.concatenate(parts)
        log_proba, share = np.log(proba), weight[points] / total

        def sharpness_loss(sharpness: float) -> float:
            scaled = sharpness * log_proba
            log_true = scaled[np.arange(len(points)), codes[points]]
            return float(share @ (np.logaddexp.reduce(scaled, axis=1) - log_true))

        coupling.sharpness = _smallest(sharpness_loss, 1.0 / total)
        return coupling

    def probabilities(self, decisions: Floats, classes: NDArray[Any]) -> Floats:
        """Rows that sum to 1, over all classes; `classes` are those that the SVM knows."""
        proba = np.maximum(self._coupled(decisions, classes) ** self.sharpness, _SMALLEST)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def _coupled(self, decisions: Floats, classes: NDArray[Any]) -> Floats:
        n_known = len(classes)
        out = np.full((len(decisions), self.n_classes), _SMALLEST)
        if n_known == 1:
            out[:, classes[0]] = 1.0
            return out
        first, second = _pairs(n_known)
        pairs = _pair_number(classes[first], classes[second], self.n_classes)
        ahead = np.clip(expit(self.slope[pairs] * decisions + self.offset[pairs]), _NEAREST, 1 - _NEAREST)
        if n_known == 2:
            coupled = np.column_stack([ahead[:, 0], 1.0 - ahead[:, 0]])
        elif n_known > _MOST_COUPLED:
            coupled = mean_wins(ahead, n_known)
        else:
            starts = range(0, len(ahead), _ROWS_AT_ONCE)
            coupled = np.concatenate(
                [couple(ahead[k : k + _ROWS_AT_ONCE], n_known) for k in starts] or [np.zeros((0, n_known))]
            )
        out[:, classes] = np.maximum(coupled, _SMALLEST)
        return np.asarray(out / out.sum(axis=1, keepdims=True))


def couple(ahead: Floats, n: int) -> Floats:
    """Probabilities of `n` classes from those of their pairs, shape (rows, pairs).

    Examples
    --------
    >>> p = np.array([0.5, 0.3, 0.2])  # consistent pairs give the classes back
    >>> couple(np.array([[p[0] / (p[0] + p[1]), p[0] / (p[0] + p[2]), p[1] / (p[1] + p[2])]]), 3).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    first, second = _pairs(n)
    r = np.zeros((len(ahead), n, n))
    r[:, first, second], r[:, second, first] = ahead, 1.0 - ahead
    system = np.zeros((len(ahead), n + 1, n + 1))
    system[:, :n, :n] = -r * r.transpose(0, 2, 1)
    k = np.arange(n)
    system[:, k, k] = (r**2).sum(axis=1)
    system[:, :n, n] = system[:, n, :n] = 1.0
    right = np.zeros((len(ahead), n + 1, 1))
    right[:, n] = 1.0
    proba = np.maximum(np.linalg.solve(system, right)[:, :n, 0], _SMALLEST)
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def mean_wins(ahead: Floats, n: int) -> Floats:
    """Mean probability with which each of `n` classes wins its pairs, scaled to rows that sum to 1."""
    wins = sums_of_pairs(n, np.zeros((len(ahead), n)), lambda pairs: (ahead[:, pairs], 1.0 - ahead[:, pairs]))
    return np.asarray(wins / wins.sum(axis=1, keepdims=True))


@lru_cache(maxsize=8)
def _pairs(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and second of each pair of `n` classes; kept, since rows may come one by one."""
    first, second = np.triu_indices(n, 1)
    return first, second


def _pair_number(a: Any, b: Any, n_classes: int) -> Any:
    """Place of the pair a < b of `n_classes` classes in ``triu_indices``."""
    return a * (2 * n_classes - a - 1) // 2 + b - a - 1


def _contests(
    held_out: HeldOut, codes: NDArray[Any], weight: Floats, n_classes: int
) -> tuple[NDArray[Any], Floats, NDArray[np.bool_], Floats]:
    """Pair, decision, outcome (won by its first class) and weight of every row's own contests."""
    pairs, values, wins, masses = [], [], [], []
    for held in held_out:
        a, b = (held.classes[k].astype(np.int64) for k in np.triu_indices(len(held.classes), 1))
        for rows, decisions in held.blocks():
            label = codes[rows][:, None]
            row, column = np.nonzero((label == a) | (label == b))
            pairs.append(_pair_number(a, b, n_classes)[column])
            values.append(decisions[row, column])
            wins.append(codes[rows][row] == a[column])
            masses.append(weight[rows][row])
    return np.concatenate(pairs), np.concatenate(values), np.concatenate(wins), np.concatenate(masses)


def _platt(
    pair: NDArray[Any],
    value: Floats,
    won: NDArray[np.bool_],
    mass: Floats,
    shared: float,
    n_pairs: int,
) -> tuple[Floats, Floats]:
    """Slope and offset of every pair by Newton steps, all pairs at once.

    A penalty worth one point keeps slopes near the shared one and offsets near 0; pairs without points stay
    there.
    """
    slope, offset = np.full(n_pairs, shared), np.zeros(n_pairs)
    stiffness = 1.0 / shared**2

    def total(numbers: Floats) -> Floats:
        return np.bincount(pair, weights=numbers, minlength=n_pairs).astype(np.float64)

    for _ in range(_NEWTON_STEPS):
        p = expit(slope[pair] * value + offset[pair])
        excess, curve = mass * (p - won), mass * np.maximum(p * (1.0 - p), 1e-6)
        g_slope = total(excess * value) + stiffness * (slope - shared)
        g_offset = total(excess) + offset
        h_slope = total(curve * value * value) + stiffness
        h_mixed, h_offset = total(curve * value), total(curve) + 1.0
        determinant = h_slope * h_offset - h_mixed**2
        step_slope = (h_offset * g_slope - h_mixed * g_offset) / determinant
        step_offset = (h_slope * g_offset - h_mixed * g_slope) / determinant
        # Far from the solution a full step may overshoot: slopes change by a factor of at most two.
        slope = np.clip(slope - step_slope, 0.5 * slope, 2.0 * slope)
        offset = np.clip(offset - np.clip(step_offset, -1.0, 1.0), -5.0, 5.0)
    return slope, offset


def _smallest(loss: Callable[[float], float], pull: float) -> float:
    """The positive number of smallest loss; few points say little, so a penalty pulls it towards 1."""

    def penalized(log: float) -> float:
        return loss(float(np.exp(log))) + 0.5 * pull * log * log

    minimum = minimize_scalar(penalized, bounds=(-7.0, 7.0), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(minimum.x))


@dataclass(frozen=True)
class ScoreCoupling:
    """A calibrator of class scores, learned on decisions at rows that the SVMs did not see."""

    n_classes: int
    calibrator: ScoreCalibrator
    #: Of the SVMs it was fitted on.
    held_out_error: float
    #: Rows that the error was measured on.
    n_held_out: int

    @classmethod
    def fit(
        cls, method: str, held_out: HeldOut, codes: NDArray[Any], weight: Floats, n_classes: int
    ) -> ScoreCoupling:
        """Fit one of the methods of :class:`~surewood.base.calibration.ScoreCalibrator`."""
        held_out = [held for held in held_out if held.is_usable]
        rows = np.concatenate([np.empty(0, dtype=np.int64), *(held.rows for held in held_out)])
        parts = [class_scores(d, held.classes, n_classes) for held in held_out for _, d in held.blocks()]
        scores = np.concatenate([np.empty((0, n_classes)), *parts])
        calibrator = ScoreCalibrator(method, "decisions").fit(scores, codes[rows], weight[rows])
        error, n_held_out = held_out_error(held_out, codes, weight) if held_out else (0.0, 0)
        return cls(n_classes, calibrator, error, n_held_out)

    def probabilities(self, decisions: Floats, classes: NDArray[Any]) -> Floats:
        """Rows that sum to 1, over all classes; `classes` are those that the SVM knows."""
        return self.calibrator.transform(class_scores(decisions, classes, self.n_classes))
