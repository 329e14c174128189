"""The trees of a composite forest as plain arrays, and their votes.

Every tree is a composite tree (theory.md §2.1): splits lead to a leaf, the leaf holds a constant (degree 0)
or a one-vs-one SVM. A row's class in a tree is a lookup and at most one SVM; all SVMs share one product of
the row with their support rows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats, Ints, Mask
from surewood.composite.checking import check_leaves, check_trees
from surewood.composite.leaf_svms import join_predictors
from surewood.composite.leaves import Leaves
from surewood.composite.votes import LeafReliability, blend, vote_fractions
from surewood.svm import Predictor, StoredProducts, vote_counts
from surewood.trees import BinnedMatrix, FlatForest

ROWS_PER_BLOCK = 8192  # rows whose votes of all trees are held at once


@dataclass(frozen=True)
class LeafTable:
    """One entry per leaf, tree after tree: structure, choice and counts.

    `tree`, `code` (path code), `depth` and `node` (over all trees) say where the leaf is; `degree` (0:
    constant) and `C` (C_k, 0 where constant) what was chosen; `correct` and `total` are weights of the rows
    that the tree saw; `constant` is a class code, -1 where an SVM decides, `svm` the number of that SVM in
    the predictor, -1 where constant.
    """

    tree: Ints
    code: NDArray[np.uint64]
    depth: Ints
    node: Ints
    degree: Ints
    C: Floats
    correct: Floats
    total: Floats
    constant: Codes
    svm: Codes
    converged: Mask
    iterations: Ints

    @classmethod
    def of(cls, leaves: Leaves, **columns: Any) -> LeafTable:
        """The table of collected leaves with these further columns."""
        return cls(tree=leaves.tree, code=leaves.code, depth=leaves.depth, node=leaves.node, **columns)

    def __len__(self) -> int:
        return len(self.tree)

    def of_tree(self, tree: int) -> NDArray[np.intp]:
        """Entries of one tree."""
        return np.flatnonzero(self.tree == tree)

    def __setstate__(self, state: dict[str, Any]) -> None:
        old = {"machine": "svm"}  # name in model files of format 1
        vars(self).update({old.get(name, name): value for name, value in state.items()})
        check_leaves(self)


@dataclass(frozen=True)
class CompositeTrees:
    """Trees, leaves and SVMs of a forest."""

    #: The splits of the composite trees.
    forest: FlatForest
    #: For every node (all trees, one after another) the leaf of a row that ends there.
    leaf_of_node: NDArray[np.int32]
    leaves: LeafTable
    #: All SVMs; None where every leaf is constant.
    predictor: Predictor | None
    n_classes: int
    #: Trees without depth limit whose leaves keep their class frequencies (degree 0 throughout).
    plain: FlatForest | None = None
    #: Their weight in the vote; the composite trees share the rest equally.
    plain_weight: float = 0.0
    #: With calibrated leaf scores.
    reliability: LeafReliability | None = None

    @property
    def n_trees(self) -> int:
        return self.forest.n_trees

    def first(self, n: int) -> CompositeTrees:
        """The first `n` composite trees (views), with the same plain trees."""
        return replace(self, forest=self.forest.trees(0, n))

    def leaf_index(self, matrix: BinnedMatrix, n_jobs: int | None = 1) -> NDArray[np.int32]:
        """Leaf (entry of `leaves`) of every row in every tree, shape (n_rows, n_trees)."""
        return self.forest.look_up(matrix, self._of_these_trees(self.leaf_of_node), n_jobs)

    def _of_these_trees(self, values: NDArray[np.int32]) -> NDArray[np.int32]:
        return values[: int(self.forest.node_start[-1])]

    def labels(
        self,
        matrix: BinnedMatrix,
        design: Floats,
        n_jobs: int | None = 1,
        mask: NDArray[Any] | None = None,
        stored: StoredProducts | None = None,
    ) -> NDArray[np.int32]:
        """Class that every tree gives to every row, shape (n_rows, n_trees); -1 where `mask` is False.

        `stored` as in :meth:`Predictor.predict`.
        """
        # Per leaf an SVM, or a constant in the code of `Predictor.predict`.
        code_of_leaf = np.where(self.leaves.svm >= 0, self.leaves.svm, -2 - self.leaves.constant)
        code = self.forest.look_up(matrix, code_of_leaf[self._of_these_trees(self.leaf_of_node)], n_jobs)
        if mask is not None:
            code = np.where(mask, code, -1).astype(np.int32)
        if self.predictor is not None:
            return self.predictor.predict(design, code, n_jobs=n_jobs, stored=stored)
        return np.where(code < -1, -2 - code, -1).astype(np.int32)

    def composite_scores(
        self,
        matrix: BinnedMatrix,
        design: Floats,
        leaf_scores: str,
        n_jobs: int | None = 1,
        mask: NDArray[Any] | None = None,
    ) -> Floats:
        """Mean score (2.1) of the composite trees that `mask` selects, all by default; NaN where none."""
        if leaf_scores == "ovo_votes":
            return self._pair_scores(self.leaf_index(matrix, n_jobs), design, n_jobs, mask)
        labels = self.labels(matrix, design, n_jobs, mask)
        if leaf_scores == "calibrated" and self.reliability is not None:
            return self.reliability.mean_scores(self.leaf_index(matrix, n_jobs), labels)
        return vote_fractions(labels, self.n_classes)

    def mean_scores(
        self, matrix: BinnedMatrix, design: Floats, leaf_scores: str, n_jobs: int | None = 1
    ) -> Floats:
        """Weighted mean score of all trees, plain ones included."""
        scores = self.composite_scores(matrix, design, leaf_scores, n_jobs)
        if self.plain is None:
            return scores
        return blend(scores, self.plain.predict_proba(matrix, n_jobs), self.plain_weight)

    def _pair_scores(
        self, leaf: NDArray[Any], design: Floats, n_jobs: int | None, mask: NDArray[Any] | None
    ) -> Floats:
        """Mean over trees of the fraction of pairs that each class wins."""
        constant, svm = self.leaves.constant[leaf], self.leaves.svm[leaf]
        if mask is not None:
            constant, svm = np.where(mask, constant, -1), np.where(mask, svm, -1)
        sums = vote_counts(constant, self.n_classes)
        if self.predictor is not None:
            sums += self.predictor.vote_fractions(
                design, np.ascontiguousarray(svm), n_classes=self.n_classes, n_jobs=n_jobs
            )
        voters = (np.full(len(leaf), leaf.shape[1]) if mask is None else mask.sum(axis=1))[:, None]
        return np.asarray(np.divide(sums, voters, out=np.full_like(sums, np.nan), where=voters > 0))

    def __setstate__(self, state: dict[str, Any]) -> None:
        # names in model files of format 1
        old = {"facts": "leaves", "plain_share": "plain_weight", "leaf_trust": "reliability"}
        vars(self).update({old.get(name, name): value for name, value in state.items()})
        check_trees(self)


def join_trees(parts: list[CompositeTrees]) -> CompositeTrees:
    """Composite trees of several parts, in order; plain trees are not joined."""
    if len(parts) == 1:
        return parts[0]
    forest = parts[0].forest
    for part in parts[1:]:
        forest = forest.extend(part.forest)
    first_tree = np.cumsum([0] + [p.n_trees for p in parts])
    first_node = np.cumsum([0] + [len(p.leaf_of_node) for p in parts])
    first_leaf = np.cumsum([0] + [len(p.leaves) for p in parts])
    first_svm = np.cumsum([0] + [0 if p.predictor is None else p.predictor.n_svms for p in parts])
    columns = {
        field.name: np.concatenate([getattr(p.leaves, field.name) for p in parts])
        for field in fields(LeafTable)
    }
    columns["tree"] = np.concatenate([p.leaves.tree + t for p, t in zip(parts, first_tree)])
    columns["node"] = np.concatenate([p.leaves.node + n for p, n in zip(parts, first_node)])
    columns["svm"] = np.concatenate(
        [np.where(p.leaves.svm >= 0, p.leaves.svm + m, -1) for p, m in zip(parts, first_svm)]
    ).astype(np.int32)
    leaf_of_node = np.concatenate(
        [np.where(p.leaf_of_node >= 0, p.leaf_of_node + k, -1) for p, k in zip(parts, first_leaf)]
    ).astype(np.int32)
    predictor = join_predictors([p.predictor for p in parts if p.predictor is not None])
    return CompositeTrees(forest, leaf_of_node, LeafTable(**columns), predictor, parts[0].n_classes)
