"""Trees before their leaves are filled: how they are grown, cut at a depth, and which rows their leaves hold.

* :class:`Setting`: everything about a composite tree except its data, its seed and its number;
* :class:`Topology` and :func:`cut`: parents, depths and path codes of all nodes, and the node at which each
  path stops when trees are cut at a depth;
* :class:`Grove`, :func:`grow`: trees of the engine, nested in depth;
* :class:`IndexSets`: distinct sets of rows, found by their sorted row numbers: equal leaves share SVMs;
* :class:`Leaves`, :func:`collect_leaves`: one entry per leaf, in an order that does not depend on how deep
  the trees were grown, so that a tree cut at depth M and a tree grown to depth M are the same tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats, Ints
from surewood.composite.data import CompositeData
from surewood.trees.flat_tree import FlatForest
from surewood.trees.growing import Bag, Grown, TreeParams, grow_forest, make_bag

MAX_DEPTH = 60  # a path code has one bit per split
_MASSES_AT_ONCE = 1 << 20  # class weights of sets in hand at a time


@dataclass(frozen=True)
class Setting:
    """Everything about a composite tree except its data, its seed and its number."""

    #: Splits above a leaf; features drawn at a node.
    max_depth: int
    max_features: int
    #: Degrees in ascending order and one C per degree, scaled by leaf (2.12). A common degree is a tuple of
    #: one.
    degrees: tuple[int, ...]
    C: tuple[float, ...]
    #: Multiplier of the complexity term of the criterion (2.9).
    gamma_scale: float
    #: Complexities of the families that leaves choose from: `degrees` are their numbers 1, 2, ... Empty for
    #: SVMs.
    family_complexity: tuple[float, ...] = ()
    #: "exact", "theorem", "random_sequences" or "random_degree".
    selection: str = "exact"
    #: Leaves with more rows are split further, beyond `max_depth`.
    max_size: int | None = None
    #: Offer degree 0, the majority class, at every leaf.
    constant_leaves: bool = False
    #: Form of the growth function in the criterion ([D-01]).
    growth: str = "capped"
    #: How the rows of a tree are drawn, and how many.
    sampling: str = "all"
    n_draws: int | None = None
    min_weight_fraction_leaf: float = 0.0

    @property
    def offered(self) -> NDArray[np.int64]:
        """Degrees a leaf may have, 0 first where it is offered."""
        return np.array(((0,) if self.constant_leaves else ()) + self.degrees, dtype=np.int64)


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
        return cls.of_tables([forest.table(tree) for tree in range(forest.n_trees)])

    @classmethod
    def of_tables(cls, tables: Sequence[Mapping[str, NDArray[Any]]]) -> Topology:
        """From `parent`, `left` (-1: none) and `depth` of the nodes of every tree."""
        start = np.cumsum([0, *(len(t["parent"]) for t in tables)])
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


def cut(topology: Topology, max_depth: int) -> Ints:
    """The node at which a row that ends in each node stops; -1 for nodes above all stops.

    A path stops at `max_depth`, or where the tree has no further split.
    """
    closed = (topology.depth >= max_depth) | topology.terminal
    stop = np.where(closed, np.arange(len(closed)), -1)
    for level in range(1, int(topology.depth.max(initial=0)) + 1):
        at = np.flatnonzero(topology.depth == level)
        above = stop[topology.parent[at]]
        stop[at] = np.where(above >= 0, above, stop[at])
    return stop


@dataclass(frozen=True)
class Grove:
    """Grown trees before they are cut into leaves."""

    #: What the engine returned.
    grown: Grown
    topology: Topology
    #: Node, within its tree, in which each row of the table ends. Shape (n_rows, n_trees).
    assigned: NDArray[np.uint32]
    #: Rows that each tree saw, ascending.
    bags: list[NDArray[np.int32]]

    @property
    def forest(self) -> FlatForest:
        return self.grown.forest

    def outside(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of `rows`, ascending, each tree did not see; all bags lie in them. Shape (rows, trees)."""
        outside = np.ones((len(rows), len(self.bags)), dtype=bool)
        for tree, bag in enumerate(self.bags):
            outside[np.searchsorted(rows, bag), tree] = False
        return outside

    def sample_size(self, data: CompositeData) -> Floats:
        """Weight that each tree saw, m of theory.md §2 (distinct rows, [D-14])."""
        return np.array([data.total(rows) for rows in self.bags])


