"""How a cascade of forests classified single rows: layer by layer, class vectors, margins and splits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surewood._arrays import Floats, Ints
from surewood.deepforest.block import Block
from surewood.deepforest.cascade_layers import CascadeLayers
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.margin_layers import MarginLayers
from surewood.deepforest.model import DeepForestModel, MarginForestModel
from surewood.tables import Table, TableSchema, by_label, column_names, plain
from surewood.trees import FlatForest, trace

Entry = dict[str, Any]


def explain_rows(
    model: DeepForestModel, table: Table, schema: TableSchema, classes: Any, n_jobs: int | None = None
) -> list[Entry]:
    """Votes, margin and layers of every row: what ``explain`` adds to the predictions."""
    names = column_names(schema, table.n_columns)
    base = model.reader.read(table)
    layers: list[list[Entry]] = [[] for _ in range(table.n_rows)]
    scores = np.zeros((table.n_rows, len(classes)))
    steps = _margin_steps if isinstance(model, MarginForestModel) else _cascade_steps
    for number, step in enumerate(steps(model, base, n_jobs), start=1):
        scores = step.scores
        splits = count_splits(step.block, step.inputs, names, step.only_vectors)
        for k, row in enumerate(step.rows):
            own = step.vectors[:, k]
            entry = layer_entry(number, step.weight, model.kinds, own, scores[row], splits[k], classes)
            layers[row].append({**entry, **step.details})
    return [
        {"votes": by_label(classes, own), "margin": margin_of(own), "layers": layers[row]}
        for row, own in enumerate(scores)
    ]


@dataclass(frozen=True)
class _Step:
    """One layer: the rows that reach it, their input and class vectors, and the scores of all rows."""

    block: Block
    rows: Ints
    inputs: LayerInput
    vectors: Floats
    scores: Floats
    weight: float
    only_vectors: bool = False
    details: Entry = field(default_factory=dict)


def _margin_steps(model: Any, base: LayerInput, n_jobs: int | None) -> Iterator[_Step]:
    layers: MarginLayers = model.layers
    alphas, rows = layers.alphas(), np.arange(base.matrix.n_rows)
    for number, (inputs, vectors, scores) in enumerate(layers.walk(base, n_jobs)):
        only_vectors = layers.layer_inputs == "scores" and number > 0
        weight = alphas[number] / sum(alphas)
        yield _Step(layers.layers[number].block, rows, inputs, vectors, scores, weight, only_vectors)


def _cascade_steps(model: Any, base: LayerInput, n_jobs: int | None) -> Iterator[_Step]:
    layers: CascadeLayers = model.layers
    for layer, (rows, inputs, vectors, scores) in zip(layers.layers, layers.walk(base, n_jobs)):
        if not len(rows):
            return
        yield _Step(layer.block, rows, inputs, vectors, scores, 1.0, details={"gate": plain(layer.gate)})


def margin_of(scores: Floats) -> float:
    """Distance between the two largest scores; 1 with a single class."""
    if len(scores) < 2:
        return 1.0
    second, best = np.partition(scores, -2)[-2:]
    return float(best - second)


def count_splits(block: Block, inputs: LayerInput, names: list[str], only_vectors: bool) -> list[list[Entry]]:
    """For each row the features that the layer's trees split on along its paths, most often first.

    Splits on class vectors of earlier layers are counted together as "earlier layers"; with `only_vectors`
    the layer sees nothing else.
    """
    matrix = inputs.matrix
    n_table = 0 if only_vectors else len(names)
    counts = np.zeros((matrix.n_rows, n_table + 1), dtype=np.int64)
    for model in block.models:
        if not isinstance(model, FlatForest):
            continue
        traces = trace(model, matrix, matrix.mapper)
        row = np.repeat(np.arange(matrix.n_rows * model.n_trees) // model.n_trees, np.diff(traces.start))
        feature = np.minimum(model.features_of(traces.node), n_table)
        counts += np.bincount(row * (n_table + 1) + feature, minlength=counts.size).reshape(counts.shape)
    labels = [*names[:n_table], "earlier layers"]
    return [
        [{"feature": labels[j], "splits": int(own[j])} for j in np.argsort(-own, kind="stable") if own[j]]
        for own in counts
    ]


def layer_entry(
    number: int,
    weight: float,
    kinds: list[str],
    vectors: Floats,
    scores: Floats,
    splits: list[Entry],
    classes: Any,
) -> Entry:
    """One layer and one row: `vectors` (n_members, n_classes) of its forests, `scores` after the layer."""
    return {
        "layer": number,
        "weight": plain(weight),
        "vector": by_label(classes, vectors.mean(axis=0)),
        "scores": by_label(classes, scores),
        "margin": margin_of(scores),
        "forests": [
            {"kind": kind, "vector": by_label(classes, own), "vote": plain(classes[own.argmax()])}
            for kind, own in zip(kinds, vectors)
        ],
        "features": splits,
    }
