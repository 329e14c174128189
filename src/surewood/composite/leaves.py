"""Leaves of all trees at once: where trees are cut, which rows a leaf holds, which leaves hold the same rows.

* :class:`Topology`: parents, depths and path codes of all nodes of a forest;
* :func:`cut`: the node at which each path stops, for a depth limit and a size limit;
* :class:`IndexSets`: distinct sets of rows, found by their sorted row numbers: equal leaves share SVMs;
* :class:`Leaves` and :func:`collect_leaves`: one entry per leaf, in an order that does not depend on how
  deep the trees were grown, so that a tree cut at depth M and a tree grown to depth M are the same tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.trees import FlatForest

MAX_DEPTH = 60  # a path code has one bit per split
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Topology:
    """Nodes of all trees, one after another.

    Attributes
    ----------
    start : ndarray, shape (n_trees + 1,)
        Where each tree's nodes begin.
    parent, depth : ndarray of int64
        Global number of the parent (-1: root), splits above the node.
    code : ndarray of uint64
        1 for the root, 2p and 2p + 1 for the children of p.
    terminal : ndarray of bool
        Nodes without a split.
    """

    start: Ints
    parent: Ints
    depth: Ints
    code: NDArray[np.uint64]
    terminal: NDArray[np.bool_]

    @classmethod
    def of(cls, forest: FlatForest) -> Topology:
        tables = [forest.table(tree) for tree in range(forest.n_trees)]
        start = np.asarray(forest.node_start, dtype=np.int64)
        parent = np.concatenate(
            [np.where(t["parent"] >= 0, t["parent"] + s, -1) for t, s in zip(tables, start)]
        )
        depth = np.concatenate([t["depth"] for t in tables]).astype(np.int64)
        left = np.concatenate([np.where(t["left"] >= 0, t["left"] + s, -1) for t, s in zip(tables, start)])
        code = np.ones(len(parent), dtype=np.uint64)
        for level in range(1, int(depth.max(initial=0)) + 1):
            at = np.flatnonzero(depth == level)
            above = parent[at]
            code[at] = code[above] * np.uint64(2) + (left[above] != at).astype(np.uint64)
        return cls(start, parent, depth, code, left < 0)

    def sizes(self, assigned: NDArray[Any], bags: Sequence[NDArray[Any]]) -> Ints:
        """Rows of the bags that pass each node."""
        size = np.zeros(len(self.parent), dtype=np.int64)
        for tree, rows in enumerate(bags):
            begin, end = self.start[tree], self.start[tree + 1]
            size[begin:end] = np.bincount(assigned[rows, tree], minlength=end - begin)
        for level in range(int(self.depth.max(initial=0)), 0, -1):
            at = np.flatnonzero(self.depth == level)
            np.add.at(size, self.parent[at], size[at])
        return size


def cut(topology: Topology, max_depth: int, max_size: int | None = None, sizes: Ints | None = None) -> Ints:
    """The node at which a row that ends in each node stops; -1 for nodes above all stops.

    A path stops at the first node that lies at `max_depth` or deeper and holds at most `max_size` rows, or
    where the tree has no further split.
    """
    closed = topology.depth >= max_depth
    if max_size is not None:
        assert sizes is not None
        closed &= sizes <= max_size
    closed |= topology.terminal
    stop = np.where(closed, np.arange(len(closed)), -1)
    for level in range(1, int(topology.depth.max(initial=0)) + 1):
        at = np.flatnonzero(topology.depth == level)
        above = stop[topology.parent[at]]
        stop[at] = np.where(above >= 0, above, stop[at])
    return stop


_MASSES_AT_ONCE = 1 << 20  # class weights of sets in hand at a time


class IndexSets:
    """Distinct sets of training rows and what is known of their classes without an SVM."""

    def __init__(self, y: NDArray[np.int32], weight: NDArray[np.float64] | None, n_classes: int) -> None:
        self._y, self._weight, self._n_classes = y, weight, n_classes
        self._ids: dict[bytes, int] = {}
        self.rows: list[NDArray[np.int32]] = []
        self._table: Floats = np.zeros((0, 4))

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, rows: NDArray[np.int32]) -> int:
        """Number of the set of these rows, given in ascending order."""
        key = blake2b(rows.tobytes(), digest_size=16).digest()
        known = self._ids.get(key)
        if known is not None:
            return known
        self._ids[key] = len(self.rows)
        self.rows.append(rows)
        return self._ids[key]

    def _column(self, k: int) -> Floats:
        if len(self._table) < len(self.rows):
            step = max(1, _MASSES_AT_ONCE // self._n_classes)
            blocks = range(len(self._table), len(self.rows), step)
            new = [self._facts(self.rows[at : at + step]) for at in blocks]
            self._table = np.concatenate([self._table, *new])
        return self._table[:, k]

    def _facts(self, sets: list[NDArray[np.int32]]) -> Floats:
        """Weight, weight of the majority class, that class and the number of classes, one row per set."""
        rows = np.concatenate(sets)
        cell = np.repeat(np.arange(len(sets)) * self._n_classes, [len(own) for own in sets]) + self._y[rows]
        weight = None if self._weight is None else self._weight[rows]
        mass = np.bincount(cell, weights=weight, minlength=len(sets) * self._n_classes)
        mass = mass.reshape(len(sets), self._n_classes).astype(np.float64)
        top = mass.argmax(axis=1)
        # Weights are positive: a class is present where it has some.
        return np.column_stack([mass.sum(axis=1), mass.max(axis=1), top, np.count_nonzero(mass, axis=1)])

    @property
    def total(self) -> Floats:
        """Weight of each set."""
        return self._column(0)

    @property
    def majority_total(self) -> Floats:
        """Weight of each set's majority class."""
        return self._column(1)

    @property
    def majority(self) -> NDArray[np.int32]:
        """Majority class of each set by weight, the lowest code on ties."""
        return self._column(2).astype(np.int32)

    @property
    def pure(self) -> NDArray[np.bool_]:
        """Sets with one class: constant, degree 0, no SVM (theory.md [D-13])."""
        return np.asarray(self._column(3) == 1.0)


