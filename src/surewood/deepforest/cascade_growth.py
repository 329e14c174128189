"""Growing the cascade of gcForest on the same block (theory.md §5).

Every layer sees the table and all class vectors of the layer before; its output is the mean of its forests'
vectors; the layer with the best held-out accuracy is the last one. With screening, confident points stop at
the layer that is sure of them. :class:`CascadeModel` is what remains for prediction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.deepforest.block import Block, BlockFit, BlockPlan, LayerInput, train_block
from surewood.deepforest.folds import deal_folds, layer_seed
from surewood.deepforest.layer_input import learn_vector_bins, widen
from surewood.deepforest.members import Member, TreeSettings
from surewood.deepforest.records import LayerRecord
from surewood.deepforest.row_order import take_rows
from surewood.deepforest.screening import automatic_gate, stopping_points
from surewood.deepforest.stopping import LayerMonitor, held_out_score
from surewood.deepforest.training import RunOptions, TrainingSet, make_record
from surewood.trees import BinMapper


@dataclass(frozen=True)
class CascadePlan:
    """Everything that decides the result.

    `screening` is None, "auto" or a gate between 0 and 1; `screening_factor` belongs to "auto". With
    `screening_growth` forests grow in inverse proportion to the share of points still in play.
    """

    members: Sequence[Member]
    settings: TreeSettings
    n_folds: int
    max_depth: int | None = None
    cross_fit: str = "kfold"
    max_layers: int = 20
    patience: int = 4
    min_improvement: float = 0.0
    monitor: Any = "accuracy"
    screening: float | str | None = None
    screening_factor: float = 3.0
    screening_growth: bool = False
    max_bins: int = 255
    seed: int = 0


@dataclass
class CascadeLayer:
    """A layer: its block, how the vectors it reads are coded, its gate, its importances."""

    block: Block
    vector_bins: BinMapper | None
    gate: float
    importances: Floats


@dataclass
class CascadeModel:
    """Layers of a cascade; the last one's mean vector is the prediction of points that reach it."""

    layers: list[CascadeLayer]

    def staged_scores(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[Floats]:
        """Class vectors of new points after 1, 2, ... layers."""
        for _, _, _, out in self.walk(base, n_jobs):
            yield out

    def walk(
        self, base: LayerInput, n_jobs: int | None = 1
    ) -> Iterator[tuple[NDArray[np.int64], LayerInput, Floats, Floats]]:
        """Rows in play, their input and vectors (n_members, rows, n_classes), and all rows' scores."""
        n_rows = base.matrix.n_rows
        out = np.zeros((n_rows, self.layers[0].block.n_classes))
        active, inputs = np.arange(n_rows), base
        vectors = np.zeros((0, 0, 0))
        for number, layer in enumerate(self.layers):
            if number:
                active, vectors = _still_in_play(active, vectors, out, self.layers[number - 1].gate)
            if len(active):
                if number and layer.vector_bins is not None:
                    inputs = widen(_rows(base, active), side_by_side(vectors), layer.vector_bins, "both")
                vectors = layer.block.vectors(inputs, n_jobs)
                out[active] = vectors.mean(axis=0)
            yield active, inputs, vectors, out.copy()


@dataclass
class CascadeFit:
    """A grown cascade; attributes as in :class:`~surewood.deepforest.margin_growth.MarginFit`."""

    model: CascadeModel
    records: list[LayerRecord]
    held_out: Floats
    staged_held_out: list[Floats]


def side_by_side(vectors: Floats) -> Floats:
    """(n_members, n_rows, n_classes) as (n_rows, n_members · n_classes)."""
    return np.concatenate(list(vectors), axis=1)


def _still_in_play(
    active: NDArray[np.int64], vectors: Floats, out: Floats, gate: float
) -> tuple[NDArray[np.int64], Floats]:
    """The rows that a layer was not sure of, and their vectors."""
    if math.isinf(gate):
        return active, vectors
    stays = out[active].max(axis=1) < gate
    return active[stays], vectors[:, stays]


def _rows(inputs: LayerInput, rows: NDArray[np.int64]) -> LayerInput:
    if len(rows) == inputs.matrix.n_rows:
        return inputs
    numbers = None if inputs.numbers is None else inputs.numbers[rows]
    return LayerInput(take_rows(inputs.matrix, rows), numbers)


def grow_cascade(
    training: TrainingSet, plan: CascadePlan, run: RunOptions, validation: TrainingSet | None = None
) -> CascadeFit:
    """Grow layers until the held-out score has not improved for `patience` layers; keep the best."""
    growth = _Growth(training, plan, run, validation)
    while not growth.finished:
        growth.add_layer()
    return growth.result()


class _Growth:
    """The state of one call of :func:`grow_cascade`."""

    def __init__(
        self, training: TrainingSet, plan: CascadePlan, run: RunOptions, validation: TrainingSet | None
    ) -> None:
        self.training, self.plan, self.run, self.validation = training, plan, run, validation
        self.monitor = LayerMonitor(plan.patience, plan.min_improvement)
        self.layers: list[CascadeLayer] = []
        self.records: list[LayerRecord] = []
        self.staged: list[Floats] = []
        self.scores = np.zeros((training.n_rows, len(training.classes)))
        self.active = np.arange(training.n_rows)
        self.vectors: Floats | None = None  # of all rows; those out of play keep their last ones
        self.finished = False

    def add_layer(self) -> None:
        training, number = self.training, len(self.records) + 1
        bins, inputs = None, training.inputs
        if self.vectors is not None:
            bins, inputs = self._widened()
        fit = self._train(inputs, number)
        n_points = len(self.active)
        gate = self._take_in(fit)
        block = self.run.settle(fit.block, f"layer-{number}")
        self.layers.append(CascadeLayer(block, bins, gate, fit.importances))
        self._judge(number, block, n_points, fit.seconds)

    def _widened(self) -> tuple[BinMapper, LayerInput]:
        """Bins of the last layer's vectors, learned on the points in play, and the next layer's input."""
        assert self.vectors is not None
        before = side_by_side(self.vectors)
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
        fold = np.full(training.n_rows, -1, dtype=np.int16)
        fold[self.active] = deal_folds(training.y[self.active], plan.n_folds, seed)
        members = self._members()
        return train_block(
            inputs,
            training.y,
            fold,
            BlockPlan(members, self._depths(), plan.settings, len(training.classes), plan.cross_fit),
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

    def _depths(self) -> list[int | None]:
        return [self.plan.max_depth] * len(self.plan.members)

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
        plan, training = self.plan, self.training
        if self.validation is None:
            value = held_out_score(plan.monitor, self.scores, training.y, training.classes, training.weight)
        else:
            points = self.validation
            *_, scores = CascadeModel(self.layers).staged_scores(points.inputs, self.run.n_jobs)
            value = held_out_score(plan.monitor, scores, points.y, points.classes, points.weight)
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
            max_depth=self._depths(),
            seconds=seconds,
        )
        self.records.append(record)
        stop = self.monitor.add(value, record.margin_ratio)
        if self.monitor.best == number - 1:
            self.held_out = self.scores.copy()
        if self.run.keep_held_out:
            self.staged.append(self.scores.copy())
        perfect = plan.monitor == "accuracy" and value == 1.0
        nobody = plan.screening is not None and len(self.active) < 2 * len(training.classes)
        self.finished = stop or perfect or nobody or number >= plan.max_layers

    def result(self) -> CascadeFit:
        kept = self.monitor.best + 1
        records = [replace(record, kept=record.layer <= kept) for record in self.records]
        return CascadeFit(CascadeModel(self.layers[:kept]), records, self.held_out, self.staged)
