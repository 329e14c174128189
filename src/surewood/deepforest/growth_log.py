"""What happens as layers are added: their records, the best of them, and whether growing goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from surewood._arrays import Floats
from surewood.bounds import effective_sample_size, margin_ratio
from surewood.deepforest.additive import class_margins
from surewood.deepforest.block import Block
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.plan import GrowthPlan
from surewood.deepforest.records import LayerRecord
from surewood.deepforest.stopping import LayerMonitor, held_out_score

L = TypeVar("L")
P = TypeVar("P", bound=GrowthPlan)


@dataclass(frozen=True)
class Grown(Generic[L, P]):
    """A grown cascade.

    Attributes
    ----------
    layers : MarginLayers or CascadeLayers
        The kept layers.
    plan : MarginPlan or CascadePlan
        As grown: "chosen" weights are resolved.
    records : tuple of LayerRecord
        All layers, kept or not.
    held_out : ndarray of float64, shape (n_rows, n_classes)
        Held-out scores of the training points at the kept layer, rows summing to 1.
    staged_held_out : tuple of ndarray
        The same for every layer, if they were to be kept.
    """

    layers: L
    plan: P
    records: tuple[LayerRecord, ...]
    held_out: Floats
    staged_held_out: tuple[Floats, ...]

    @property
    def score(self) -> float:
        """Monitored score of the kept layer."""
        return [record for record in self.records if record.kept][-1].score


class GrowthLog:
    """The layers of one cascade so far."""

    def __init__(self, plan: GrowthPlan, keep_held_out: bool) -> None:
        self.plan, self.keep_held_out = plan, keep_held_out
        self.monitor = LayerMonitor(plan.patience, plan.min_improvement)
        self.records: list[LayerRecord] = []
        self.staged: list[Floats] = []
        self.held_out: Floats = np.zeros((0, 0))
        self.finished = False

    @property
    def next_layer(self) -> int:
        """Number of the layer to come: 1, 2, ..."""
        return len(self.records) + 1

    @property
    def n_kept(self) -> int:
        """Layers up to the best one."""
        return self.monitor.best + 1

    @property
    def best_score(self) -> float:
        """Best monitored score over all layers."""
        return max(self.monitor.scores)

    def add(self, record: LayerRecord, held_out: Floats, *, is_last: bool) -> None:
        """Take in a layer; `is_last` where the algorithm has a reason of its own to stop."""
        self.records.append(record)
        stop = self.monitor.add(record.score, record.margin_ratio)
        if self.n_kept == record.layer:
            self.held_out = held_out
        if self.keep_held_out:
            self.staged.append(held_out)
        perfect = self.plan.monitor == "accuracy" and record.score == 1.0
        self.finished = stop or perfect or is_last or record.layer >= self.plan.max_layers

    def result(self, layers: L, plan: P) -> Grown[L, P]:
        """The cascade of the kept `layers`."""
        records = tuple(replace(record, kept=record.layer <= self.n_kept) for record in self.records)
        return Grown(layers, plan, records, self.held_out, tuple(self.staged))


def score_of(plan: GrowthPlan, scores: Floats, points: TrainingSet) -> float:
    """The monitored quantity of some points."""
    return held_out_score(plan.monitor, scores, points.y, points.classes, points.weight)


def make_record(
    layer: int,
    score: float,
    scores: Floats,
    vectors: Floats,
    training: TrainingSet,
    *,
    step: float,
    weight: Floats | None,
    n_points: int,
    block: Block,
    max_depth: list[int | None],
    seconds: float,
) -> LayerRecord:
    """The record of a layer from its held-out scores and its own held-out vectors."""
    y, own = training.y, training.weight
    return LayerRecord(
        layer=layer,
        score=score,
        accuracy=float(np.average(scores.argmax(axis=1) == y, weights=own)),
        layer_accuracy=float(np.average(vectors.argmax(axis=1) == y, weights=own)),
        margin_ratio=margin_ratio(class_margins(scores, y), own),
        step=step,
        effective_sample_size=1.0 if weight is None else effective_sample_size(weight) / len(weight),
        n_points=n_points,
        n_trees=block.n_trees,
        max_depth=None if None in max_depth else max(d for d in max_depth if d is not None),
        seconds=seconds,
        model_bytes=block.nbytes,
    )
