"""A tree as a table of nodes, and the splits on the way to a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surewood.trees import node_codec
from surewood.trees.binning import MISSING_CODE, BinMapper

if TYPE_CHECKING:
    from surewood.trees.flat_tree import FlatForest


@dataclass(frozen=True)
class Split:
    """One step on the way to a leaf: the decision rule of a node, and which side the path takes.

    ``threshold`` is the raw value up to which numbers go left; ``categories`` the codes that go left (None
    for a number column); ``went_left`` the side of this path, ``missing_left`` where missing
    values go.

    Examples
    --------
    >>> from surewood.trees import Split
    >>> split = Split(feature=2, threshold=1.5, categories=None, went_left=True, missing_left=False)
    >>> f"column {split.feature} {'<=' if split.went_left else '>'} {split.threshold}"
    'column 2 <= 1.5'
    """

    feature: int
    threshold: float
    categories: tuple[int, ...] | None
    went_left: bool
    missing_left: bool


def tree_table(forest: FlatForest, tree: int) -> dict[str, NDArray[Any]]:
    """The columns of :meth:`FlatForest.table`."""
    content, word = forest.read_nodes(np.arange(forest.node_start[tree], forest.node_start[tree + 1]))
    split, category = node_codec.is_split(word), node_codec.is_category(word)
    left = np.where(split, content, -1)
    pool = forest.category_left[forest.category_start[tree] : forest.category_start[tree + 1]]
    left[category] = pool[left[category]]
    parent = np.full(len(word), -1)
    at = np.flatnonzero(split)
    parent[left[at]] = at
    parent[left[at] + 1] = at
    depth = np.zeros(len(word), dtype=np.int64)
    level = np.zeros(1, dtype=np.int64)
    while len(level := level[split[level]]):
        level = np.concatenate([left[level], left[level] + 1])
        depth[level] = depth[parent[level[0]]] + 1
    return {
        "feature": np.where(split, node_codec.feature_of(word), -1),
        "last_bin": np.where(split & ~category, node_codec.last_bin(word), -1),
        "missing_left": node_codec.missing_left(word),
        "is_category": category,
        "left": left,
        "right": np.where(split, left + 1, -1),
        "depth": depth,
        "parent": parent,
    }


def tree_paths(forest: FlatForest, tree: int, ends: Sequence[int], mapper: BinMapper) -> list[list[Split]]:
    """The splits from the root to each of some nodes of a tree."""
    table = tree_table(forest, tree)
    known: dict[int, Split] = {}  # by the node that the side taken leads to: paths begin alike
    paths = []
    for node in ends:
        path: list[Split] = []
        while table["parent"][node] >= 0:
            if node not in known:
                known[node] = _split_above(forest, tree, node, table, mapper)
            path.append(known[node])
            node = int(table["parent"][node])
        paths.append(path[::-1])
    return paths


def _split_above(
    forest: FlatForest, tree: int, node: int, table: dict[str, NDArray[Any]], mapper: BinMapper
) -> Split:
    """The split at the parent of a node."""
    parent = int(table["parent"][node])
    feature = int(table["feature"][parent])
    went_left = bool(table["left"][parent] == node)
    if not table["is_category"][parent]:
        threshold = float(mapper.edges[mapper.offset[feature] + int(table["last_bin"][parent])])
        return Split(feature, threshold, None, went_left, bool(table["missing_left"][parent]))
    entry = int(forest.read_nodes(forest.node_start[[tree]] + parent)[0][0])
    codes = node_codec.set_members(forest.category_set[forest.category_start[tree] + entry])
    size = int(mapper.offset[feature + 1] - mapper.offset[feature])
    return Split(feature, np.nan, tuple(c for c in codes if c < size), went_left, MISSING_CODE in codes)
