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
from surewood.deepforest.plan import MIN_IMPROVEMENT, GrowthPlan, RunOptions
from surewood.deepforest.records import LayerRecord
from surewood.deepforest.spilling import BlockStore, in_memory
from surewood.deepforest.stopping import LayerMonitor, held_out_score
from surewood.deepforest.tree_noise import mean_and_error
from surewood.estimators.time_limit import TimeLimit

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
    stop_reason : str
        Why growing ended: "no gain", "perfect", "max_layers" or "time_limit".
    """

    layers: L
    plan: P
    records: tuple[LayerRecord, ...]
    held_out: Floats
    staged_held_out: tuple[Floats, ...]
    stop_reason: str

    @property
    def score(self) -> float:
        """Monitored score of the kept layer."""
        return [record for record in self.records if record.kept][-1].score


@dataclass(frozen=True)
class Judged:
    """The rows that judge a layer: which of them it gets right, and their weights."""

    right: Floats
    weight: Floats | None

    @classmethod
    def of(cls, scores: Floats, points: TrainingSet) -> Judged:
        """From the scores of some points."""
        return cls((scores.argmax(axis=1) == points.y).astype(np.float64), points.weight)


class GrowthLog:
    """The layers of one cascade so far."""

    def __init__(self, plan: GrowthPlan, keep_held_out: bool, time_limit: TimeLimit | None = None) -> None:
        self.plan, self.keep_held_out = plan, keep_held_out
        self.time_limit = TimeLimit(None) if time_limit is None else time_limit
        self.monitor = LayerMonitor(plan.patience, plan.min_improvement)
        self.records: list[LayerRecord] = []
        self.staged: list[Floats] = []
        self.held_out: Floats = np.zeros((0, 0))
        self.right: Floats = np.zeros(0)  # of the layer with the best score
        self.stop_reason = ""

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
        return self.monitor.best + 1

    @property
    def best_score(self) -> float:
        """Best monitored score over all layers."""
        return max(self.monitor.scores)

    def add(
        self, record: LayerRecord, held_out: Floats, *, is_last: bool, judged: Judged | None = None
    ) -> None:
        """Take in a layer; `is_last` where the algorithm has a reason of its own to stop.

        `judged` are the scores that `record.score` was computed from, for the standard error of the gain.
        """
        self.records.append(record)
        leads = not self.monitor.scores or record.score > self.best_score
        noise = self._noise(judged) if isinstance(self.plan.min_improvement, str) else 0.0
        stop = self.monitor.add(record.score, record.margin_ratio, noise)
        if leads and judged is not None:
            self.right = judged.right
        if self.n_kept == record.layer:
            self.held_out = held_out
        if self.keep_held_out:
            self.staged.append(held_out)
        if self.plan.monitor == "accuracy" and record.score == 1.0:
            self.stop_reason = "perfect"
        elif self.time_limit.is_over:
            self.stop_reason = "time_limit"
        elif stop or is_last:
            self.stop_reason = "no gain"
        elif record.layer >= self.plan.max_layers:
            self.stop_reason = "max_layers"

    def abandon(self, record: LayerRecord, held_out: Floats) -> None:
        """Record a layer that was given up after its first trees: it is not kept, and growing ends."""
        self.records.append(record)
        if self.keep_held_out:
            self.staged.append(held_out)
        self.stop_reason = "time_limit" if self.time_limit.is_over else "no gain"

    def _noise(self, judged: Judged | None) -> float:
        """Standard error of the gain over the best layer; it needs a score that is a mean over rows."""
        if judged is None or self.plan.monitor != "accuracy":
            return MIN_IMPROVEMENT
        if not len(self.right):
            return 0.0
        return max(MIN_IMPROVEMENT, mean_and_error(judged.right - self.right, judged.weight)[1])

    def result(self, layers: L, plan: P) -> Grown[L, P]:
        """The cascade of the kept `layers`."""
        records = tuple(replace(record, kept=record.layer <= self.n_kept) for record in self.records)
        return Grown(layers, plan, records, self.held_out, tuple(self.staged), self.stop_reason)


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


@dataclass
class Growth(Generic[P]):
    """A forest while it is grown: what it is grown from, and the log of its layers."""

    training: TrainingSet
    plan: P
    run: RunOptions
    #: Points whose score decides instead of the held-out scores of the training points.
    validation: TrainingSet | None = None
    #: Where finished blocks are kept.
    store: BlockStore = in_memory

    def __post_init__(self) -> None:
        self.log = GrowthLog(self.plan, self.run.keep_held_out, self.run.time_limit)
