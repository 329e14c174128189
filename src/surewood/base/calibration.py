r"""Turn votes or decision values into probabilities without changing a single decision.

Calibrators are fitted on scores of points that the scorer did not train on (out-of-fold or out-of-bag).
The class with the largest score, the first of equal ones, keeps the largest probability. Three steps, each on
top of the one before:

``temperature``
    :math:`p_j \propto ((1-m) q_j + m/c)^{1/T}` for rows :math:`q` that sum to 1 (votes, probabilities),
    :math:`p_j \propto e^{s_j/T}` for decision values. Two (one) numbers, hard to overfit. The mixing with
    the uniform distribution keeps a class without votes from having probability 0.
``offset``
    :math:`p_j \propto t_j^a e^{b_j}` of these probabilities :math:`t`: one more number per class, for classes
    that get too many or too few votes. For decision values of 3 to 10 classes, which come from SVMs of
    their own, :math:`p \propto e^{A\log t+b}` with a whole matrix. Where this would change the decision,
    both classes get the same probability.
``isotonic``
    Isotonic regression of "the predicted class is right" on its probability, for each predicted class
    with enough points and for the others together; the rest keeps its proportions.
``auto``
    Temperature below 100 points; above, whichever of the steps has the smallest cross-validated log-loss
    (isotonic from 1,000 points on).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.isotonic import IsotonicRegression

from surewood._arrays import Floats, check_number, check_values
from surewood.base.time_limit import NO_LIMIT, TimeLimit

STEPS = ("temperature", "offset", "isotonic")
METHODS = ("auto", *STEPS)
FOLDS = 5
_ITERATIONS = 200  # of a minimizer, at most
_MOST_POINTS = 10_000  # a handful of numbers is fitted: more points cost time and change nothing
_MOST_TO_CHOOSE = 3000  # the same for the choice between the steps, which fits them in every fold
_ENOUGH_FOR_OFFSETS = 100
_ENOUGH_FOR_ISOTONIC = 1000
_ENOUGH_OF_A_CLASS = 200
_MOST_CLASSES_OF_A_MATRIX = 10
_MOST_MIXING = 0.5
_SMALLEST = 1e-12
_HAIR = 1.0 + 1e-9


class ScoreCalibrator:
    """Calibrate class scores; ``argmax`` of the result equals ``argmax`` of the scores.

    Parameters
    ----------
    method : {"auto", "temperature", "offset", "isotonic"}, default="auto"
    kind : {"probabilities", "decisions"}, default="probabilities"
        Rows that sum to 1, or real decision values.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.array([[1.0, 0.0], [0.9, 0.1], [0.2, 0.8], [0.0, 1.0]])
    >>> calibrator = ScoreCalibrator().fit(votes, np.array([0, 1, 1, 1]))
    >>> proba = calibrator.transform(votes)
    >>> bool((proba.argmax(axis=1) == votes.argmax(axis=1)).all()), float(proba.min()) > 0
    (True, True)
    """

    power_: float | Floats
    _isotonic: dict[int, IsotonicRegression]

    def __init__(self, method: str = "auto", kind: str = "probabilities") -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}.")
        if kind not in ("probabilities", "decisions"):
            raise ValueError(f"kind must be 'probabilities' or 'decisions', got {kind!r}.")
        self.method = method
        self.kind = kind

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.method not in METHODS or self.kind not in ("probabilities", "decisions"):
            raise ValueError(f"a calibrator of the method {self.method!r} and kind {self.kind!r}.")
        if "chosen_" not in state:
            return  # not fitted
        if self.chosen_ not in STEPS:
            raise ValueError(f"a calibrator of the step {self.chosen_!r}.")
        check_number("temperature", self.temperature_, 1e-300, 1e300)
        check_number("mixing", self.mixing_, 0.0, _MOST_MIXING)
        n_classes = len(self.offsets_)
        check_values("offsets", self.offsets_, "f", (n_classes,))
        if isinstance(self.power_, np.ndarray):
            check_values("power", self.power_, "f", (n_classes, n_classes))
        else:
            check_number("power", self.power_, 0.0, 1e6)
            self.__dict__["power_"] = float(self.power_)
        if self._isotonic and _OTHERS not in self._isotonic:
            raise ValueError("the curve of the rarer classes is missing.")
        for curve in self._isotonic.values():
            check_values("y_thresholds", curve.y_thresholds_, "f", (None,), 0.0, 1.0)
            check_values("X_thresholds", curve.X_thresholds_, "f", curve.y_thresholds_.shape)
            if len(curve.X_thresholds_) == 0:
                raise ValueError("a curve has no points.")

    def fit(
        self,
        scores: Floats,
        y: NDArray[Any],
        weight: Floats | None = None,
        groups: NDArray[np.int64] | None = None,
        limit: TimeLimit = NO_LIMIT,
    ) -> ScoreCalibrator:
        """Fit on held-out `scores` (n, c), class codes `y` and weights; rows with NaN scores do not count.

        Rows of one of the `groups` are on one side of the splits by which "auto" chooses. When the time limit
        is over, "auto" is "temperature" and offsets are taken as they are.
        """
        scored = ~np.isnan(scores).any(axis=1)
        scores, y = scores[scored], np.asarray(y)[scored]
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)[scored]
        groups = None if groups is None else groups[scored]
        if len(y) > _MOST_POINTS:
            some = np.linspace(0, len(y) - 1, _MOST_POINTS).astype(np.int64)
            scores, y, weight = scores[some], y[some], weight[some]
            groups = None if groups is None else groups[some]
        chosen = self._choose(scores, y, weight, groups, limit) if self.method == "auto" else self.method
        self.chosen_ = chosen
        self._fit_steps(scores, y, weight, chosen, limit)
        return self

    def transform(self, scores: Floats) -> Floats:
        """Probabilities, rows summing to 1."""
        return self._after(np.asarray(scores, dtype=np.float64), self.chosen_)

    def _fit_steps(
        self, scores: Floats, y: NDArray[Any], weight: Floats, last: str, limit: TimeLimit = NO_LIMIT
    ) -> None:
        """Fit the steps up to `last`."""
        self._fit_temperature(scores, y, weight)
        self.power_ = 1.0
        self.offsets_ = np.zeros(scores.shape[1])
        self._isotonic = {}
        if last != "temperature" and scores.shape[1] > 1 and len(y):
            self._fit_offsets(scores, y, weight, limit)
            if last == "isotonic":
                self._fit_isotonic(scores, y, weight)

    def _after(self, scores: Floats, last: str) -> Floats:
        """Probabilities after the steps up to `last`."""
        proba = self._tempered(scores, self.temperature_, self.mixing_)
        if scores.shape[1] < 2:
            return proba
        best = scores.argmax(axis=1)
        if last == "temperature":  # rounding may have made a tie of a hair's breadth
            return lift(proba, best)
        proba = lift(_shifted(np.log(proba), self.power_, self.offsets_), best)
        return self._sharpen(proba, best) if last == "isotonic" and self._isotonic else proba

    def _choose(
        self,
        scores: Floats,
        y: NDArray[Any],
        weight: Floats,
        groups: NDArray[np.int64] | None,
        limit: TimeLimit,
    ) -> str:
        """The step with the smallest log-loss on held-out rows."""
        n = len(y)
        if n < _ENOUGH_FOR_OFFSETS or scores.shape[1] < 2:
            return "temperature"
        steps = STEPS if n >= _ENOUGH_FOR_ISOTONIC else STEPS[:2]
        losses = dict.fromkeys(steps, 0.0)
        some = np.linspace(0, n - 1, min(n, _MOST_TO_CHOOSE)).astype(np.int64)
        scores, y, weight = scores[some], y[some], weight[some]
        fold = (np.arange(len(y)) if groups is None else groups[some]) % FOLDS
        for k in range(FOLDS):
            train, held = fold != k, fold == k
            part = ScoreCalibrator(steps[-1], self.kind)
            part._fit_steps(scores[train], y[train], weight[train], steps[-1], limit)
            if limit.is_over:
                return "temperature"
            for step in steps:
                losses[step] += _log_loss(part._after(scores[held], step), y[held], weight[held])
        return min(losses, key=lambda step: losses[step])

    def _fit_temperature(self, scores: Floats, y: NDArray[Any], weight: Floats) -> None:
        votes = self.kind == "probabilities"
        self.temperature_, self.mixing_ = 1.0, 0.01 if votes else 0.0
        n_classes, rows = scores.shape[1], np.arange(len(y))
        if len(y) == 0 or n_classes < 2:
            return
        unit = float(np.abs(scores).max()) or 1.0
        scale = 1.0 if votes else unit
        share = weight / max(weight.sum(), _SMALLEST)
        # Few points say little: a penalty worth one point pulls towards the start.
        pull = 1.0 / max(weight.sum(), 1.0)
        start = np.array([0.0 if votes else -1.0, -4.0])

        def loss(point: Floats) -> tuple[float, Floats]:
            temperature, mixing = scale * np.exp(point[0]), _mixing(point[1])
            mixed = np.maximum((1 - mixing) * scores + mixing / n_classes, _SMALLEST) if votes else scores
            scaled = (np.log(mixed) if votes else scores) / temperature
            proba = _softmax(scaled.copy())
            picked = np.log(proba[rows, y])
            proba *= share[:, None]
            proba[rows, y] -= share
            away = point - start
            slope = pull * away
            slope[0] -= np.einsum("ij,ij->", proba, scaled)
            if votes and mixing < _MOST_MIXING:
                slope[1] += (
                    mixing / temperature * np.einsum("ij,ij->", proba, (1 / n_classes - scores) / mixed)
                )
            return -float(share @ picked) + 0.5 * pull * float(away @ away), slope

        minimum = minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-4, 4), (-9, 0)],
            options={"maxiter": _ITERATIONS},
        )
        self.temperature_ = float(scale * np.exp(minimum.x[0]))
        self.mixing_ = _mixing(minimum.x[1]) if votes else 0.0

    def _tempered(self, scores: Floats, temperature: float, mixing: float) -> Floats:
        if self.kind == "probabilities":
            scores = np.log(np.maximum((1 - mixing) * scores + mixing / scores.shape[1], _SMALLEST))
        scaled = scores / temperature
        return _softmax(scaled)

    def _fit_offsets(self, scores: Floats, y: NDArray[Any], weight: Floats, limit: TimeLimit) -> None:
        log_proba = np.log(self._tempered(scores, self.temperature_, self.mixing_))
        n_classes, rows = scores.shape[1], np.arange(len(y))
        share = weight / max(weight.sum(), _SMALLEST)
        # Few points say little: a penalty worth one point per number pulls towards no change.
        pull = 1.0 / max(weight.sum(), 1.0)
        whole = self.kind == "decisions" and 3 <= n_classes <= _MOST_CLASSES_OF_A_MATRIX
        start = np.r_[np.eye(n_classes).ravel() if whole else 1.0, np.zeros(n_classes)]

        def parts(point: Floats) -> tuple[float | Floats, Floats]:
            power = point[:-n_classes].reshape(n_classes, n_classes) if whole else float(point[0])
            return power, point[-n_classes:]

        def loss(point: Floats) -> tuple[float, Floats]:
            proba = _shifted(log_proba, *parts(point))
            excess = proba * share[:, None]
            excess[rows, y] -= share
            slope = (log_proba.T @ excess).ravel() if whole else (excess * log_proba).sum()
            picked = np.log(np.maximum(proba[rows, y], _SMALLEST))
            away = point - start
            value = -float(share @ picked) + 0.5 * pull * float(away @ away)
            return value, np.r_[slope, excess.sum(axis=0)] + pull * away

        def stop_in_time(point: Floats) -> None:
            if limit.is_over:
                raise StopIteration

        low = -8.0 if whole else 0.1
        bounds = [(low, 8.0)] * (len(start) - n_classes) + [(-6.0, 6.0)] * n_classes
        minimum = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=stop_in_time)
        self.power_, self.offsets_ = parts(minimum.x)

    def _fit_isotonic(self, scores: Floats, y: NDArray[Any], weight: Floats) -> None:
        best = scores.argmax(axis=1)
        top = self._after(scores, "offset")[np.arange(len(y)), best]
        right = (best == y).astype(np.float64)
        unit = float(weight.mean())
        counts = np.bincount(best, minlength=scores.shape[1])
        groups = {int(c): best == c for c in np.flatnonzero(counts >= _ENOUGH_OF_A_CLASS)}
        rest = counts[best] < _ENOUGH_OF_A_CLASS
        groups[_OTHERS] = rest if rest.any() else np.ones(len(y), dtype=bool)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            self._fit_curves(groups, top, right, weight, unit)

    def _fit_curves(
        self, groups: dict[int, NDArray[Any]], top: Floats, right: Floats, weight: Floats, unit: float
    ) -> None:
        for name, here in groups.items():
            # One right and one wrong pseudo-point at the ends keep the probabilities away from 0 and 1.
            probabilities = top[here]
            self._isotonic[name] = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
                np.r_[probabilities, probabilities.min(), probabilities.max()],
                np.r_[right[here], 1.0, 0.0],
                sample_weight=np.r_[weight[here], unit, unit],
            )

    def _sharpen(self, proba: Floats, best: NDArray[Any]) -> Floats:
        """Replace the largest probability by its isotonic value; the others keep their proportions."""
        rows = np.arange(len(proba))
        top = proba[rows, best]
        value = _on_curve(self._isotonic[_OTHERS], top)
        for c, curve in self._isotonic.items():
            here = best == c
            if here.any():
                value[here] = _on_curve(curve, top[here])
        value = np.clip(value, _SMALLEST, 1.0 - _SMALLEST)
        shares = proba.copy()
        shares[rows, best] = 0.0
        rest = shares.sum(axis=1)
        shares *= ((1.0 - value) / np.where(rest > 0, rest, 1.0))[:, None]
        shares[rows, best] = value
        return lift(np.maximum(shares, _SMALLEST), best)


def _on_curve(curve: IsotonicRegression, at: Floats) -> Floats:
    """``curve.predict`` without its checks, which take longer than everything else for few rows."""
    return np.asarray(np.interp(at, curve.X_thresholds_, curve.y_thresholds_))


_OTHERS = -1  # the isotonic curve of all predicted classes with few points


def lift(proba: Floats, best: NDArray[Any]) -> Floats:
    """Rows that sum to 1 and whose first largest entry is `best`, raised to the largest where it is not.

    Examples
    --------
    >>> lift(np.array([[0.5, 0.3, 0.2]]), np.array([1])).round(3)
    array([[0.417, 0.417, 0.167]])
    """
    rows = np.flatnonzero(proba.argmax(axis=1) != best)
    if len(rows):
        proba = proba.copy()
        proba[rows, best[rows]] = proba[rows].max(axis=1) * _HAIR
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def _shifted(log_proba: Floats, power: float | Floats, offsets: Floats) -> Floats:
    """softmax(power · log p + offsets), nothing below the smallest probability; a power may be a matrix."""
    scaled = power * log_proba if isinstance(power, float) else log_proba @ power
    return _softmax(scaled + offsets)


def _softmax(scaled: Floats) -> Floats:
    """Rows proportional to exp(scaled), nothing below the smallest probability; `scaled` is overwritten."""
    scaled -= scaled.max(axis=1, keepdims=True)
    proba = np.exp(scaled, out=scaled)
    proba /= proba.sum(axis=1, keepdims=True)
    np.maximum(proba, _SMALLEST, out=proba)
    proba /= proba.sum(axis=1, keepdims=True)
    return proba


def _mixing(logarithm: float) -> float:
    return float(min(np.exp(logarithm), _MOST_MIXING))


def _log_loss(proba: Floats, y: NDArray[Any], weight: Floats) -> float:
    picked = np.maximum(proba[np.arange(len(y)), y], _SMALLEST)
    return float(-(weight * np.log(picked)).sum() / max(weight.sum(), _SMALLEST))


def held_out_probabilities(scores: Floats, calibrator: ScoreCalibrator | None) -> Floats:
    """Calibrated held-out scores; rows without a score (NaN) stay without.

    Examples
    --------
    >>> held_out_probabilities(np.array([[0.25, 0.75], [np.nan, np.nan]]), None)
    array([[0.25, 0.75],
           [ nan,  nan]])
    """
    if calibrator is None:
        return scores
    out = np.full_like(scores, np.nan)
    scored = ~np.isnan(scores).any(axis=1)
    if scored.any():
        out[scored] = calibrator.transform(scores[scored])
    return out
