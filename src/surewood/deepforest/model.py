"""The frozen fitted model of each cascade: everything that prediction, evidence and reports read.

Nothing here depends on the current parameters of an estimator: what a fit compared and kept is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.deepforest.cascade_layers import CascadeLayers
from surewood.deepforest.depth_schedules import Schedule
from surewood.deepforest.layer_input import InputReader
from surewood.deepforest.margin_layers import MarginLayers
from surewood.deepforest.records import Comparisons, LayerRecord
from surewood.deepforest.reweighting import WeightRule
from surewood.deepforest.spilling import SpillFolder
from surewood.estimators.calibration import ScoreCalibrator
from surewood.estimators.importances import normalised
from surewood.tables import Table

_ROWS_AT_ONCE = 2**16  # rows predicted together: class vectors of all forests stay small


@dataclass(frozen=True)
class HeldOut:
    """Scores of the training rows from models that did not see them."""

    #: At the kept layer, in the user's order; NaN for rows of weight 0 and for validation rows. Shape
    #: (n_rows, n_classes).
    scores: Floats
    #: Class codes of all rows. Shape (n_rows,).
    labels: NDArray[np.int32]
    #: Scores after each layer, where they were to be kept.
    staged: tuple[Floats, ...]


@dataclass(frozen=True)
class DeepForestModel:
    """What the models of both algorithms share."""

    #: The kept layers.
    layers: MarginLayers | CascadeLayers
    #: From a table to the input of the first layer.
    reader: InputReader
    calibrator: ScoreCalibrator | None
    #: All layers that were grown, kept or not.
    records: tuple[LayerRecord, ...]
    #: Kind and number of trees of each forest of a layer.
    forests: tuple[tuple[str, int], ...]
    held_out: HeldOut
    #: What the fit compared, and on which rows.
    comparisons: Comparisons
    #: Owner of the files that the trees are mapped from.
    spill: SpillFolder | None
    #: Why growing ended: "no gain", "perfect", "max_layers" or "time_limit"; "" in older model files.
    stop_reason: str = field(default="", kw_only=True)

    @property
    def n_layers(self) -> int:
        """Layers that predict."""
        return len(self.layers)

    @property
    def kinds(self) -> list[str]:
        """Kind of each forest of a layer."""
        return [kind for kind, _ in self.forests]

    def calibrated(self, scores: Floats) -> Floats:
        """Probabilities of scores."""
        return np.asarray(scores if self.calibrator is None else self.calibrator.transform(scores))

    def probabilities(self, table: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of a table in memory."""
        inputs = self.reader.read(table)
        parts = []
        for start in range(0, inputs.matrix.n_rows, _ROWS_AT_ONCE):
            *_, scores = self.layers.staged_scores(inputs.span(start, start + _ROWS_AT_ONCE), n_jobs)
            parts.append(self.calibrated(scores))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def staged_scores(self, table: Table, n_jobs: int | None) -> Iterator[Floats]:
        """Uncalibrated scores after 1, 2, ... layers."""
        return self.layers.staged_scores(self.reader.read(table), n_jobs)

    def importances(self, n_features: int) -> Floats:
        """Importances of the table's columns, summing to 1 if any tree has a split."""
        return normalised(self.layers.importances(n_features))


@dataclass(frozen=True)
class MarginForestModel(DeepForestModel):
    """A fitted margin forest."""

    layers: MarginLayers
    #: Growth rate of the depth, one per forest.
    schedule: Schedule
    #: The rule in force ("chosen" resolved).
    weights: WeightRule

    @property
    def alphas(self) -> Floats:
        """Weight of each kept layer in the final score."""
        return np.array(self.layers.alphas())


@dataclass(frozen=True)
class CascadeForestModel(DeepForestModel):
    """A fitted cascade forest."""

    layers: CascadeLayers

    @property
    def gates(self) -> Floats:
        """Confidence from which points stop at each kept layer."""
        return np.array([layer.gate for layer in self.layers.layers])


M = TypeVar("M", bound=DeepForestModel)


def without_held_out(model: M) -> M:
    """The same model without the scores of its training rows, for a member of a mixture."""
    nothing = HeldOut(np.empty((0, model.held_out.scores.shape[1])), np.empty(0, dtype=np.int32), ())
    return replace(model, held_out=nothing)
