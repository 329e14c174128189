"""When a cascade stops growing and which layer it keeps (theory.md [D-30], §5).

:class:`Growth` is a cascade while it is grown; both algorithms are subclasses. It takes in layer after layer,
each with its :class:`LayerRecord`, and knows when to stop. The kept layer has the best score; among equal
ones the smaller margin ratio wins, then the earlier layer. As the first layer is one of them, a fit never
ends below it. `held_out_score` computes the score of a layer from held-out class vectors with any
scikit-learn scorer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from surewood._arrays import Codes, Floats
from surewood.bounds import effective_sample_size, margin_ratio
from surewood.deepforest.blocks import Block, SpillFolder
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.margins import class_margins
from surewood.deepforest.plan import MIN_IMPROVEMENT, GrowthSetting, RunOptions

_Setting = TypeVar("_Setting", bound=GrowthSetting)
_TIE = 1e-12


@dataclass(frozen=True)
class LayerRecord:
    """A layer of a cascade, as it was after growing it.

    Attributes
    ----------
    layer : int
        1, 2, ...
    score : float
        The monitored quantity of the cascade up to this layer (ESTIMATE, used for choosing the layer).
    accuracy : float
        Held-out accuracy of the cascade up to this layer (ESTIMATE).
    layer_accuracy : float
        Held-out accuracy of this layer's own class vectors (ESTIMATE).
    margin_ratio : float
        Standard deviation over mean of the held-out margins (4.6) (HEURISTIC).
    step : float
        Step size α, or mixing weight β in simplex mode; 1 for plain cascades.
    effective_sample_size : float
        1 / ΣD² of the weights this layer was trained with, as a fraction of the points in play.
    n_points : int
        Points in play at this layer.
    n_trees : int
    max_depth : int or None
        Deepest tree allowed (the largest over the forests).
    seconds : float
        Time of the layer.
    model_bytes : int
        Memory of its trees.
    kept : bool
        Whether the layer takes part in predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import MarginDeepForestClassifier
    >>> model = MarginDeepForestClassifier(5, max_layers=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> [record.layer for record in model.layers_]
    [1, 2]
    """

    layer: int
    score: float
    accuracy: float
    layer_accuracy: float
    margin_ratio: float
    step: float
    effective_sample_size: float
    n_points: int
    n_trees: int
    max_depth: int | None
    seconds: float
    model_bytes: int
    kept: bool = True


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
    y: Codes,
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


def mean_and_error(values: Floats, weight: Floats | None = None) -> tuple[float, float]:
    """Weighted mean of the rows' values and its standard error.

    Examples
    --------
    >>> mean_and_error(np.array([0.0, 0.0, 1.0, 1.0]))
    (0.5, 0.25)
    """
    if weight is None:
        weight = np.ones(len(values))
    total = float(weight.sum())
    mean = float((weight * values).sum() / total)
    return mean, math.sqrt(float(((weight * (values - mean)) ** 2).sum())) / total


class Growth(Generic[_Setting]):
    """A cascade while it is grown and afterwards: what it is grown from, and what its layers were like.

    A subclass has ``grown``, which adds layers to the end, and the ``layers`` that are kept.
    """

    def __init__(self, training: TrainingSet, setting: _Setting, run: RunOptions) -> None:
        self.training, self.setting, self.run = training, setting, run
        self.spill = SpillFolder() if run.spill else None
        self.records: list[LayerRecord] = []
        self.scores: list[float] = []  # of the records, without one that was abandoned
        #: Held-out scores of the training points at the best layer, rows summing to 1, and after every layer.
        self.held_out: Floats = np.zeros((0, 0))
        self.staged_held_out: list[Floats] = []
        #: Why growing ended: "no gain", "perfect", "max_layers" or "time_limit".
        self.stop_reason = ""
        self._waited = 0  # layers since the last improvement
        self._right: Floats | None = None  # whether the layer with the best score is right, by row

    @property
    def finished(self) -> bool:
        """Whether growing has ended."""
        return self.stop_reason != ""

    @property
    def next_layer(self) -> int:
        """Number of the layer to come: 1, 2, ..."""
        return len(self.records) + 1

    @property
    def n_kept(self) -> int:
        """Layers up to the best one."""
        top = max(self.scores)
        # Compared first: a margin ratio without a mean scores -inf, and -inf - -inf is no number.
        ties = [k for k, s in enumerate(self.scores) if s == top or top - s <= _TIE * max(1.0, abs(top))]
        return 1 + min(ties, key=lambda k: (self.records[k].margin_ratio, k))

    @property
    def best_score(self) -> float:
        """Best monitored score over all layers."""
        return max(self.scores)

    def kept(self, block: Block) -> Block:
        """The block of the layer to come, from where it is kept: memory, or the spill folder."""
        return block if self.spill is None else self.spill.store(block, f"layer-{self.next_layer}")

    def score_of(self, scores: Floats) -> float:
        """The monitored quantity of held-out scores of the training points."""
        training = self.training
        return held_out_score(self.setting.monitor, scores, training.y, training.classes, training.weight)

    def record_of(
        self,
        scores: Floats,
        vectors: Floats,
        block: Block,
        *,
        step: float,
        weight: Floats | None,
        n_points: int,
        seconds: float,
    ) -> LayerRecord:
        """The record of the layer to come from its held-out scores and its own held-out vectors."""
        y, point_weight, depths = self.training.y, self.training.weight, self.setting.depths(self.next_layer)
        return LayerRecord(
            layer=self.next_layer,
            score=self.score_of(scores),
            accuracy=float(np.average(scores.argmax(axis=1) == y, weights=point_weight)),
            layer_accuracy=float(np.average(vectors.argmax(axis=1) == y, weights=point_weight)),
            margin_ratio=margin_ratio(class_margins(scores, y), point_weight),
            step=step,
            effective_sample_size=1.0 if weight is None else effective_sample_size(weight) / len(weight),
            n_points=n_points,
            n_trees=block.n_trees,
            max_depth=None if None in depths else max(d for d in depths if d is not None),
            seconds=seconds,
            model_bytes=block.nbytes,
        )

    def take_in(self, record: LayerRecord, scores: Floats, held_out: Floats, *, is_last: bool) -> None:
        """Add a layer with its `scores`, and these as `held_out` with rows that sum to 1.

        `is_last` where the algorithm has a reason of its own to stop.
        """
        self.records.append(record)
        right = (scores.argmax(axis=1) == self.training.y).astype(np.float64)
        least = self.setting.min_improvement
        if isinstance(least, str):
            least = self._noise(right)
        best = self.best_score if self.scores else -math.inf
        leads = not self.scores or record.score > best
        self._waited = 0 if not self.scores or record.score > best + least else self._waited + 1
        self.scores.append(record.score)
        if leads:
            self._right = right
        if self.n_kept == record.layer:
            self.held_out = held_out
        if self.run.keep_held_out:
            self.staged_held_out.append(held_out)
        if self.setting.monitor == "accuracy" and record.score == 1.0:
            self.stop_reason = "perfect"
        elif self.run.time_limit.is_over:
            self.stop_reason = "time_limit"
        elif self._waited >= self.setting.patience or is_last:
            self.stop_reason = "no gain"
        elif record.layer >= self.setting.max_layers:
            self.stop_reason = "max_layers"

    def abandon(self, record: LayerRecord, held_out: Floats) -> None:
        """Record a layer that was given up after its first trees: it is not kept, and growing ends."""
        self.records.append(record)
        if self.run.keep_held_out:
            self.staged_held_out.append(held_out)
        self.stop_reason = "time_limit" if self.run.time_limit.is_over else "no gain"

    def _noise(self, right: Floats) -> float:
        """Standard error of the gain over the best layer; it needs a score that is a mean over rows."""
        if self.setting.monitor != "accuracy":
            return MIN_IMPROVEMENT
        if self._right is None:
            return 0.0
        return max(MIN_IMPROVEMENT, mean_and_error(right - self._right, self.training.weight)[1])

    def finish(self) -> None:
        """Mark which layers take part in predictions."""
        self.records = [replace(record, kept=record.layer <= self.n_kept) for record in self.records]
