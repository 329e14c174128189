"""The layers of a cascade forest: each reads the class vectors of the one before (theory.md §5).

With screening, points that a layer is sure of stop there, in prediction as in training.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.deepforest.block import Block
from surewood.deepforest.importances import trace_layer
from surewood.deepforest.layer_input import LayerInput, widen
from surewood.trees import BinMapper


@dataclass(frozen=True)
class CascadeLayer:
    """One layer."""

    block: Block
    #: Bins of the class vectors that the layer reads; None for the first layer.
    vector_bins: BinMapper | None
    #: Confidence from which points stop at this layer; infinite without screening.
    gate: float
    #: Impurity importances of the layer's inputs.
    importances: Floats


@dataclass(frozen=True)
class CascadeLayers:
    """All kept layers; the mean vector of the last one is the prediction of points that reach it."""

    layers: Sequence[CascadeLayer]

    def __len__(self) -> int:
        return len(self.layers)

    def staged_scores(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[Floats]:
        """Class vectors of new points after 1, 2, ... layers."""
        for _, _, _, out in self.walk(base, n_jobs):
            yield out

    def walk(
        self, base: LayerInput, n_jobs: int | None = 1
    ) -> Iterator[tuple[NDArray[np.int64], LayerInput, Floats, Floats]]:
        """Rows in play, their input and vectors (n_members, rows, n_classes), and the scores of all rows."""
        n_rows = base.matrix.n_rows
        out = np.zeros((n_rows, self.layers[0].block.n_classes))
        active, inputs = np.arange(n_rows), base
        vectors = np.zeros((0, 0, 0))
        for number, layer in enumerate(self.layers):
            if number:
                active, vectors = _still_in_play(active, vectors, out, self.layers[number - 1].gate)
            if len(active):
                if number and layer.vector_bins is not None:
                    inputs = widen(base.take(active), side_by_side(vectors), layer.vector_bins, "both")
                vectors = layer.block.vectors(inputs, n_jobs)
                out[active] = vectors.mean(axis=0)
            yield active, inputs, vectors, out.copy()

    def importances(self, n_features: int) -> Floats:
        """Importances of the table's columns, traced through the layers."""
        traced = self.layers[0].importances
        for layer in self.layers[1:]:
            traced = trace_layer(layer.importances, n_features, traced)
        return traced


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
