"""How a cascade of forests classified single rows: layer by layer, vectors, margins, questions asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.deepforest.block import Block, LayerInput
from surewood.tables import by_label, plain
from surewood.trees import FlatForest, trace


def margin_of(scores: Floats) -> float:
    """Distance between the two largest scores; 1 with a single class."""
    if len(scores) < 2:
        return 1.0
    second, best = np.partition(scores, -2)[-2:]
    return float(best - second)


def questions_asked(block: Block, inputs: LayerInput, names: list[str], vectors: bool) -> list[list[Any]]:
    """For each row the features that the layer's trees asked about, most often first.

    Questions about class vectors of earlier layers stand together under "earlier layers"; with `vectors` the
    layer sees nothing else.
    """
    matrix = inputs.matrix
    n_table = 0 if vectors else len(names)
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
        [{"feature": labels[j], "questions": int(own[j])} for j in np.argsort(-own, kind="stable") if own[j]]
        for own in counts
    ]


def layer_entry(
    number: int,
    weight: float,
    kinds: list[str],
    vectors: Floats,
    scores: Floats,
    asked: list[Any],
    classes: Any,
) -> dict[str, Any]:
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
        "features": asked,
    }


def told_rows(
    kind: str, classes: Any, proba: Floats, scores: Floats, layers: list[list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Prediction, probabilities and layers of every row; `layers` has one list a row."""
    return [
        {
            "kind": kind,
            "prediction": plain(classes[proba[row].argmax()]),
            "probabilities": by_label(classes, proba[row]),
            "votes": by_label(classes, scores[row]),
            "margin": margin_of(scores[row]),
            "layers": layers[row],
        }
        for row in range(len(proba))
    ]
