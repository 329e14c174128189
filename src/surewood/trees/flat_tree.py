"""Grown trees as plain arrays: small, quick to predict with, easy to save.

A :class:`FlatForest` is eight arrays (:mod:`~surewood.trees.node_codec` knows their bits); nothing in it is
a Python object per tree, so it pickles small and can be stored without pickle.

The core follows every number of a forest without looking, and a model file is not trusted. So a forest is
checked when it is made, unpickled or loaded, once and in one pass, and its arrays are read-only from then
on: starts ascend and end where the arrays do, children lie after their parent and inside its tree, features,
bins, classes, leaf offsets and category entries are in range, probabilities and thresholds are finite.

Below: a tree as a table of nodes and the splits on the way to a node (:class:`Split`), a forest out of
batches of trees (:class:`ForestJoiner`), and trees whose leaves vote for one class
(:func:`with_hard_votes`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import ArrayTable, check_arrays
from surewood.parallel import over_rows
from surewood.tables.workspace import GrowingArray
from surewood.trees import node_codec
from surewood.trees.binning import MISSING_CODE, BinMapper, BinnedMatrix, check_count

_LEAST_ROWS, _MOST_ROWS = 8192, 32768  # rows of a prediction task, each of which packs all trees anew
_SECONDS_A_TREE = 3e-8  # of a row, roughly

ForestArrays = tuple[
    NDArray[np.uint32],
    NDArray[np.uint16],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
]


@dataclass(frozen=True)
class FlatForest:
    """Trees in one set of arrays.

    Attributes
    ----------
    nodes : ndarray of uint32, shape (n_nodes, 2)
        Left child (or leaf content) and packed word of every node, tree after tree.
    leaf_class, leaf_weight : ndarray of uint16, uint32
        Sparse class vectors of mixed leaves.
    category_left, category_set : ndarray of uint32 and of uint64 with shape (n, 4)
        Left child and set of categories of category splits.
    node_start, leaf_start, category_start : ndarray of int64, shape (n_trees + 1,)
        Where each tree begins in the arrays above.
    n_classes, n_features : int
    word_bits : int
        0: nodes as above. Else short ones, a uint32 each, the word in its lower bits
        (core/forest/flat_tree.hpp).

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> matrix = bin_array(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> forest = grow_forest(matrix, np.array([0, 0, 1, 1]), 2, TreeParams(), n_trees=3, seed=0).forest
    >>> forest.n_trees, forest.n_classes, forest.predict_proba(matrix).shape
    (3, 2, (4, 2))
    """

    nodes: NDArray[np.uint32]
    leaf_class: NDArray[np.uint16]
    leaf_weight: NDArray[np.uint32]
    category_left: NDArray[np.uint32]
    category_set: NDArray[np.uint64]
    node_start: NDArray[np.int64]
    leaf_start: NDArray[np.int64]
    category_start: NDArray[np.int64]
    n_classes: int
    n_features: int
    word_bits: int = 0

    def __post_init__(self) -> None:
        """Refuse a forest that the core could not read safely."""
        check_count(self.n_classes, "n_classes", 1, 65535)
        check_count(self.n_features, "n_features", 0, 2**22 - 2)
        check_count(self.word_bits, "word_bits", 0, 31)
        try:
            self.__dict__["_in_core"] = _core.Forest(**self.__getstate__())
        except TypeError as error:  # a wrong type or shape
            check_arrays(self, _FOREST_ARRAYS)
            raise ValueError(f"forest: {error}.") from None
        for array in self.arrays:
            array.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: state[name] for name in _FIELDS if name in state})
        self.__post_init__()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def join(cls, parts: Sequence[ForestArrays], n_classes: int, n_features: int) -> FlatForest:
        """One forest out of batches of trees, in their order."""
        joined: list[Any] = [np.concatenate([part[k] for part in parts]) for k in range(5)]
        joined += [join_starts([part[k] for part in parts]) for k in range(5, 8)]
        names = [field.name for field in fields(cls)]
        return cls(**dict(zip(names, joined)), n_classes=n_classes, n_features=n_features)

    @property
    def arrays(self) -> ForestArrays:
        """The eight arrays, in the order of the attributes."""
        return (
            self.nodes,
            self.leaf_class,
            self.leaf_weight,
            self.category_left,
            self.category_set,
            self.node_start,
            self.leaf_start,
            self.category_start,
        )

    @property
    def in_core(self) -> _core.Forest:
        """The forest as the core takes it."""
        forest: _core.Forest = self.__dict__["_in_core"]
        return forest

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.node_start) - 1

    @property
    def nbytes(self) -> int:
        """Memory of the model."""
        return sum(array.nbytes for array in self.arrays)

    def trees(self, start: int, stop: int) -> FlatForest:
        """Trees `start` to `stop` as a forest of their own (views, no copies)."""
        start, stop, _ = slice(start, stop).indices(self.n_trees)
        stop = max(start, stop)
        node, leaf, category = (
            s[start : stop + 1] for s in (self.node_start, self.leaf_start, self.category_start)
        )
        return FlatForest(
            self.nodes[node[0] : node[-1]],
            self.leaf_class[leaf[0] : leaf[-1]],
            self.leaf_weight[leaf[0] : leaf[-1]],
            self.category_left[category[0] : category[-1]],
            self.category_set[category[0] : category[-1]],
            node - node[0],
            leaf - leaf[0],
            category - category[0],
            self.n_classes,
            self.n_features,
            self.word_bits,
        )

    def extend(self, other: FlatForest) -> FlatForest:
        """These trees followed by those of `other`."""
        whole = self.with_whole_nodes().arrays, other.with_whole_nodes().arrays
        return FlatForest.join(whole, self.n_classes, self.n_features)

    def with_short_nodes(self) -> FlatForest:
        """The same trees in about half the memory; these ones where they are too large for that."""
        if self.word_bits:
            return self
        short = _core.shorten(self.in_core)
        if short is None:
            return self
        nodes, leaf_class, leaf_weight, leaf_start, word_bits = short
        return replace(
            self,
            nodes=nodes,
            leaf_class=leaf_class,
            leaf_weight=leaf_weight,
            leaf_start=leaf_start,
            word_bits=word_bits,
        )

    def with_whole_nodes(self) -> FlatForest:
        """The same trees with nodes of eight bytes."""
        if not self.word_bits:
            return self
        nodes = np.stack(self.read_nodes(np.arange(len(self.nodes))), axis=1).astype(np.uint32)
        if self.n_classes != 2:
            return replace(self, nodes=nodes, word_bits=0)
        return replace(
            self,
            nodes=nodes,
            word_bits=0,
            leaf_class=self.leaf_class[:0],  # probabilities stand in the nodes again
            leaf_weight=self.leaf_weight[:0],
            leaf_start=np.zeros_like(self.leaf_start),
        )

    def read_nodes(self, at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Left child (or leaf content) and word of nodes, which are numbered over all trees."""
        if not self.word_bits:
            return self.nodes[at, 0].astype(np.int64), self.nodes[at, 1].astype(np.int64)
        left, word, near = node_codec.read_short(self.nodes[at], self.word_bits)
        tree = np.searchsorted(self.node_start, at, side="right") - 1
        left[near] += at[near] - self.node_start[tree[near]]
        binary = node_codec.is_binary(word)
        left[binary] = self.leaf_weight[self.leaf_start[tree[binary]] + left[binary]]
        return left, word

    def features_of(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """The feature of split nodes, which are numbered over all trees."""
        return node_codec.feature_of(self.read_nodes(at)[1])

    def predict_proba(self, matrix: BinnedMatrix, n_jobs: int | None = 1) -> NDArray[np.float64]:
        """Mean of the trees' class vectors for every row of a binned matrix."""
        out = np.zeros((matrix.n_rows, self.n_classes))
        _over_codes(_predict_codes, self, matrix, (), out, n_jobs)
        out /= max(self.n_trees, 1)
        return out

    def predict_proba_raw(
        self, X: NDArray[Any], mapper: BinMapper, n_jobs: int | None = 1
    ) -> NDArray[np.float64]:
        """The same from raw numbers, C-contiguous float32 or float64; no category columns."""
        if self.__dict__.get("_checked_bins") is not mapper:  # once per mapper: rows may come one by one
            check_bins(self, mapper)
            self.__dict__["_checked_bins"] = mapper
        out = np.zeros((len(X), self.n_classes))
        over_rows(
            _predict_values,
            (self,),
            lambda begin, end: (X[begin:end], mapper.edges, mapper.offset),
            [out],
            n_rows=len(X),
            rows_a_task=_rows_a_task(len(X), n_jobs),
            n_jobs=n_jobs,
            seconds_a_row=_SECONDS_A_TREE * self.n_trees,
            shared=self.arrays,
        )
        out /= max(self.n_trees, 1)
        return out

    def apply(
        self, matrix: BinnedMatrix, max_depth: int | None = None, n_jobs: int | None = 1
    ) -> NDArray[np.uint32]:
        """Number of the node (within its tree) at which each row ends, shape ``(n_rows, n_trees)``.

        With `max_depth` the descent stops after this many splits: the leaves of the shallower tree.
        """
        out = np.empty((matrix.n_rows, self.n_trees), dtype=np.uint32)
        _over_codes(_apply_codes, self, matrix, (max_depth, None), out, n_jobs)
        return out

    def look_up(
        self, matrix: BinnedMatrix, node_value: NDArray[np.int32], n_jobs: int | None = 1
    ) -> NDArray[np.int32]:
        """The value of the leaf of each row in each tree, shape ``(n_rows, n_trees)``.

        `node_value` has an entry for every node of all trees, tree after tree.
        """
        out = np.empty((matrix.n_rows, self.n_trees), dtype=np.uint32)
        value = np.ascontiguousarray(node_value, dtype=np.int32).view(np.uint32)
        _over_codes(_apply_codes, self, matrix, (None, value), out, n_jobs)
        return out.view(np.int32)

    def votes(self, matrix: BinnedMatrix, n_jobs: int | None = 1) -> NDArray[np.uint16]:
        """Class that each tree predicts for each row, shape ``(n_rows, n_trees)``; the lower one on ties."""
        leaves = self.apply(matrix, n_jobs=n_jobs)
        return self.node_votes()[self.node_start[:-1] + leaves.astype(np.int64)]

    def node_votes(self) -> NDArray[np.uint16]:
        """Most frequent class of every leaf (0 for split nodes), over all trees."""
        left, word = self.read_nodes(np.arange(len(self.nodes)))
        votes = np.zeros(len(left), dtype=np.uint16)
        pure = node_codec.is_pure(word)
        votes[pure] = left[pure]
        binary = node_codec.is_binary(word)
        votes[binary] = node_codec.probability(left[binary]) > 0.5
        for node in np.flatnonzero(node_codec.is_mixed(word)):
            tree = int(np.searchsorted(self.node_start, node, side="right")) - 1
            at = int(self.leaf_start[tree]) + int(left[node])
            entries = slice(at + 1, at + 1 + int(self.leaf_class[at]))
            votes[node] = self.leaf_class[entries][np.argmax(self.leaf_weight[entries])]
        return votes

    def class_vector(self, tree: int, node: int) -> NDArray[np.float64]:
        """Class probabilities of a leaf."""
        left, word = self.read_nodes(self.node_start[[tree]] + node)
        vector = np.zeros(self.n_classes)
        if node_codec.is_pure(word)[0]:
            vector[left[0]] = 1.0
        elif node_codec.is_binary(word)[0]:
            second = float(node_codec.probability(left)[0])
            vector[:] = 1.0 - second, second
        elif node_codec.is_mixed(word)[0]:
            at = int(self.leaf_start[tree]) + int(left[0])
            entries = slice(at + 1, at + 1 + int(self.leaf_class[at]))
            vector[self.leaf_class[entries]] = self.leaf_weight[entries] / float(self.leaf_weight[at])
        else:
            raise ValueError(f"node {node} of tree {tree} is not a leaf.")
        return vector

    def table(self, tree: int) -> dict[str, NDArray[Any]]:
        """A tree as columns: ``feature`` (-1 for leaves), ``last_bin``, ``missing_left``, ``is_category``,
        ``left``, ``right``, ``depth``, ``parent`` (-1 for leaves' children and the root's parent)."""
        content, word = self.read_nodes(np.arange(self.node_start[tree], self.node_start[tree + 1]))
        split, category = node_codec.is_split(word), node_codec.is_category(word)
        left = np.where(split, content, -1)
        pool = self.category_left[self.category_start[tree] : self.category_start[tree + 1]]
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

    def path(self, tree: int, node: int, mapper: BinMapper) -> list[Split]:
        """The splits from the root to a node."""
        return self.paths(tree, [node], mapper)[0]

    def paths(self, tree: int, ends: Sequence[int], mapper: BinMapper) -> list[list[Split]]:
        """The splits from the root to each of some nodes of a tree."""
        table = self.table(tree)
        split_above: dict[int, Split] = {}  # by the node that the side taken leads to: paths begin alike
        paths = []
        for node in ends:
            path: list[Split] = []
            while table["parent"][node] >= 0:
                if node not in split_above:
                    split_above[node] = _split_above(self, tree, node, table, mapper)
                path.append(split_above[node])
                node = int(table["parent"][node])
            paths.append(path[::-1])
        return paths


_FIELDS = tuple(field.name for field in fields(FlatForest))


def join_starts(starts: Sequence[Any]) -> NDArray[np.int64]:
    """Starts of batches of trees as the starts of all."""
    joined, end = [np.zeros(1, dtype=np.int64)], 0
    for start in starts:
        joined.append(start[1:] + end)
        end += int(start[-1])
    return np.concatenate(joined)


def _rows_a_task(n_rows: int, n_jobs: int | None) -> int:
    """Rows per task: even parts for all workers, in several turns where a part would be large."""
    if n_rows <= _LEAST_ROWS:  # rows may come one by one
        return _LEAST_ROWS
    workers = int(effective_n_jobs(n_jobs))
    turns = max(1, math.ceil(n_rows / (workers * _MOST_ROWS)))
    return max(_LEAST_ROWS, math.ceil(n_rows / (workers * turns)))


# What the core makes cannot be pickled; these functions and a FlatForest can.


def _predict_codes(forest: FlatForest, blocks: list[Any], *rest: Any) -> None:
    _core.predict_codes(forest.in_core, _core.Bins(blocks), *rest)


def _predict_values(forest: FlatForest, *rest: Any) -> None:
    _core.predict_values(forest.in_core, *rest)


def _apply_codes(forest: FlatForest, blocks: list[Any], *rest: Any) -> None:
    _core.apply_codes(forest.in_core, _core.Bins(blocks), *rest)


def _over_codes(
    kernel: Any,
    forest: FlatForest,
    matrix: BinnedMatrix,
    options: tuple[Any, ...],
    out: NDArray[Any],
    n_jobs: int | None,
) -> None:
    """``kernel(forest, blocks, begin, end, *options, rows of out)`` over all rows of a binned matrix."""
    blocks = list(matrix.blocks)
    over_rows(
        kernel,
        (forest,),
        lambda begin, end: (blocks, begin, end, *options),
        [out],
        send=lambda begin, end: ([block[:, begin:end] for block in blocks], 0, end - begin, *options),
        n_rows=matrix.n_rows,
        rows_a_task=_rows_a_task(matrix.n_rows, n_jobs),
        n_jobs=n_jobs,
        seconds_a_row=_SECONDS_A_TREE * forest.n_trees,
        shared=(*forest.arrays, *options),
    )


_FOREST_ARRAYS: ArrayTable = {
    (np.uint32, None): ("nodes",),
    (np.uint16, 1): ("leaf_class",),
    (np.uint32, 1): ("leaf_weight", "category_left"),
    (np.uint64, 2): ("category_set",),
    (np.int64, 1): ("node_start", "leaf_start", "category_start"),
}


def check_bins(forest: FlatForest, mapper: BinMapper) -> None:
    """Refuse to compare raw numbers with bins that a column does not have."""
    if mapper.n_columns != forest.n_features:
        raise ValueError(f"forest: grown on {forest.n_features} columns, got bins of {mapper.n_columns}.")
    if not _core.splits_fit(forest.in_core, mapper.offset):
        raise ValueError("forest: a split compares with a bin that its column does not have.")


@dataclass(frozen=True)
class Split:
    """One step on the way to a leaf: the decision rule of a node, and which side the path takes.

    ``threshold`` is the raw value up to which numbers go left; ``categories`` the codes that go left (None
    for a number column); ``went_left`` the side of this path, ``missing_left`` where missing
    values go.

    Examples
    --------
    >>> from surewood.trees.flat_tree import Split
    >>> split = Split(feature=2, threshold=1.5, categories=None, went_left=True, missing_left=False)
    >>> f"column {split.feature} {'<=' if split.went_left else '>'} {split.threshold}"
    'column 2 <= 1.5'
    """

    feature: int
    threshold: float
    categories: tuple[int, ...] | None
    went_left: bool
    missing_left: bool


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


class ForestJoiner:
    """A forest out of batches of trees that come one after another, each copied when it comes.

    The batches need not stay, and there is no moment at which all trees are in memory twice.

    Parameters
    ----------
    n_trees : int
        Trees to come, more or less.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.flat_tree import ForestJoiner
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> matrix, y = bin_array(np.array([[0.0], [1.0]])), np.array([0, 1])
    >>> joiner = ForestJoiner(n_trees=4, n_classes=2, n_features=1)
    >>> for first in (0, 2):
    ...     joiner.add(grow_forest(matrix, y, 2, TreeParams(), n_trees=2, seed=0, first_tree=first).forest)
    >>> joiner.forest().n_trees
    4
    """

    def __init__(self, n_trees: int, n_classes: int, n_features: int) -> None:
        self._n_trees, self._n_classes, self._n_features = n_trees, n_classes, n_features
        self._pools: list[GrowingArray] = []
        self._starts: list[list[NDArray[np.int64]]] = [[], [], []]
        self._word_bits = 0

    def add(self, batch: FlatForest) -> None:
        """The next trees."""
        if not self._pools:
            self._word_bits = batch.word_bits
            self._pools = [GrowingArray(batch.n_trees / max(self._n_trees, 1)) for _ in range(5)]
        elif self._word_bits != batch.word_bits:  # some trees are too large for short nodes
            batch, before = batch.with_whole_nodes(), self.forest().with_whole_nodes()
            self._pools, self._starts = [], [[], [], []]
            self.add(before)
        arrays: list[NDArray[Any]] = list(batch.arrays)
        for pool, array in zip(self._pools, arrays):
            pool.add(array)
        for starts, array in zip(self._starts, arrays[5:]):
            starts.append(array)

    def forest(self) -> FlatForest:
        """All trees so far."""
        arrays: list[Any] = [pool.joined() for pool in self._pools]
        arrays += [join_starts(starts) for starts in self._starts]
        names = [field.name for field in fields(FlatForest)]
        return FlatForest(
            **dict(zip(names, arrays)),
            n_classes=self._n_classes,
            n_features=self._n_features,
            word_bits=self._word_bits,
        )


def with_hard_votes(forest: FlatForest) -> FlatForest:
    """The same trees, in which every leaf votes for its most frequent class, the lower one on ties.

    Examples
    --------
    >>> from surewood.trees.binning import bin_array
    >>> from surewood.trees.growing import TreeParams, grow_forest
    >>> matrix = bin_array(np.zeros((3, 1)))
    >>> forest = grow_forest(matrix, np.array([0, 1, 1]), 2, TreeParams(), n_trees=1, seed=0).forest
    >>> forest.predict_proba(matrix)[0].round(2).tolist(), with_hard_votes(forest).predict_proba(matrix)[0]
    ([0.33, 0.67], array([0., 1.]))
    """
    whole = forest.with_whole_nodes()
    votes = whole.node_votes()
    leaf = ~node_codec.is_split(whole.nodes[:, 1].astype(np.int64))
    nodes = whole.nodes.copy()
    nodes[leaf, 0] = votes[leaf]
    nodes[leaf, 1] = node_codec.PURE_LEAF
    return replace(
        whole,
        nodes=nodes,
        leaf_class=whole.leaf_class[:0],
        leaf_weight=whole.leaf_weight[:0],
        leaf_start=np.zeros_like(whole.leaf_start),
    )