@dataclass(frozen=True)
class Leaves:
    """One entry per leaf, sorted by tree and then by path code."""

    tree: Ints
    code: NDArray[np.uint64]
    depth: Ints
    set_id: Ints
    node: Ints  # global number of the node

    def __len__(self) -> int:
        return len(self.tree)

    def of_node(self, stop: Ints) -> NDArray[np.int32]:
        """Leaf in which a row that ends at each node lands, -1 for nodes above the leaves."""
        place = np.full(len(stop) + 1, -1, dtype=np.int32)
        place[self.node] = np.arange(len(self.node), dtype=np.int32)
        return place[stop]  # stop = -1 reads the last entry, which is -1


def collect_leaves(
    topology: Topology,
    stop: Ints,
    assigned: NDArray[Any],
    bags: Sequence[NDArray[np.int32]],
    sets: IndexSets,
    known: dict[int, int] | None = None,
) -> Leaves:
    """Leaves of every tree under a cut, their row sets entered into `sets`.

    `assigned` (n_rows, n_trees) are the nodes in which rows end; `bags` the rows each tree saw, ascending;
    `known` remembers the set of each node from one cut to the next.
    """
    known = {} if known is None else known
    nodes: list[int] = []
    trees: list[int] = []
    ids: list[int] = []
    for tree, rows in enumerate(bags):
        at = stop[topology.start[tree] + assigned[rows, tree].astype(np.int64)]
        order = np.argsort(at, kind="stable")
        ordered = at[order]
        edges = np.flatnonzero(np.diff(ordered, prepend=-1))
        begins = edges.tolist()
        for node, begin, end in zip(ordered[edges].tolist(), begins, [*begins[1:], len(ordered)]):
            if node not in known:
                known[node] = sets.add(rows[order[begin:end]])
            nodes.append(node)
            trees.append(tree)
            ids.append(known[node])
    node_array, tree_array = np.array(nodes, dtype=np.int64), np.array(trees, dtype=np.int64)
    order = np.lexsort((topology.code[node_array], tree_array))
    at = node_array[order]
    return Leaves(tree_array[order], topology.code[at], topology.depth[at], np.array(ids)[order], at)
