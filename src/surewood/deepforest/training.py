"""What every cascade is grown from: prepared training data and the options of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import effective_sample_size, margin_ratio
from surewood.deepforest.additive import class_margins
from surewood.deepforest.block import Block, LayerInput
from surewood.deepforest.folds import deal_folds, layer_seed
from surewood.deepforest.records import LayerRecord
from surewood.deepforest.row_order import take_rows
from surewood.deepforest.spilling import SpillFolder


@dataclass(frozen=True)
class TrainingSet:
    """Rows in canonical order, all of positive weight.

    Attributes
    ----------
    inputs : LayerInput
        Input of the first layer.
    y : ndarray of int32
        Class codes.
    classes : ndarray
        Labels of the codes.
    weight : ndarray of float64 or None
        Weights of the rows, mean 1.
    """

    inputs: LayerInput
    y: NDArray[np.int32]
    classes: NDArray[Any]
    weight: Floats | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.int64]) -> TrainingSet:
        """Some of the rows."""
        numbers = None if self.inputs.numbers is None else self.inputs.numbers[rows]
        weight = None if self.weight is None else self.weight[rows] / self.weight[rows].mean()
        inputs = LayerInput(take_rows(self.inputs.matrix, rows), numbers)
        return TrainingSet(inputs, self.y[rows], self.classes, weight)

    def without_numbers(self) -> TrainingSet:
        """The same for forests alone."""
        return replace(self, inputs=LayerInput(self.inputs.matrix))

    def split_off(self, fraction: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows to grow on and rows to validate on, about `fraction` of them, stratified."""
        parts = max(2, round(1.0 / fraction))
        fold = deal_folds(self.y, parts, layer_seed(seed, 0, 1))
        return np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)


@dataclass(frozen=True)
class RunOptions:
    """How to run, with no influence on the result.

    `scores_only` drops every block once its layer has been judged: enough to compare settings.
    """

    n_jobs: int | None = 1
    verbose: int = 0
    spill: SpillFolder | None = None
    keep_held_out: bool = False
    scores_only: bool = False

    def settle(self, block: Block, name: str) -> Block:
        """The block where it is to stay: in memory or on disk."""
        return block if self.spill is None else self.spill.store(block, name)


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
    share = 1.0 if weight is None else effective_sample_size(weight) / len(weight)
    return LayerRecord(
        layer=layer,
        score=score,
        accuracy=float(np.average(scores.argmax(axis=1) == y, weights=own)),
        layer_accuracy=float(np.average(vectors.argmax(axis=1) == y, weights=own)),
        margin_ratio=margin_ratio(class_margins(scores, y), own),
        step=step,
        effective_sample_size=share,
        n_points=n_points,
        n_trees=block.n_trees,
        max_depth=None if None in max_depth else max(d for d in max_depth if d is not None),
        seconds=seconds,
        model_bytes=block.nbytes,
    )
