r"""Turn votes or decision values into probabilities without changing a single decision.

Calibrators are fitted on scores of points that the scorer did not train on (out-of-fold or out-of-bag).
The class with the largest score keeps the largest probability, and exact ties stay ties.

``temperature``
    :math:`p_j \propto ((1-m) q_j + m/c)^{1/T}` for rows :math:`q` that sum to 1 (votes, probabilities),
    :math:`p_j \propto e^{s_j/T}` for decision values. Two (one) numbers, hard to overfit. The mixing with
    the uniform distribution keeps a class without votes from having probability 0.
``isotonic``
    Isotonic regression of "the predicted class is right" on its temperature-calibrated probability; the
    other classes share the rest in the proportions of the temperature method.
``auto``
    Temperature below 1,000 points; above, whichever has the smaller cross-validated log-loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.isotonic import IsotonicRegression

Floats = NDArray[np.float64]
METHODS = ("auto", "temperature", "isotonic")
_ENOUGH_FOR_ISOTONIC = 1000
_SMALLEST = 1e-12


class ScoreCalibrator:
    """Calibrate class scores; ``argmax`` of the result equals ``argmax`` of the scores.

    Parameters
    ----------
    method : {"auto", "temperature", "isotonic"}, default="auto"
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

    def __init__(self, method: str = "auto", kind: str = "probabilities") -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}.")
        if kind not in ("probabilities", "decisions"):
            raise ValueError(f"kind must be 'probabilities' or 'decisions', got {kind!r}.")
        self.method = method
        self.kind = kind

    def fit(self, scores: Floats, y: NDArray[Any], weight: Floats | None = None) -> ScoreCalibrator:
        """Fit on held-out `scores` (n, c), class codes `y` and weights; rows with NaN scores do not count."""
        known = ~np.isnan(scores).any(axis=1)
        scores, y = scores[known], np.asarray(y)[known]
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)[known]
        self.chosen_ = self._choose(scores, y, weight)
        self._fit_temperature(scores, y, weight)
        if self.chosen_ == "isotonic":
            self._fit_isotonic(scores, y, weight)
        return self

    def transform(self, scores: Floats) -> Floats:
        """Probabilities, rows summing to 1."""
        proba = self._tempered(np.asarray(scores, dtype=np.float64), self.temperature_, self.mixing_)
        if self.chosen_ == "isotonic":
            proba = self._sharpen(proba)
        return proba

    def _choose(self, scores: Floats, y: NDArray[Any], weight: Floats) -> str:
        if self.method != "auto":
            return self.method
        if len(y) < _ENOUGH_FOR_ISOTONIC or scores.shape[1] < 2:
            return "temperature"
        fold = np.arange(len(y)) % 5
        losses = {}
        for method in ("temperature", "isotonic"):
            losses[method] = 0.0
            for k in range(5):
                part = ScoreCalibrator(method, self.kind).fit(
                    scores[fold != k], y[fold != k], weight[fold != k]
                )
                held = fold == k
                losses[method] += _log_loss(part.transform(scores[held]), y[held], weight[held])
        return "isotonic" if losses["isotonic"] < losses["temperature"] else "temperature"

    def _fit_temperature(self, scores: Floats, y: NDArray[Any], weight: Floats) -> None:
        self.temperature_, self.mixing_ = 1.0, 0.01 if self.kind == "probabilities" else 0.0
        if len(y) == 0 or scores.shape[1] < 2:
            return
        unit = float(np.abs(scores).max()) or 1.0
        scale = unit if self.kind == "decisions" else 1.0

        def loss(point: Floats) -> float:
            mixing = _mixing(point[1]) if self.kind == "probabilities" else 0.0
            # Few points say little: a penalty worth one point pulls towards the start.
            pull = 0.5 * float(((point - start) ** 2).sum()) / max(weight.sum(), 1.0)
            return pull + _log_loss(self._tempered(scores, scale * np.exp(point[0]), mixing), y, weight)

        start = np.array([-1.0 if self.kind == "decisions" else 0.0, -4.0])
        found = minimize(
            loss, start, method="Nelder-Mead", bounds=[(-4, 4), (-9, 0)], options={"maxiter": 200}
        )
        self.temperature_ = float(scale * np.exp(found.x[0]))
        self.mixing_ = _mixing(found.x[1]) if self.kind == "probabilities" else 0.0

    def _tempered(self, scores: Floats, temperature: float, mixing: float) -> Floats:
        if self.kind == "probabilities":
            scores = np.log(np.maximum((1 - mixing) * scores + mixing / scores.shape[1], _SMALLEST))
        scaled = scores / temperature
        proba = np.maximum(np.exp(scaled - logsumexp(scaled, axis=1, keepdims=True)), _SMALLEST)
        return proba / proba.sum(axis=1, keepdims=True)

    def _fit_isotonic(self, scores: Floats, y: NDArray[Any], weight: Floats) -> None:
        proba = self._tempered(scores, self.temperature_, self.mixing_)
        # One right and one wrong pseudo-point at the ends keep the probabilities away from 0 and 1.
        top = proba.max(axis=1)
        right = (proba.argmax(axis=1) == y).astype(np.float64)
        unit = float(weight.mean())
        self._isotonic = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
            np.r_[top, top.min(), top.max()], np.r_[right, 1.0, 0.0], sample_weight=np.r_[weight, unit, unit]
        )

    def _sharpen(self, proba: Floats) -> Floats:
        """Replace the largest probability by its isotonic value; the others keep their proportions."""
        rows = np.arange(len(proba))
        best = proba.argmax(axis=1)
        top = proba[rows, best]
        # Shares of the others in the remaining mass; the best class must stay at least as likely as each.
        shares = proba.copy()
        shares[rows, best] = 0.0
        rest = shares.sum(axis=1)
        shares /= np.where(rest > 0, rest, 1.0)[:, None]
        runner_up = shares.max(axis=1)
        tied = top <= np.partition(proba, -2, axis=1)[:, -2]
        value = np.clip(self._isotonic.predict(top), _SMALLEST, 1.0 - _SMALLEST)
        value = np.maximum(value, runner_up / (1.0 + runner_up) * (1 + 1e-9))
        value = np.where(tied, top, np.minimum(value, 1.0 - _SMALLEST))
        out = shares * (1.0 - value)[:, None]
        out[rows, best] = value
        out[tied] = proba[tied]
        return out / out.sum(axis=1, keepdims=True)


def _mixing(logarithm: float) -> float:
    return float(min(np.exp(logarithm), 0.5))


def _log_loss(proba: Floats, y: NDArray[Any], weight: Floats) -> float:
    picked = np.maximum(proba[np.arange(len(y)), y], _SMALLEST)
    return float(-(weight * np.log(picked)).sum() / max(weight.sum(), _SMALLEST))
