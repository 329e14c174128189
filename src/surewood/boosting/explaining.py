"""How boosted trees came to their predictions: scores, the features of the splits, the weightiest trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.boosting.model import BoostedModel
from surewood.tables import ColumnReader, Table, TableSchema, by_label, plain
from surewood.trees.tracing import trace

_SHOWN = 5  # trees per row


def explain_rows(
    model: BoostedModel, table: Table, schema: TableSchema, classes: NDArray[Any]
) -> list[dict[str, Any]]:
    """One dictionary per row: ``scores``, ``features`` (splits met on each) and ``weightiest`` trees."""
    matrix = model.binned(table)
    traces, reader = trace(model.trees, matrix, model.mapper), ColumnReader(table, schema)
    scores, values = model.scores(matrix, 1), model.leaf_values(matrix, 1)
    labels = _outputs(classes)

    def one_tree(row: int, tree: int) -> dict[str, Any]:
        output = int(np.searchsorted(model.output_start, tree, side="right")) - 1
        return {
            "tree": tree,
            "for": labels[output],
            "value": float(values[row, tree]),
            "path": traces.path(row, tree, reader),
        }

    return [
        {
            "scores": by_label(np.array(labels, dtype=object), scores[row]),
            "features": traces.splits(row, reader),
            "weightiest": [
                one_tree(row, int(tree)) for tree in np.argsort(-np.abs(values[row]), kind="stable")[:_SHOWN]
            ],
        }
        for row in range(table.n_rows)
    ]


def _outputs(classes: NDArray[Any]) -> list[Any]:
    """The class that each output speaks for."""
    labels = [plain(label) for label in classes]
    return labels if len(labels) > 2 else labels[1:]
