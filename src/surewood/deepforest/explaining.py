"""How a cascade of forests classified single rows: layer by layer, class vectors, margins and splits."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.deepforest.block import Block
from surewood.deepforest.cascade_layers import CascadeLayers
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.margin_layers import MarginLayers
from surewood.deepforest.model import CascadeForestModel, DeepForestModel, MarginForestModel
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
    if isinstance(model, MarginForestModel):
        scores = _explain_margin_layers(model.layers, base, model.kinds, names, classes, layers, n_jobs)
    else:
        assert isinstance(model, CascadeForestModel)
        scores = _explain_cascade_layers(model.layers, base, model.kinds, names, classes, layers, n_jobs)
    return [
        {"votes": by_label(classes, own), "margin": margin_of(own), "layers": layers[row]}
        for row, own in enumerate(scores)
    ]


def _explain_margin_layers(
    model: MarginLayers,
    base: LayerInput,
    kinds: list[str],
    names: list[str],
    classes: Any,
    out: list[list[Entry]],
    n_jobs: int | None,
) -> Floats:
    """Append an entry per layer to the list of each row; return the final scores."""
    alphas, scores = model.alphas(), np.zeros((0, 0))
    for number, (inputs, vectors, scores) in enumerate(model.walk(base, n_jobs)):
        only_vectors = model.layer_inputs == "scores" and number > 0
        splits = count_splits(model.layers[number].block, inputs, names, only_vectors)
        weight = alphas[number] / sum(alphas)
        for row, own in enumerate(out):
            own.append(
                layer_entry(number + 1, weight, kinds, vectors[:, row], scores[row], splits[row], classes)
            )
    return scores


def _explain_cascade_layers(
    model: CascadeLayers,
    base: LayerInput,
    kinds: list[str],
    names: list[str],
    classes: Any,
    out: list[list[Entry]],
    n_jobs: int | None,
) -> Floats:
    """The same for rows that may stop at a gate."""
    scores = np.zeros((0, 0))
    for number, (here, inputs, vectors, scores) in enumerate(model.walk(base, n_jobs)):
        if not len(here):
            break
        layer = model.layers[number]
        splits = count_splits(layer.block, inputs, names, only_vectors=False)
        for k, row in enumerate(here):
            entry = layer_entry(number + 1, 1.0, kinds, vectors[:, k], scores[row], splits[k], classes)
            out[row].append({**entry, "gate": plain(layer.gate)})
    return scores


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
        feature = np.minimum(model.read_nodes(traces.node)[1] >> 10, n_table)
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
