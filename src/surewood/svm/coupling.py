"""Probabilities of classes from decisions of pairs, with two numbers learned on held-out points.

log P(a beats b) = −log(1 + e^(−slope · decision)); the score of a class is the mean over its pairs, and the
probabilities are the softmax of sharpness × score. For two classes this is one logistic curve through zero,
so the decision never changes. No offset is fitted: it would move the decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax

__all__ = ["PairCoupling"]

FloatArray = NDArray[np.float64]
HeldOut = list[tuple[NDArray[Any], NDArray[Any], FloatArray]]  # rows, classes of the machine, its decisions
_SMALLEST = 1e-12


@dataclass
class PairCoupling:
    """Two numbers that turn pairwise decisions into probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> coupling = PairCoupling(slope=2.0, sharpness=1.0)
    >>> coupling.probabilities(np.array([[0.0], [1.0]]), np.array([0, 1]), 2).round(2)
    array([[0.5 , 0.5 ],
           [0.88, 0.12]])
    """

    slope: float = 1.0
    sharpness: float = 1.0

    @classmethod
    def fit(cls, held_out: HeldOut, codes: NDArray[Any], weight: FloatArray, n_classes: int) -> PairCoupling:
        """Fit on decisions of machines at rows that they did not see (of classes that they know)."""
        coupling = cls()
        held_out = [part for part in held_out if len(part[0]) and len(part[1]) > 1]
        if not held_out:
            return coupling
        points = np.concatenate([rows for rows, _, _ in held_out])
        share = weight[points] / max(float(weight[points].sum()), 1.0)
        margins = [own_margins(d, np.searchsorted(known, codes[rows])) for rows, known, d in held_out]

        def slope_loss(slope: float) -> float:
            own = np.concatenate([np.logaddexp(0.0, -slope * m).mean(axis=1) for m in margins])
            return float(share @ own)

        coupling.slope = _smallest(slope_loss, 1.0 / float(weight[points].sum()))
        scores = np.concatenate([coupling.scores(d, known, n_classes) for _, known, d in held_out])

        def sharpness_loss(sharpness: float) -> float:
            proba = softmax(sharpness * scores, axis=1)[np.arange(len(points)), codes[points]]
            return float(-share @ np.log(np.maximum(proba, _SMALLEST)))

        coupling.sharpness = _smallest(sharpness_loss, 1.0 / float(weight[points].sum()))
        return coupling

    def scores(self, decisions: FloatArray, classes: NDArray[Any], n_total: int) -> FloatArray:
        """Mean pairwise log probability a class; classes that the machine lacks come last by one."""
        n_known = len(classes)
        known = np.zeros((len(decisions), n_known))
        for pair, (a, b) in enumerate(zip(*np.triu_indices(n_known, 1))):
            known[:, a] -= np.logaddexp(0.0, -self.slope * decisions[:, pair])
            known[:, b] -= np.logaddexp(0.0, self.slope * decisions[:, pair])
        known /= max(n_known - 1, 1)
        scores = np.repeat(known.min(axis=1, keepdims=True) - 1.0, n_total, axis=1)
        scores[:, classes] = known
        return scores

    def probabilities(self, decisions: FloatArray, classes: NDArray[Any], n_total: int) -> FloatArray:
        """Rows that sum to 1, over all `n_total` classes."""
        proba = np.maximum(
            softmax(self.sharpness * self.scores(decisions, classes, n_total), axis=1), _SMALLEST
        )
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def own_margins(decisions: FloatArray, place: NDArray[Any]) -> FloatArray:
    """Decisions of the pairs of each row's own class (its place among the known ones), positive when won."""
    n_known = round((1 + np.sqrt(1 + 8 * decisions.shape[1])) / 2)
    first, second = np.triu_indices(n_known, 1)
    mine = (first == place[:, None]) | (second == place[:, None])
    signed = np.where(first == place[:, None], decisions, -decisions)
    margins: FloatArray = signed[mine].reshape(len(decisions), n_known - 1)
    return margins


def _smallest(loss: Callable[[float], float], pull: float) -> float:
    """The positive number of smallest loss; few points say little, so a penalty pulls it towards 1."""

    def penalised(log: float) -> float:
        return loss(float(np.exp(log))) + 0.5 * pull * log * log

    found = minimize_scalar(penalised, bounds=(-7.0, 7.0), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))
