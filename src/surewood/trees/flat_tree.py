"""Grown trees as plain arrays: small, quick to predict with, easy to save.

A :class:`FlatForest` is eight arrays (core/forest/flat_tree.hpp gives the bit layout); nothing in it
is a Python object per tree, so it pickles small and can be stored without pickle. Trees are read-only once
grown.
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
from surewood.parallel import over_rows, share
from surewood.trees.binning import BinMapper, BinnedMatrix

NO_LIMIT = 2**32 - 1
_TEST_BITS = 10  # of a word, below the feature
LEAF_WORD = ((1 << 22) - 1) << _TEST_BITS
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
class Question:
    """One step on the way to a leaf: does the row go left at this split?

    ``threshold`` is the raw value up to which numbers go left; ``categories`` the codes that go left (None
    for a number column); ``went_left`` the answer on this path, ``missing_left`` where missing values go.
    """

    feature: int
    threshold: float
    categories: tuple[int, ...] | None
    went_left: bool
    missing_left: bool


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
        (core/forest/short_nodes.hpp).
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
    def in_core(self) -> tuple[Any, ...]:
        """The forest as the core takes it."""
        return (*self.arrays, self.word_bits)

    @property
    def n_trees(self) -> int:
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
        found = _core.shorten(self.in_core, self.n_classes, self.n_features)
        if found is None:
            return self
        names = ("nodes", "leaf_class", "leaf_weight", "leaf_start", "word_bits")
        return replace(self, **dict(zip(names, found)))

    def with_whole_nodes(self) -> FlatForest:
        """The same trees with nodes of eight bytes."""
        if not self.word_bits:
            return self
        nodes = np.stack(self.read_nodes(np.arange(len(self.nodes))), axis=1).astype(np.uint32)
        whole = replace(self, nodes=nodes, word_bits=0)
        if self.n_classes != 2:
            return whole
        empty = np.zeros_like(self.leaf_start)  # shares stand in the nodes again
        return replace(
            whole, leaf_class=self.leaf_class[:0], leaf_weight=self.leaf_weight[:0], leaf_start=empty
        )

    def read_nodes(self, at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Left child (or leaf content) and word of nodes, which are numbered over all trees."""
        if not self.word_bits:
            return self.nodes[at, 0].astype(np.int64), self.nodes[at, 1].astype(np.int64)
        short = self.nodes[at].astype(np.int64)
        left, word = short >> self.word_bits, short & ((1 << self.word_bits) - 1)
        leaf = word >= ((1 << (self.word_bits - _TEST_BITS)) - 1) << _TEST_BITS
        word[leaf] = LEAF_WORD | (word[leaf] & 3)
        tree = np.searchsorted(self.node_start, at, side="right") - 1
        near = ~leaf & (word & 1 == 0)
        left[near] += at[near] - self.node_start[tree[near]]
        share = word == LEAF_WORD + 2
        left[share] = self.leaf_weight[self.leaf_start[tree[share]] + left[share]]
        return left, word

    def predict_proba(self, matrix: BinnedMatrix, n_jobs: int | None = 1) -> NDArray[np.float64]:
        """Mean of the trees' class vectors for every row of a binned matrix."""
        out = np.zeros((matrix.n_rows, self.n_classes))
        share(*self.arrays)
        _over_codes(_predict_codes, (self.in_core, self.n_classes), matrix, (), out, self.n_trees, n_jobs)
        out /= max(self.n_trees, 1)
        return out

    def predict_proba_raw(
        self, X: NDArray[Any], mapper: BinMapper, n_jobs: int | None = 1
    ) -> NDArray[np.float64]:
        """The same from raw numbers, C-contiguous float32 or float64; no category columns."""
        out = np.zeros((len(X), self.n_classes))
        share(*self.arrays)
        over_rows(
            _predict_values,
            (self.in_core, self.n_classes),
            lambda begin, end: (X[begin:end], mapper.edges, mapper.offset),
            [out],
            n_rows=len(X),
            rows_a_task=_rows_a_task(len(X), n_jobs),
            n_jobs=n_jobs,
            seconds_a_row=_SECONDS_A_TREE * self.n_trees,
        )
        out /= max(self.n_trees, 1)
        return out

    def apply(
        self, matrix: BinnedMatrix, max_depth: int | None = None, n_jobs: int | None = 1
    ) -> NDArray[np.uint32]:
        """Number of the node (within its tree) at which each row ends, shape ``(n_rows, n_trees)``.

        With `max_depth` the descent stops after that many questions: the leaves of the shallower tree.
        """
        out = np.empty((matrix.n_rows, self.n_trees), dtype=np.uint32)
        depth = NO_LIMIT if max_depth is None else max_depth
        share(*self.arrays)
        _over_codes(_apply_codes, (self.in_core,), matrix, (depth, None), out, self.n_trees, n_jobs)
        return out

    def look_up(
        self, matrix: BinnedMatrix, node_value: NDArray[np.int32], n_jobs: int | None = 1
    ) -> NDArray[np.int32]:
        """The value of the leaf of each row in each tree, shape ``(n_rows, n_trees)``.

        `node_value` has an entry for every node of all trees, tree after tree.
        """
        out = np.empty((matrix.n_rows, self.n_trees), dtype=np.uint32)
        value = np.ascontiguousarray(node_value, dtype=np.int32).view(np.uint32)
        share(value, *self.arrays)
        _over_codes(_apply_codes, (self.in_core,), matrix, (NO_LIMIT, value), out, self.n_trees, n_jobs)
        return out.view(np.int32)

    def votes(self, matrix: BinnedMatrix, n_jobs: int | None = 1) -> NDArray[np.uint16]:
        """Class that each tree predicts for each row, shape ``(n_rows, n_trees)``; the lower one on ties."""
        leaves = self.apply(matrix, n_jobs=n_jobs)
        return self.node_votes()[self.node_start[:-1] + leaves.astype(np.int64)]

    def node_votes(self) -> NDArray[np.uint16]:
        """Most frequent class of every leaf (0 for split nodes), over all trees."""
        left, word = self.read_nodes(np.arange(len(self.nodes)))
        votes = np.zeros(len(left), dtype=np.uint16)
        pure = word == LEAF_WORD
        votes[pure] = left[pure]
        binary = word == LEAF_WORD + 2
        votes[binary] = left[binary].astype(np.uint32).view(np.float32) > 0.5
        for node in np.flatnonzero(word == LEAF_WORD + 1):
            tree = int(np.searchsorted(self.node_start, node, side="right")) - 1
            at = int(self.leaf_start[tree]) + int(left[node])
            entries = slice(at + 1, at + 1 + int(self.leaf_class[at]))
            votes[node] = self.leaf_class[entries][np.argmax(self.leaf_weight[entries])]
        return votes

    def class_vector(self, tree: int, node: int) -> NDArray[np.float64]:
        """Class shares of a leaf."""
        left, word = (int(v[0]) for v in self.read_nodes(self.node_start[[tree]] + node))
        shares = np.zeros(self.n_classes)
        kind = word - LEAF_WORD
        if kind == 0:
            shares[left] = 1.0
        elif kind == 2:
            share = float(np.array([left], dtype=np.uint32).view(np.float32)[0])
            shares[:] = 1.0 - share, share
        elif kind == 1:
            at = int(self.leaf_start[tree]) + left
            entries = slice(at + 1, at + 1 + int(self.leaf_class[at]))
            shares[self.leaf_class[entries]] = self.leaf_weight[entries] / float(self.leaf_weight[at])
        else:
            raise ValueError(f"node {node} of tree {tree} is not a leaf.")
        return shares

    def table(self, tree: int) -> dict[str, NDArray[Any]]:
        """A tree as columns: ``feature`` (-1 for leaves), ``last_bin``, ``missing_left``, ``is_category``,
        ``left``, ``right``, ``depth``, ``parent`` (-1 for leaves' children and the root's parent)."""
        content, word = self.read_nodes(np.arange(self.node_start[tree], self.node_start[tree + 1]))
        split = word < LEAF_WORD
        category = split & (word & 1 == 1)
        left = np.where(split, content, -1)
        pool = self.category_left[self.category_start[tree] : self.category_start[tree + 1]]
        left[category] = pool[left[category]]
        missing_left = split & (word >> 1 & 1 == 1)
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
            "feature": np.where(split, word >> 10, -1),
            "last_bin": np.where(split & ~category, (word >> 2 & 255) - missing_left, -1),
            "missing_left": missing_left,
            "is_category": category,
            "left": left,
            "right": np.where(split, left + 1, -1),
            "depth": depth,
            "parent": parent,
        }

    def path(self, tree: int, node: int, mapper: BinMapper) -> list[Question]:
        """The questions from the root to a node."""
        return self.paths(tree, [node], mapper)[0]

    def paths(self, tree: int, ends: Sequence[int], mapper: BinMapper) -> list[list[Question]]:
        """The questions from the root to each of some nodes of a tree."""
        table = self.table(tree)
        asked: dict[int, Question] = {}  # by the node that the answer leads to: paths share their beginnings
        paths = []
        for node in ends:
            questions: list[Question] = []
            while table["parent"][node] >= 0:
                if node not in asked:
                    asked[node] = self._question_above(tree, node, table, mapper)
                questions.append(asked[node])
                node = int(table["parent"][node])
            paths.append(questions[::-1])
        return paths

    def _question_above(
        self, tree: int, node: int, table: dict[str, NDArray[Any]], mapper: BinMapper
    ) -> Question:
        """The question whose answer leads to a node."""
        parent = int(table["parent"][node])
        feature = int(table["feature"][parent])
        went_left = bool(table["left"][parent] == node)
        if not table["is_category"][parent]:
            threshold = float(mapper.edges[mapper.offset[feature] + int(table["last_bin"][parent])])
            return Question(feature, threshold, None, went_left, bool(table["missing_left"][parent]))
        place = int(self.read_nodes(self.node_start[[tree]] + parent)[0][0])
        words = self.category_set[self.category_start[tree] + place]
        codes = [c for c in range(256) if int(words[c >> 6]) >> (c & 63) & 1]
        size = int(mapper.offset[feature + 1] - mapper.offset[feature])
        categories = tuple(c for c in codes if c < size)
        return Question(feature, np.nan, categories, went_left, 255 in codes)


