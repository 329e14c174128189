"""Composite trees: fitted for one setting, kept as plain arrays, and their votes.

Every tree is a composite tree (theory.md §2.1): splits lead to a leaf, the leaf holds a constant (degree 0)
or a one-vs-one SVM. A row's class in a tree is a lookup and at most one SVM; all SVMs share one product of
the row with their support rows.

* :func:`vote_fractions`, :func:`blend`: votes as class vectors, counted, mixed with those of plain trees;
* :class:`LeafTable`, :class:`CompositeTrees`, :func:`join_trees`: the arrays, checked when they are read from
  a file, and what they predict;
* :func:`fit_trees`: RCF(B, r, gamma, M) of theory.md §2.11: grow, train, count, choose, assemble.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats, Ints, Mask, check_number, check_values
from surewood.composite.data import CompositeData
from surewood.composite.degrees import LeafChoice
from surewood.composite.growing import (
    MAX_DEPTH,
    Grove,
    IndexSets,
    Setting,
    TreeRange,
    collect_leaves,
    cut,
    grow,
)
from surewood.composite.leaves import (
    MOST_CLASSES,
    LeafMembers,
    LeafSVMs,
    Members,
    join_predictors,
    train_leaf_svms,
)
from surewood.svm.gram import StoredProducts
from surewood.svm.one_vs_one import Predictor, vote_counts
from surewood.trees.binning import BinnedMatrix
from surewood.trees.flat_tree import FlatForest

ROWS_PER_BLOCK = 8192  # rows whose votes of all trees are held at once
_REAL = ("C", "correct", "total")


def vote_fractions(labels: NDArray[Any], n_classes: int) -> Floats:
    """Fraction of the trees that vote for each class; NaN rows where no tree voted (label -1)."""
    sums = vote_counts(labels, n_classes)
    total = sums.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0))


def blend(composite: Floats, plain: Floats | None, plain_weight: float) -> Floats:
    """Weighted mean of both kinds of trees; where one of them is unknown (NaN, None), the other alone."""
    if plain is None:
        return composite
    mixed = (1.0 - plain_weight) * composite + plain_weight * plain
    return np.where(np.isnan(mixed), np.where(np.isnan(composite), plain, composite), mixed)


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

    def __len__(self) -> int:
        return len(self.tree)

    def of_tree(self, tree: int) -> NDArray[np.intp]:
        """Entries of one tree."""
        return np.flatnonzero(self.tree == tree)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        n_leaves = len(self.tree) if isinstance(self.tree, np.ndarray) and self.tree.ndim == 1 else 0
        for column in fields(self):
            kinds = "f" if column.name in _REAL else "b" if column.name == "converged" else "iu"
            check_values(column.name, getattr(self, column.name), kinds, (n_leaves,))


@dataclass(frozen=True)
class CompositeTrees:
    """Trees, leaves and SVMs of a forest."""

    #: The splits of the composite trees.
    forest: FlatForest
    #: For every node (all trees, one after another) the leaf of a row that ends there.
    leaf_of_node: NDArray[np.int32]
    leaves: LeafTable
    #: All SVMs, or members of families; None where every leaf is constant.
    predictor: Predictor | Members | None
    n_classes: int
    #: Trees without depth limit whose leaves keep their class frequencies (degree 0 throughout).
    plain: FlatForest | None = None
    #: Their weight in the vote; the composite trees share the rest equally.
    plain_weight: float = 0.0

    @property
    def n_trees(self) -> int:
        return self.forest.n_trees

    def leaf_index(self, matrix: BinnedMatrix, n_jobs: int | None = 1) -> NDArray[np.int32]:
        """Leaf (entry of `leaves`) of every row in every tree, shape (n_rows, n_trees)."""
        return self.forest.look_up(matrix, self.leaf_of_node, n_jobs)

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
        code = self.forest.look_up(matrix, code_of_leaf[self.leaf_of_node], n_jobs)
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
        return vote_fractions(self.labels(matrix, design, n_jobs, mask), self.n_classes)

    def mean_scores(
        self, matrix: BinnedMatrix, design: Floats, leaf_scores: str, n_jobs: int | None = 1
    ) -> Floats:
        """Weighted mean score of all trees, plain ones included."""
        scores = self.composite_scores(matrix, design, leaf_scores, n_jobs)
        plain = None if self.plain is None else self.plain.predict_proba(matrix, n_jobs)
        return blend(scores, plain, self.plain_weight)

    def _pair_scores(
        self, leaf: NDArray[Any], design: Floats, n_jobs: int | None, mask: NDArray[Any] | None
    ) -> Floats:
        """Mean over trees of the fraction of pairs that each class wins."""
        constant, svm = self.leaves.constant[leaf], self.leaves.svm[leaf]
        if mask is not None:
            constant, svm = np.where(mask, constant, -1), np.where(mask, svm, -1)
        sums = vote_counts(constant, self.n_classes)
        if isinstance(self.predictor, Predictor):
            sums += self.predictor.vote_fractions(
                design, np.ascontiguousarray(svm), n_classes=self.n_classes, n_jobs=n_jobs
            )
        voters = (np.full(len(leaf), leaf.shape[1]) if mask is None else mask.sum(axis=1))[:, None]
        return np.asarray(np.divide(sums, voters, out=np.full_like(sums, np.nan), where=voters > 0))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse leaves, SVMs and classes that do not belong together: predictions follow their numbers.

        Splits and SVMs check themselves.
        """
        vars(self).update(state)
        check_number("n_classes", self.n_classes, 1, MOST_CLASSES, whole=True)
        check_number("plain_weight", self.plain_weight, 0.0, 1.0)
        leaves, forest, n_classes = self.leaves, self.forest, self.n_classes
        n_svms = 0 if self.predictor is None else self.predictor.n_svms
        n_nodes = int(forest.node_start[-1])
        check_values("leaf_of_node", self.leaf_of_node, "i", (n_nodes,), -1, len(leaves) - 1)
        check_values("svm", leaves.svm, "i", (len(leaves),), -1, n_svms - 1)
        check_values("constant", leaves.constant, "i", (len(leaves),), -1, n_classes - 1)
        if ((leaves.svm >= 0) == (leaves.constant >= 0)).any():
            raise ValueError("a leaf must have either an SVM or a constant.")
        if n_svms and self.predictor is not None and self.predictor.classes.max(initial=0) >= n_classes:
            raise ValueError("an SVM knows a class that the forest does not have.")
        for trees in (forest, self.plain):
            if trees is not None and (trees.n_features, trees.n_classes) != (forest.n_features, n_classes):
                raise ValueError("trees must have the same features and classes.")


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
    predictor = _join([p.predictor for p in parts if p.predictor is not None])
    return CompositeTrees(forest, leaf_of_node, LeafTable(**columns), predictor, parts[0].n_classes)


