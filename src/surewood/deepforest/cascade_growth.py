"""Growing the cascade of gcForest on the same block, with confidence screening (theory.md §5).

Every layer sees the table and all class vectors of the layer before; its output is the mean of its forests'
vectors; the layer with the best held-out accuracy is the last one (:class:`CascadeGrowth`).

With screening, easy points stop early, in training and in prediction alike. The confidence of a point at a
layer is the largest entry of the layer's mean vector. `automatic_gate` finds the confidence from which points
may stop; `stopping_points` applies a gate without emptying a class.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats
from surewood.deepforest.blocks import BlockFit, BlockSetting, train_block
from surewood.deepforest.data import LayerInput, TrainingSet, layer_seed, learn_vector_bins, widen
from surewood.deepforest.forests import at_most
from surewood.deepforest.model import CascadeLayer, CascadeLayers, side_by_side
from surewood.deepforest.plan import CascadeSetting, RunOptions
from surewood.deepforest.stopping import Growth
from surewood.trees.binning import BinMapper

_LAYER_TIME = 0.8  # part of the time that is left which a layer may take
_MEASURED_TREES = 2  # of each forest, grown first to see how many the time allows
_SCREENING_FACTOR = 3.0  # points that stop are wrong this many times less often than all points in play


def automatic_gate(vectors: Floats, y: Codes) -> float:
    """The smallest confidence such that points at or above it are right more often than required.

    Required is an accuracy of 1 - (1 - acc) / 3, acc being that of all the points. Points are taken in
    decreasing order of confidence; the gate is the confidence of the last one of the longest prefix whose
    accuracy exceeds the requirement, infinite if there is none. Points of equal confidence stop together, so
    a prefix ends only where the confidence changes.

    Examples
    --------
    >>> vectors = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> automatic_gate(vectors, np.array([0, 0, 1, 1]))
    0.7
    """
    confidence = vectors.max(axis=1)
    right = (vectors.argmax(axis=1) == y).astype(np.float64)
    required = 1.0 - (1.0 - float(right.mean())) / _SCREENING_FACTOR
    order = np.argsort(-confidence, kind="stable")
    accuracy = np.cumsum(right[order]) / np.arange(1, len(y) + 1)
    ends = np.append(np.diff(confidence[order]) != 0, True)
    fits = np.flatnonzero(ends & (accuracy > required))
    return float(confidence[order[fits[-1]]]) if len(fits) else math.inf


def stopping_points(
    vectors: Floats, y: Codes, gate: float, least_a_class: int, n_classes: int
) -> NDArray[np.bool_]:
    """Which of the training points in play stop at this layer.

    At least `least_a_class` points of every class that still has as many stay in play: the least confident
    ones.

    Examples
    --------
    >>> vectors = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> stopping_points(vectors, np.array([0, 0, 1, 1]), gate=0.7, least_a_class=1, n_classes=2).tolist()
    [True, False, True, False]
    """
    confidence = vectors.max(axis=1)
    stops = np.asarray(confidence >= gate)
    for code in range(n_classes):
        members = np.flatnonzero(y == code)
        least_confident = members[np.argsort(confidence[members], kind="stable")[:least_a_class]]
        stops[least_confident] = False
    return stops


class CascadeGrowth(Growth[CascadeSetting]):
    """A cascade forest while it is grown."""

    def __init__(self, training: TrainingSet, setting: CascadeSetting, run: RunOptions) -> None:
        super().__init__(training, setting, run)
        self.added: list[CascadeLayer] = []
        self.mean_vectors = np.zeros((training.n_rows, len(training.classes)))
        self.active = np.arange(training.n_rows)
        self.vectors: Floats | None = None  # of all rows; those out of play keep their last ones

    def grown(self) -> CascadeGrowth:
        """Layers until the held-out score has not improved for `patience` of them; the best are kept."""
        while not self.finished:
            before = self.run.time_limit.passed
            self.add_layer()
            if self.run.time_limit.left < self.run.time_limit.passed - before:  # the next one takes as long
                self.stop_reason = self.stop_reason or "time_limit"
        self.finish()
        return self

    @property
    def layers(self) -> CascadeLayers:
        """The kept layers."""
        return CascadeLayers(tuple(self.added[: self.n_kept]))

    def add_layer(self) -> None:
        number, n_points, training = self.next_layer, len(self.active), self.training
        bins, inputs = None, training.inputs
        if self.vectors is not None:
            bins, inputs = self._widened(self.vectors)
        fit = self._train(inputs, number)
        gate = self._screen(fit)
        block = self.kept(fit.block)
        self.added.append(CascadeLayer(block, bins, gate, fit.importances))
        scores = self.mean_vectors.copy()
        record = self.record_of(
            scores,
            scores,
            block,
            step=1.0,
            weight=training.weight,
            n_points=n_points,
            seconds=fit.seconds,
        )
        self.take_in(record, scores, scores, is_last=self.setting.screening is not None and self._too_few())

    def _widened(self, vectors: Floats) -> tuple[BinMapper, LayerInput]:
        """Bins of the last layer's vectors, learned on the points in play, and the next layer's input."""
        before = side_by_side(vectors)
        if self.setting.screening is None:
            self.vectors = None  # the next layer makes new ones for all points
        weight, shown = self.training.weight, before
        if len(self.active) < len(before):
            shown = before[self.active]
            weight = None if weight is None else weight[self.active]
        bins = learn_vector_bins(shown, weight)
        return bins, widen(self.training.inputs, before, bins, "both")

    def _train(self, inputs: LayerInput, number: int) -> BlockFit:
        setting, training = self.setting, self.training
        seed = layer_seed(setting.seed, number)
        fold = np.full(training.n_rows, -1, dtype=np.int64)
        fold[self.active] = training.deal(setting.n_folds, seed, self.active)
        limit = self.run.time_limit

        def grown(n_trees: int) -> BlockFit:
            members = at_most(setting.members, n_trees)
            return train_block(
                inputs,
                training.y,
                fold,
                BlockSetting(
                    members, setting.depths(number), setting.trees, len(training.classes), setting.cross_fit
                ),
                seed=seed,
                weight=training.weight,
                n_jobs=self.run.n_jobs,
                verbose=self.run.verbose,
                name=f"layer {number}",
            )

        n_trees = max(member.n_trees for member in setting.members)
        if limit.seconds is not None and n_trees > _MEASURED_TREES:
            before = limit.passed
            few = grown(_MEASURED_TREES)
            seconds = (limit.passed - before) / _MEASURED_TREES
            n_trees = min(n_trees, int(_LAYER_TIME * limit.left / max(seconds, 1e-9)))
            if n_trees <= _MEASURED_TREES:
                return few
        return grown(n_trees)

    def _screen(self, fit: BlockFit) -> float:
        """Store the vectors of the points in play, find the gate, and let confident points stop."""
        active, setting, training = self.active, self.setting, self.training
        if self.vectors is None:
            self.vectors = fit.vectors
        else:
            self.vectors[:, active] = fit.vectors[:, active]
        mean = self.vectors.mean(axis=0)[active]
        self.mean_vectors[active] = mean
        if setting.screening is None:
            return math.inf
        y = training.y[active]
        gate = automatic_gate(mean, y) if setting.screening == "auto" else setting.screening
        assert isinstance(gate, float)
        stops = stopping_points(mean, y, gate, setting.n_folds, len(training.classes))
        self.active = active[~stops]
        return gate

    def _too_few(self) -> bool:
        """Whether the points in play cannot make another layer."""
        folds = self.training.given_folds
        one_fold = folds is not None and len(np.unique(folds[self.active])) < 2
        return one_fold or len(self.active) < 2 * len(self.training.classes)