def join_starts(starts: Sequence[Any]) -> NDArray[np.int64]:
    """Starts of batches of trees as the starts of all."""
    joined, end = [np.zeros(1, dtype=np.int64)], 0
    for start in starts:
        joined.append(start[1:] + end)
        end += int(start[-1])
    return np.concatenate(joined)


def _rows_a_task(n_rows: int, n_jobs: int | None) -> int:
    """An even share of the rows for every worker, in several turns where that would be many."""
    workers = int(effective_n_jobs(n_jobs))
    turns = max(1, math.ceil(n_rows / (workers * _MOST_ROWS)))
    return max(_LEAST_ROWS, math.ceil(n_rows / (workers * turns)))


# Functions of the core cannot be pickled; these can.


def _predict_codes(*args: Any) -> None:
    _core.predict_codes(*args)


def _predict_values(*args: Any) -> None:
    _core.predict_values(*args)


def _apply_codes(*args: Any) -> None:
    _core.apply_codes(*args)


def _over_codes(
    kernel: Any,
    fixed: tuple[Any, ...],
    matrix: BinnedMatrix,
    options: tuple[Any, ...],
    out: NDArray[Any],
    n_trees: int,
    n_jobs: int | None,
) -> None:
    """``kernel(*fixed, blocks, begin, end, *options, rows of out)`` over all rows of a binned matrix."""
    blocks = list(matrix.blocks)
    over_rows(
        kernel,
        fixed,
        lambda begin, end: (blocks, begin, end, *options),
        [out],
        send=lambda begin, end: ([block[:, begin:end] for block in blocks], 0, end - begin, *options),
        n_rows=matrix.n_rows,
        rows_a_task=_rows_a_task(matrix.n_rows, n_jobs),
        n_jobs=n_jobs,
        seconds_a_row=_SECONDS_A_TREE * n_trees,
    )
