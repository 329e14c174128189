"""How a forest came to its predictions: the path, the leaf and the vote of every tree."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from surewood.forest.model import ForestModel
from surewood.tables import ColumnReader, Table, TableSchema, by_label, plain
from surewood.trees.tracing import trace


def explain_rows(
    model: ForestModel, table: Table, schema: TableSchema, classes: NDArray[Any]
) -> list[dict[str, Any]]:
    """One dictionary per row: ``features`` (splits met on each, most first) and ``trees``."""
    traces = trace(model.trees, model.binned(table), model.mapper)
    reader = ColumnReader(table, schema)

    def one_tree(row: int, tree: int) -> dict[str, Any]:
        leaf = int(traces.leaf[row, tree] - model.trees.node_start[tree])
        votes = model.trees.class_vector(tree, leaf)
        return {
            "tree": tree,
            "leaf": leaf,
            "path": traces.path(row, tree, reader),
            "votes": by_label(classes, votes),
            "vote": plain(classes[votes.argmax()]),
        }

    return [
        {
            "features": traces.splits(row, reader),
            "trees": [one_tree(row, tree) for tree in range(model.trees.n_trees)],
        }
        for row in range(table.n_rows)
    ]
