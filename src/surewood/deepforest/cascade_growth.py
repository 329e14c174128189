"""Growing the cascade of gcForest on the same block (theory.md §5).

Every layer sees the table and all class vectors of the layer before; its output is the mean of its forests'
vectors; the layer with the best held-out accuracy is the last one. With screening, confident points stop at
the layer that is sure of them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from surewood._arrays import Floats
from surewood.deepforest.block import Block, BlockFit, BlockPlan, train_block
from surewood.deepforest.cascade_layers import CascadeLayer, CascadeLayers, side_by_side
from surewood.deepforest.folds import layer_seed
from surewood.deepforest.growth_log import Grown, Growth, make_record, score_of
from surewood.deepforest.layer_input import LayerInput, learn_vector_bins, widen
from surewood.deepforest.members import Member
from surewood.deepforest.plan import CascadePlan
from surewood.deepforest.screening import automatic_gate, stopping_points
from surewood.trees import BinMapper

GrownCascade: TypeAlias = Grown[CascadeLayers, CascadePlan]


class CascadeGrowth(Growth[CascadePlan]):
    """A cascade forest while it is grown."""

    def __post_init__(self) -> None:
        super().__post_init__()
        training = self.training
        self.layers: list[CascadeLayer] = []
        self.scores = np.zeros((training.n_rows, len(training.classes)))
        self.active = np.arange(training.n_rows)
        self.vectors: Floats | None = None  # of all rows; those out of play keep their last ones

    def grown(self) -> GrownCascade:
        """Layers until the held-out score has not improved for `patience` of them; the best are kept."""
        while not self.log.finished:
            self.add_layer()
        return self.log.result(CascadeLayers(tuple(self.layers[: self.log.n_kept])), self.plan)

    def add_layer(self) -> None:
        number = self.log.next_layer
        bins, inputs = None, self.training.inputs
        if self.vectors is not None:
            bins, inputs = self._widened(self.vectors)
        fit = self._train(inputs, number)
        n_points = len(self.active)
        gate = self._take_in(fit)
        block = self.store(fit.block, f"layer-{number}")
        self.layers.append(CascadeLayer(block, bins, gate, fit.importances))
        self._judge(number, block, n_points, fit.seconds)

    def _widened(self, vectors: Floats) -> tuple[BinMapper, LayerInput]:
        """Bins of the last layer's vectors, learned on the points in play, and the next layer's input."""
        before = side_by_side(vectors)
        if self.plan.screening is None:
            self.vectors = None  # the next layer makes new ones for all points
        weight, shown = self.training.weight, before
        if len(self.active) < len(before):
            shown = before[self.active]
            weight = None if weight is None else weight[self.active]
        bins = learn_vector_bins(shown, weight, self.plan.max_bins)
        return bins, widen(self.training.inputs, before, bins, "both")

    def _train(self, inputs: LayerInput, number: int) -> BlockFit:
        plan, training = self.plan, self.training
        seed = layer_seed(plan.seed, number)
        fold = np.full(training.n_rows, -1, dtype=np.int64)
        fold[self.active] = training.deal(plan.n_folds, seed, self.active)
        block = BlockPlan(
            self._members(), plan.depths(number), plan.trees, len(training.classes), plan.cross_fit
        )
        return train_block(
            inputs,
            training.y,
            fold,
            block,
            seed=seed,
            weight=training.weight,
            n_jobs=self.run.n_jobs,
            verbose=self.run.verbose,
            name=f"layer {number}",
        )

    def _members(self) -> list[Member]:
        if not self.plan.screening_growth:
            return list(self.plan.members)
        growth = self.training.n_rows / len(self.active)
        return [replace(member, n_trees=round(member.n_trees * growth)) for member in self.plan.members]

    def _take_in(self, fit: BlockFit) -> float:
        """Store the vectors of the points in play, find the gate, and let confident points stop."""
        active, plan, training = self.active, self.plan, self.training
        if self.vectors is None:
            self.vectors = fit.vectors
        else:
            self.vectors[:, active] = fit.vectors[:, active]
        mean = self.vectors.mean(axis=0)[active]
        self.scores[active] = mean
        if plan.screening is None:
            return math.inf
        y = training.y[active]
        gate = automatic_gate(mean, y, plan.screening_factor) if plan.screening == "auto" else plan.screening
        assert isinstance(gate, float)
        stops = stopping_points(mean, y, gate, plan.n_folds, len(training.classes))
        self.active = active[~stops]
        return gate

    def _judge(self, number: int, block: Block, n_points: int, seconds: float) -> None:
        plan, training, points = self.plan, self.training, self.validation
        if points is None:
            value = score_of(plan, self.scores, training)
        else:
            *_, scores = CascadeLayers(self.layers).staged_scores(points.inputs, self.run.n_jobs)
            value = score_of(plan, scores, points)
        record = make_record(
            number,
            value,
            self.scores,
            self.scores,
            training,
            step=1.0,
            weight=training.weight,
            n_points=n_points,
            block=block,
            max_depth=plan.depths(number),
            seconds=seconds,
        )
        self.log.add(record, self.scores.copy(), is_last=plan.screening is not None and self._too_few())

    def _too_few(self) -> bool:
        """Whether the points in play cannot make another layer."""
        folds = self.training.given_folds
        one_fold = folds is not None and len(np.unique(folds[self.active])) < 2
        return one_fold or len(self.active) < 2 * len(self.training.classes)
