"""The way of rows through trees: which splits they meet, and which leaf they reach.

:func:`trace` sends a few rows through all trees of a forest at once and remembers every node; `Traces` gives
the splits of one row in one tree as plain values. The cost is that of the rows' own paths, however large
the trees are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Ints
from surewood.tables import ColumnReader
from surewood.trees import node_codec
from surewood.trees.binning import BinMapper, BinnedMatrix
from surewood.trees.flat_tree import FlatForest


@dataclass(frozen=True)
class Traces:
    """Paths of rows, by (row, tree) and then from the root down.

    Attributes
    ----------
    node : ndarray of int64
        Splits met, as numbers of nodes over all trees.
    went_left : ndarray of bool
    start : ndarray of int64, shape (n_rows * n_trees + 1,)
        Where the path of each (row, tree) begins.
    leaf : ndarray of int64, shape (n_rows, n_trees)
        Where each ends, numbered over all trees.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import ColumnReader, TableSchema
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> from surewood.trees.tracing import trace
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> matrix, schema = bin_array(X), TableSchema.learn(X)
    >>> forest = grow_forest(matrix, np.array([0, 0, 1, 1]), 2, TreeParams(), n_trees=1, seed=0).forest
    >>> trace(forest, matrix, matrix.mapper).path(0, 0, ColumnReader(schema.read(X), schema))
    [{'feature': 'x0', 'operator': '<=', 'value': 1.5, 'actual': 0.0}]
    """

    forest: FlatForest
    mapper: BinMapper
    node: Ints
    went_left: NDArray[np.bool_]
    start: Ints
    leaf: Ints

    def path(self, row: int, tree: int, reader: ColumnReader) -> list[dict[str, Any]]:
        """Splits met by one row: feature, operator and value that hold for it, its actual value.

        A value of None followed the side of missing values.
        """
        pair = row * self.forest.n_trees + tree
        steps = range(int(self.start[pair]), int(self.start[pair + 1]))
        return [self._step(k, row, tree, reader) for k in steps]

    def _step(self, k: int, row: int, tree: int, reader: ColumnReader) -> dict[str, Any]:
        at, word = self.forest.read_nodes(self.node[[k]])
        feature, left = int(node_codec.feature_of(word)[0]), bool(self.went_left[k])
        step: dict[str, Any] = {"feature": reader.names[feature]}
        if node_codec.is_category(word)[0]:
            step["operator"] = "in" if left else "not in"
            step["value"] = self._categories(tree, int(at[0]), feature, reader)
        else:
            last = int(node_codec.last_bin(word)[0])
            step["operator"] = "<=" if left else ">"
            step["value"] = float(self.mapper.edges[int(self.mapper.offset[feature]) + last])
            if not np.isfinite(step["value"]):
                step["operator"], step["value"] = ("is not missing" if left else "is missing"), None
        step["actual"] = reader.actual(row, feature)
        return step

    def _categories(self, tree: int, entry: int, feature: int, reader: ColumnReader) -> list[Any]:
        members = set(
            node_codec.set_members(self.forest.category_set[self.forest.category_start[tree] + entry])
        )
        values = reader.categories(feature)
        bins = self.mapper.category_bins.get(feature)
        codes = range(len(values)) if bins is None else bins.tolist()
        return [v for v, code in zip(values, codes) if code in members]

    def splits(self, row: int, reader: ColumnReader) -> list[dict[str, Any]]:
        """Features on the paths of a row, and how often over all trees, most often first."""
        n_trees = self.forest.n_trees
        span = slice(int(self.start[row * n_trees]), int(self.start[(row + 1) * n_trees]))
        feature = self.forest.features_of(self.node[span])
        met = np.bincount(feature, minlength=len(reader.names))
        order = np.argsort(-met, kind="stable")
        return [{"feature": reader.names[j], "splits": int(met[j])} for j in order if met[j]]


def trace(
    forest: FlatForest, matrix: BinnedMatrix, mapper: BinMapper, stops: NDArray[np.bool_] | None = None
) -> Traces:
    """Send every row of a small matrix through every tree; paths end early at nodes in `stops`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> from surewood.trees.tracing import trace
    >>> matrix = bin_array(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> forest = grow_forest(matrix, np.array([0, 0, 1, 1]), 2, TreeParams(), n_trees=1, seed=0).forest
    >>> trace(forest, matrix, matrix.mapper).went_left.tolist()
    [True, True, False, False]
    """
    codes = np.concatenate(matrix.blocks, axis=0)
    n_rows, n_trees = matrix.n_rows, forest.n_trees
    pair = np.arange(n_rows * n_trees)
    at = np.tile(np.asarray(forest.node_start[:-1], dtype=np.int64), n_rows)
    leaf = at.copy()
    pairs, nodes, sides = [pair[:0]], [at[:0]], [np.zeros(0, dtype=bool)]
    while True:
        inner = node_codec.is_split(forest.read_nodes(at)[1])
        if stops is not None:
            inner &= ~stops[at]
        leaf[pair[~inner]] = at[~inner]
        pair, at = pair[inner], at[inner]
        if not len(at):
            break
        child, left = _descend(forest, codes, pair // n_trees, pair % n_trees, at)
        pairs.append(pair)
        nodes.append(at)
        sides.append(left)
        at = child
    owner = np.concatenate(pairs)
    order = np.argsort(owner, kind="stable")  # levels came one after another, so depth stays sorted
    start = np.zeros(n_rows * n_trees + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=n_rows * n_trees), out=start[1:])
    node, went_left = np.concatenate(nodes)[order], np.concatenate(sides)[order]
    return Traces(forest, mapper, node, went_left, start, leaf.reshape(n_rows, n_trees))


def _descend(
    forest: FlatForest, codes: NDArray[np.uint8], row: Ints, tree: Ints, at: Ints
) -> tuple[Ints, NDArray[np.bool_]]:
    """The next node of each path, and whether it lies to the left."""
    left, word = forest.read_nodes(at)
    code = codes[node_codec.feature_of(word), row].astype(np.int64)
    goes_left = node_codec.goes_left(word, code)
    category = np.flatnonzero(node_codec.is_category(word))
    if len(category):
        entry = forest.category_start[tree[category]] + left[category]
        left[category] = forest.category_left[entry]
        goes_left[category] = node_codec.in_set(forest.category_set[entry], code[category])
    return forest.node_start[tree] + left + ~goes_left, goes_left
