"""The layers that predict: those of a margin forest add up, those of a cascade forest follow each other.

:class:`MarginLayers` is the weighted sum of its layers' class vectors, and each layer reads the sum before it
(theory.md (4.1), [D-29]). Of :class:`CascadeLayers` each reads the class vectors of the layer before, and the
last one predicts (theory.md §5); with screening, points that a layer is sure of stop there, in prediction as
in training. Importances are traced through the layers: that of class vectors is passed on to what they were
made from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from surewood._arrays import Floats, Ints, check_number
from surewood.deepforest.blocks import Block
from surewood.deepforest.data import LayerInput, widen
from surewood.deepforest.margins import add_layer, add_weight
from surewood.trees.binning import BinMapper

_LARGEST_STEP = 1e9

#: Rows that reach a layer, their input and class vectors (n_members, rows, n_classes), and the scores of all
#: rows after it.
WalkedLayer: TypeAlias = tuple[Ints, LayerInput, Floats, Floats]


@dataclass(frozen=True)
class MarginLayer:
    """One layer."""

    block: Block
    #: Bins of the scores that the layer reads; None for the first layer and for layers that see only the
    #: table.
    vector_bins: BinMapper | None
    #: α, or β in simplex mode.
    step: float
    #: Impurity importances of the layer's inputs.
    importances: Floats

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("step", self.step, 0.0, _LARGEST_STEP)


@dataclass(frozen=True)
class MarginLayers:
    """All kept layers; `mode` and `layer_inputs` as in the plan."""

    layers: Sequence[MarginLayer]
    mode: str
    layer_inputs: str

    def alphas(self) -> tuple[float, ...]:
        """Weight of each layer in the final score."""
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            alphas = add_weight(alphas, layer.step, self.mode)
        return alphas

    def weights(self) -> list[float]:
        """The same, summing to 1."""
        alphas = self.alphas()
        return [alpha / sum(alphas) for alpha in alphas]

    def walk(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[WalkedLayer]:
        """Layer by layer; scores are scaled so that rows sum to 1."""
        rows = np.arange(base.matrix.n_rows)
        scores: Floats | None = None
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            inputs = base
            if scores is not None and layer.vector_bins is not None:
                inputs = widen(base, scores, layer.vector_bins, self.layer_inputs)
            vectors = layer.block.vectors(inputs, n_jobs)
            mean = vectors.mean(axis=0)
            scores = layer.step * mean if scores is None else add_layer(scores, mean, layer.step, self.mode)
            alphas = add_weight(alphas, layer.step, self.mode)
            yield rows, inputs, vectors, scores / (1.0 if self.mode == "simplex" else sum(alphas))

    def importances(self) -> Floats:
        """Importances of the table's columns, summing to 1 if any is positive."""
        traced: list[Floats] = []
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            earlier = _mixed(traced, alphas) if traced else None
            traced.append(trace_layer(layer.importances, earlier, self.layer_inputs != "scores"))
            alphas = add_weight(alphas, layer.step, self.mode)
        return _mixed(traced, alphas)


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
    layer_inputs: ClassVar[str] = "both"

    def weights(self) -> list[float]:
        """Each layer replaces the scores of the one before."""
        return [1.0] * len(self.layers)

    def walk(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[WalkedLayer]:
        """Layer by layer, each with the rows that no layer before was sure of."""
        n_rows = base.matrix.n_rows
        out = np.zeros((n_rows, self.layers[0].block.n_classes))
        active, inputs, gate = np.arange(n_rows), base, math.inf
        vectors = np.zeros((0, 0, 0))
        for layer in self.layers:
            if not math.isinf(gate):
                stays = out[active].max(axis=1) < gate
                active, vectors = active[stays], vectors[:, stays]
            if len(active):
                if layer.vector_bins is not None:
                    inputs = widen(base.take(active), side_by_side(vectors), layer.vector_bins, "both")
                vectors = layer.block.vectors(inputs, n_jobs)
                out[active] = vectors.mean(axis=0)
            yield active, inputs, vectors, out.copy()
            gate = layer.gate

    def importances(self) -> Floats:
        """Importances of the table's columns."""
        traced = self.layers[0].importances
        for layer in self.layers[1:]:
            traced = trace_layer(layer.importances, traced)
        return traced


def side_by_side(vectors: Floats) -> Floats:
    """(n_members, n_rows, n_classes) as (n_rows, n_members · n_classes)."""
    return np.concatenate(list(vectors), axis=1)


def trace_layer(importances: Floats, earlier: Floats | None, sees_table: bool = True) -> Floats:
    """Importances of the table's columns for one layer.

    Parameters
    ----------
    importances : ndarray of float64
        Of the layer's inputs: the table's columns (if it saw them), then class-vector columns.
    earlier : ndarray of float64, shape (n_features,), or None
        Traced importances, summing to 1, of what the class-vector columns are; None for the first layer.
    sees_table : bool
        Whether a later layer saw the table's columns at all.

    Examples
    --------
    >>> trace_layer(np.array([0.2, 0.0, 0.8]), np.array([0.5, 0.5])).round(2).tolist()
    [0.6, 0.4]
    """
    if earlier is None:
        return importances
    direct = importances[: len(earlier)] if sees_table else np.zeros(len(earlier))
    return np.asarray(direct + (importances.sum() - direct.sum()) * earlier)


def _mixed(traced: Sequence[Floats], alphas: Sequence[float]) -> Floats:
    """Importances of a weighted sum of layers, summing to 1 if any is positive."""
    total = np.sum([alpha * layer for alpha, layer in zip(alphas, traced)], axis=0)
    mass = total.sum()
    return np.asarray(total / mass if mass > 0 else total)
