"""When a cascade stops growing and which layer it keeps (theory.md [D-30], §5).

`LayerMonitor` collects one score per layer. The kept layer has the best score; among equal ones the smaller
margin ratio wins, then the earlier layer. As the first layer is one of them, a fit never ends below it.
`held_out_score` computes the score of a layer from held-out class vectors with any scikit-learn scorer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from surewood._arrays import Floats
from surewood.bounds import margin_ratio
from surewood.deepforest.additive import class_margins

_TIE = 1e-12


@dataclass
class LayerMonitor:
    """Scores of the layers so far.

    Parameters
    ----------
    patience : int
        Stop after this many layers in a row that did not beat the best score before them.
    min_improvement : float or "noise"
        By how much it must be beaten; "noise": by more than the standard error of the gain.

    Examples
    --------
    >>> monitor = LayerMonitor(patience=2, min_improvement=1e-4)
    >>> [monitor.add(score, ratio) for score, ratio in [(0.8, 1.0), (0.9, 0.7), (0.9, 0.6), (0.85, 0.5)]]
    [False, False, False, True]
    >>> monitor.best  # the third layer: as good as the second, with the smaller margin ratio
    2
    """

    patience: int = 3
    min_improvement: float | str = 1e-4
    scores: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    waited: int = 0

    def add(self, score: float, ratio: float, noise: float = 0.0) -> bool:
        """Take a layer's score and the standard error of its gain; True when growing should stop."""
        least = noise if isinstance(self.min_improvement, str) else self.min_improvement
        improved = not self.scores or score > max(self.scores) + least
        self.waited = 0 if improved else self.waited + 1
        self.scores.append(float(score))
        self.ratios.append(float(ratio))
        return self.waited >= self.patience

    @property
    def best(self) -> int:
        """Position of the layer to keep."""
        top = max(self.scores)
        # Compared first: a margin ratio without a mean scores -inf, and -inf - -inf is no number.
        equal = [
            i
            for i, score in enumerate(self.scores)
            if score == top or top - score <= _TIE * max(1.0, abs(top))
        ]
        return min(equal, key=lambda i: (self.ratios[i], i))


class _PrecomputedVectors(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are known already, for a scorer; ``X`` is row numbers."""

    def __init__(self, vectors: Floats, classes: NDArray[Any]) -> None:
        self.vectors, self.classes = vectors, classes
        self.classes_ = classes

    def predict_proba(self, X: Any) -> Floats:
        return np.asarray(self.vectors[np.asarray(X).ravel()])

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes[self.predict_proba(X).argmax(axis=1)])


def held_out_score(
    monitor: str | Callable[..., float],
    scores: Floats,
    y: NDArray[np.int32],
    classes: NDArray[Any],
    weight: Floats | None = None,
) -> float:
    """The monitored quantity, larger is better.

    Parameters
    ----------
    monitor : "accuracy", "margin_ratio", a scorer or its name
    scores : ndarray of float64, shape (m, n_classes)
        Held-out class vectors, rows summing to a common positive number.

    Examples
    --------
    >>> vectors = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> held_out_score("accuracy", vectors, np.array([0, 1, 1]), np.array(["a", "b"]))
    0.6666666666666666
    >>> round(held_out_score("neg_log_loss", vectors, np.array([0, 1, 1]), np.array(["a", "b"])), 4)
    -0.4149
    """
    if monitor == "accuracy":
        return float(np.average(scores.argmax(axis=1) == y, weights=weight))
    if monitor == "margin_ratio":
        ratio = margin_ratio(class_margins(scores, y), weight)
        return -ratio if math.isfinite(ratio) else -math.inf
    scorer = get_scorer(monitor)
    total = scores.sum(axis=1, keepdims=True)
    stand_in = _PrecomputedVectors(scores / np.where(total > 0, total, 1.0), classes)
    rows = np.arange(len(y))
    arguments = {} if weight is None else {"sample_weight": weight}
    return float(scorer(stand_in, rows, classes[y], **arguments))
