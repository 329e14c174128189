"""How a composite forest classified single rows: path, leaf, degree and vote of every tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.model import CompositeModel
from surewood.svm import nearest_support
from surewood.tables import ColumnReader, Table, by_label, plain
from surewood.trees import Traces, trace


def explain_rows(model: CompositeModel, table: Table, probabilities: Floats) -> list[dict[str, Any]]:
    """One dictionary per row: votes, splits by column, trees, nearest support vectors.

    `probabilities` are those of the rows, shape (n_rows, n_classes).
    """
    trees = model.trees
    matrix, design = model.reader.matrix(table), model.reader.design(table)
    traces = trace(trees.forest, matrix, model.reader.mapper, _is_leaf(model))
    leaf = trees.leaf_index(matrix)
    labels = trees.labels(matrix, design)
    votes = trees.mean_scores(matrix, design, model.leaf_scores)
    plain_votes = None if trees.plain is None else trees.plain.predict_proba(matrix)
    reader = ColumnReader(table, model.schema)
    explained = []
    for row in range(len(probabilities)):
        one = {
            "votes": by_label(model.classes, votes[row]),
            "features": traces.splits(row, reader),
            "trees": _trees(model, traces, reader, row, leaf[row], labels[row]),
            "support": [],
        }
        if trees.predictor is not None:
            one["support"] = nearest_support(
                trees.predictor, design[row], model.classes, model.support_origin
            )
        if trees.plain is not None and plain_votes is not None:
            one["plain_trees"] = {
                "trees": trees.plain.n_trees,
                "weight": float(trees.plain_weight),
                "votes": by_label(model.classes, plain_votes[row]),
            }
        explained.append(one)
    return explained


def _is_leaf(model: CompositeModel) -> NDArray[np.bool_]:
    """Whether each node of all trees is a leaf of a composite tree."""
    stops = np.zeros(len(model.trees.forest.nodes), dtype=bool)
    stops[model.trees.leaves.node] = True
    return stops


def _trees(
    model: CompositeModel,
    traces: Traces,
    reader: ColumnReader,
    row: int,
    leaf: NDArray[Any],
    labels: NDArray[Any],
) -> list[dict[str, Any]]:
    leaves, first = model.trees.leaves, model.first_leaf
    return [
        {
            "tree": tree,
            "leaf": int(leaf[tree] - first[tree]),
            "path": traces.path(row, tree, reader),
            "degree": int(leaves.degree[leaf[tree]]),
            "points": float(leaves.total[leaf[tree]]),
            "correct": float(leaves.correct[leaf[tree]]),
            "vote": plain(model.classes[labels[tree]]),
        }
        for tree in range(model.n_trees)
    ]