@dataclass(frozen=True)
class TreeRange:
    """Some trees of the forest with this seed, and the rows that they may see (by default all)."""

    n_trees: int
    seed: int
    first_tree: int = 0
    rows: NDArray[Any] | None = None


def grow(
    data: CompositeData,
    setting: Setting,
    trees: TreeRange,
    depth: int | None = None,
) -> Grove:
    """Trees that end in the setting's leaves, or, with `depth`, all nodes to that depth.

    Leaves beyond the size limit go deeper, as far as splits tell rows apart.
    """
    most = setting.max_depth if setting.max_size is None else MAX_DEPTH
    params = TreeParams(
        criterion="entropy",
        max_depth=most if depth is None else depth,
        stop_depth=setting.max_depth,
        stop_rows=(setting.max_size or 0) if depth is None else 0,
        max_features=setting.max_features,
        min_weight_fraction_leaf=setting.min_weight_fraction_leaf,
        sampling=setting.sampling,
        n_draws=setting.n_draws,
    )
    grown = grow_forest(
        data.matrix,
        data.y,
        max(data.n_classes, 1),
        params,
        **vars(trees),
        weight=data.weight,
        groups=data.inputs.groups,
        n_jobs=data.options.n_jobs,
        verbose=data.options.verbose,
    )
    bags = [_in_bag(grown.bag, trees.first_tree + tree) for tree in range(trees.n_trees)]
    assigned = grown.forest.apply(data.matrix, n_jobs=data.options.n_jobs)
    return Grove(grown, Topology.of(grown.forest), assigned, bags)


def _in_bag(bag: Bag, tree: int) -> NDArray[np.int32]:
    if bag.sampling == "all":
        return bag.rows.astype(np.int32)
    return np.sort(bag.rows[bag.counts(tree) > 0]).astype(np.int32)


def mean_sample_size(
    data: CompositeData, setting: Setting, n_trees: int, seed: int, first_tree: int
) -> float:
    """Mean weight that trees will see, before they are grown."""
    labels = data.y.astype(np.uint16)
    bag = make_bag(
        data.matrix, labels, setting.sampling, setting.n_draws, seed, data.weight, groups=data.inputs.groups
    )
    trees = range(first_tree, first_tree + (1 if setting.sampling == "all" else n_trees))
    return float(np.mean([data.total(_in_bag(bag, tree)) for tree in trees]))


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
        if key not in self._ids:
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
        cell = (
            np.repeat(np.arange(len(sets)) * self._n_classes, [len(rows_of_set) for rows_of_set in sets])
            + self._y[rows]
        )
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
    grove: Grove, stop: Ints, sets: IndexSets, set_of_node: dict[int, int] | None = None
) -> Leaves:
    """Leaves of every tree under a cut, their row sets entered into `sets`.

    `set_of_node` remembers the set of each node from one cut to the next.
    """
    topology = grove.topology
    set_of_node = {} if set_of_node is None else set_of_node
    nodes: list[int] = []
    trees: list[int] = []
    ids: list[int] = []
    for tree, rows in enumerate(grove.bags):
        at = stop[topology.start[tree] + grove.assigned[rows, tree].astype(np.int64)]
        order = np.argsort(at, kind="stable")
        ordered = at[order]
        edges = np.flatnonzero(np.diff(ordered, prepend=-1))
        begins = edges.tolist()
        for node, begin, end in zip(ordered[edges].tolist(), begins, [*begins[1:], len(ordered)]):
            if node not in set_of_node:
                set_of_node[node] = sets.add(rows[order[begin:end]])
            nodes.append(node)
            trees.append(tree)
            ids.append(set_of_node[node])
    node_array, tree_array = np.array(nodes, dtype=np.int64), np.array(trees, dtype=np.int64)
    order = np.lexsort((topology.code[node_array], tree_array))
    at = node_array[order]
    return Leaves(tree_array[order], topology.code[at], topology.depth[at], np.array(ids)[order], at)