def _join(predictors: list[Any]) -> Predictor | Members | None:
    if predictors and isinstance(predictors[0], Members):
        members = tuple(member for predictor in predictors for member in predictor.members)
        return Members(members, predictors[0].n_classes)
    return join_predictors(predictors)


def fit_trees(
    data: CompositeData,
    setting: Setting,
    wanted: TreeRange,
    base: float | None = None,
) -> tuple[CompositeTrees, Grove]:
    """Composite trees of one setting, and the grown trees that they were made of.

    A function of (data, setting, seed, tree numbers): it depends neither on threads nor on the other trees.
    `base` is the sample size that C refers to (2.12), by default the mean of what these trees saw. Give it
    where the trees are fitted in several steps.
    """
    grove = grow(data, setting, wanted)
    stop = cut(grove.topology, MAX_DEPTH)  # trees end in their leaves
    sets = IndexSets(data.y, data.weight, data.n_classes)
    leaves = collect_leaves(grove, stop, sets)
    choice = LeafChoice(data, setting, leaves, sets, grove.sample_size(data), wanted.seed, wanted.first_tree)
    ids = np.unique(leaves.set_id[~sets.pure[leaves.set_id]])
    base = float(choice.m.mean()) if base is None else base
    classifiers: LeafSVMs | LeafMembers
    if data.options.families:
        classifiers = LeafMembers(data, sets, ids)
        correct = classifiers.correct
    else:
        classifiers, correct = _train_svms(choice, ids, base)
    table = _leaf_table(choice, correct, classifiers, base)
    trees = CompositeTrees(grove.forest, leaves.of_node(stop), table, classifiers.predictor(), data.n_classes)
    return trees, grove


def _train_svms(choice: LeafChoice, ids: NDArray[np.int64], base: float) -> tuple[LeafSVMs, Floats]:
    """SVMs of every degree for some sets; those that may be chosen are kept, of the others the counts."""
    setting, leaves, sets = choice.setting, choice.leaves, choice.sets
    correct = np.zeros((len(sets), len(setting.degrees)))
    degrees, C = np.array(setting.degrees), np.array(setting.C, dtype=np.float64)[:, None]
    svms = LeafSVMs()
    for chunk in train_leaf_svms(choice.data, sets, ids, degrees, C, base):
        correct[chunk.ids] = chunk.correct[:, :, 0]
        at = np.flatnonzero(np.isin(leaves.set_id, chunk.ids))
        svms.keep(chunk, choice.wanted(at, choice.candidates(at, correct)))
    return svms, correct


def _leaf_table(
    choice: LeafChoice, correct: Floats, classifiers: LeafSVMs | LeafMembers, base: float
) -> LeafTable:
    """The final choice and its counts, leaf by leaf."""
    setting, leaves, sets = choice.setting, choice.leaves, choice.sets
    n, zero = len(leaves), int(setting.constant_leaves)
    mixed = np.flatnonzero(~sets.pure[leaves.set_id])
    column = choice.columns(mixed, correct)
    by_svm = column >= zero
    at, place = mixed[by_svm], column[by_svm] - zero
    svm = np.full(n, -1, dtype=np.int32)
    svm[at] = [classifiers.number(s, p) for s, p in zip(leaves.set_id[at].tolist(), place.tolist())]
    constant = sets.majority[leaves.set_id]
    constant[at] = -1
    degree = np.zeros(n, dtype=np.int64)
    degree[at] = np.array(setting.degrees)[place]
    total = sets.total[leaves.set_id]
    C = np.zeros(n)
    C[at] = np.sqrt(total[at] / base) * np.array(setting.C)[place]  # theory.md (2.12)
    right = sets.majority_total[leaves.set_id]
    right[at] = correct[leaves.set_id[at], place]
    converged = np.ones(n, dtype=bool)
    converged[at] = classifiers.converged[svm[at]]
    iterations = np.zeros(n, dtype=np.int64)
    iterations[at] = classifiers.iterations[svm[at]]
    return LeafTable(
        tree=leaves.tree, code=leaves.code, depth=leaves.depth, node=leaves.node, degree=degree, C=C,
        correct=right, total=total, constant=constant, svm=svm, converged=converged, iterations=iterations,
    )  # fmt: skip
