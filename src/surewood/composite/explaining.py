"""How a composite forest classified single rows: path, leaf, degree and vote of every tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.composite.model import CompositeModel
from surewood.svm import nearest_support
from surewood.tables import ColumnReader, by_label, plain
from surewood.trees import Traces, trace


def explain_rows(
    estimator: Any, table: Any, proba: NDArray[np.float64], origin: NDArray[np.int64] | None
) -> list[dict[str, Any]]:
    """One dictionary a row; `origin` has the training row of every support point."""
    model: CompositeModel = estimator.model_
    matrix, design = estimator.reader_.matrix(table), estimator.reader_.design(table)
    stops = np.zeros(len(model.forest.nodes), dtype=bool)
    stops[model.facts.node] = True
    traces = trace(model.forest, matrix, estimator.reader_.mapper, stops)
    leaf = model.leaf_index(matrix)
    labels = model.labels(matrix, design)
    shares = model.all_shares(matrix, design, estimator.leaf_scores)
    plain_votes = None if model.plain is None else model.plain.predict_proba(matrix)
    reader = ColumnReader(table, estimator.schema_)
    told = []
    for row in range(table.n_rows):
        one = {
            "kind": "composite",
            "prediction": plain(estimator.classes_[proba[row].argmax()]),
            "probabilities": by_label(estimator.classes_, proba[row]),
            "votes": by_label(estimator.classes_, shares[row]),
            "features": traces.questions(row, reader),
            "trees": _trees(estimator.classes_, model, traces, reader, row, leaf[row], labels[row]),
            "support": [],
        }
        if model.predictor is not None:
            one["support"] = nearest_support(model.predictor, design[row], estimator.classes_, origin)
        if plain_votes is not None:
            one["plain_trees"] = {
                "trees": model.plain.n_trees,
                "weight": float(model.plain_share),
                "votes": by_label(estimator.classes_, plain_votes[row]),
            }
        told.append(one)
    return told


def _trees(
    classes: Any,
    model: CompositeModel,
    traces: Traces,
    reader: ColumnReader,
    row: int,
    leaf: NDArray[Any],
    labels: NDArray[Any],
) -> list[dict[str, Any]]:
    facts = model.facts
    first = np.searchsorted(facts.tree, np.arange(model.n_trees))
    return [
        {
            "tree": tree,
            "leaf": int(leaf[tree] - first[tree]),
            "path": traces.path(row, tree, reader),
            "degree": int(facts.degree[leaf[tree]]),
            "points": float(facts.total[leaf[tree]]),
            "correct": float(facts.correct[leaf[tree]]),
            "vote": plain(classes[labels[tree]]),
        }
        for tree in range(model.n_trees)
    ]
