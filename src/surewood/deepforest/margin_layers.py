"""The layers of a margin forest and how their class vectors add up (theory.md (4.1), [D-29])."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from surewood._arrays import Floats, check_number
from surewood.deepforest.additive import add_layer, add_weight
from surewood.deepforest.block import Block
from surewood.deepforest.importances import mix, trace_layer
from surewood.deepforest.layer_input import LayerInput, widen
from surewood.trees import BinMapper

_LARGEST_STEP = 1e9


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

    def __len__(self) -> int:
        return len(self.layers)

    def staged_scores(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[Floats]:
        """f_1, f_2, ... of new points, rows scaled to sum to 1."""
        for _, _, scores in self.walk(base, n_jobs):
            yield scores

    def walk(self, base: LayerInput, n_jobs: int | None = 1) -> Iterator[tuple[LayerInput, Floats, Floats]]:
        """Input, vectors (n_members, n_rows, n_classes) and scores after each layer."""
        scores: Floats | None = None
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            inputs = base
            if scores is not None and layer.vector_bins is not None:
                inputs = widen(base, scores, layer.vector_bins, self.layer_inputs)
            members = layer.block.vectors(inputs, n_jobs)
            vectors = members.mean(axis=0)
            scores = layer.step * vectors if scores is None else self._add(scores, vectors, layer)
            alphas = add_weight(alphas, layer.step, self.mode)
            yield inputs, members, scores / (1.0 if self.mode == "simplex" else sum(alphas))

    def _add(self, scores: Floats, vectors: Floats, layer: MarginLayer) -> Floats:
        return add_layer(scores, vectors, layer.step, self.mode)

    def alphas(self) -> tuple[float, ...]:
        """Weight of each layer in the final score."""
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            alphas = add_weight(alphas, layer.step, self.mode)
        return alphas

    def importances(self, n_features: int) -> Floats:
        """Importances of the table's columns, traced through the layers."""
        traced: list[Floats] = []
        alphas: tuple[float, ...] = ()
        for layer in self.layers:
            earlier = mix(traced, alphas) if traced else None
            traced.append(trace_layer(layer.importances, n_features, earlier, self.layer_inputs != "scores"))
            alphas = add_weight(alphas, layer.step, self.mode)
        return mix(traced, alphas)
