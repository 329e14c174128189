"""A fitted composite forest as plain arrays, and its votes.

Every tree is a composite tree (theory.md §2.1): questions lead to a leaf, the leaf holds a constant
(degree 0) or a one-vs-one machine. A row's class in a tree is a lookup and at most one machine; all
machines share one product of the row with their support rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.leaves import Leaves
from surewood.composite.machines import join_predictors
from surewood.svm import Predictor, vote_counts
from surewood.trees import BinnedMatrix, FlatForest

ROWS_A_BLOCK = 8192  # rows whose votes of all trees are held at once


@dataclass(frozen=True)
class LeafFacts:
    """One entry a leaf of every tree: structure, choice and counts.

    `leaves` gives tree, path code, depth and row set; `degree` (0: constant), `C` (the box C_k, 0 where
    constant), `correct` and `total` (weights on the rows the tree saw), `constant` (class code, -1 where
    a machine decides) and `machine` (number in the predictor, -1 where constant).
    """

    tree: NDArray[np.int64]
    code: NDArray[np.uint64]
    depth: NDArray[np.int64]
    node: NDArray[np.int64]
    degree: NDArray[np.int64]
    C: Floats
    correct: Floats
    total: Floats
    constant: NDArray[np.int32]
    machine: NDArray[np.int32]
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]

    @classmethod
    def of(cls, leaves: Leaves, **facts: Any) -> LeafFacts:
        return cls(tree=leaves.tree, code=leaves.code, depth=leaves.depth, node=leaves.node, **facts)

    def __len__(self) -> int:
        return len(self.tree)


@dataclass(frozen=True)
class CompositeModel:
    """Trees, leaves and machines of a forest.

    `leaf_of_node` maps every node (all trees, one after another) to the leaf in which a row that ends there
    lands. `plain` are trees without limit of depth whose leaves keep their class frequencies (degree 0
    throughout); together they have the share `plain_share` of the vote, the composite trees the rest in
    equal parts.
    """

    forest: FlatForest
    leaf_of_node: NDArray[np.int32]
    facts: LeafFacts
    predictor: Predictor | None
    n_classes: int
    plain: FlatForest | None = None
    plain_share: float = 0.0
    leaf_trust: LeafTrust | None = None

    @property
    def n_trees(self) -> int:
        return self.forest.n_trees

    def trees(self, n: int) -> CompositeModel:
        """The first `n` composite trees (views), with the same plain trees."""
        return replace(self, forest=self.forest.trees(0, n))

    def leaf_index(self, matrix: BinnedMatrix, n_jobs: int | None = 1) -> NDArray[np.int32]:
        """Leaf (entry of `facts`) of every row in every tree, shape (n_rows, n_trees)."""
        return self.forest.look_up(matrix, self._node_slice(self.leaf_of_node), n_jobs)

    def _node_slice(self, values: NDArray[np.int32]) -> NDArray[np.int32]:
        return values[: int(self.forest.node_start[-1])]

    def labels(
        self, matrix: BinnedMatrix, design: Floats, n_jobs: int | None = 1, mask: NDArray[Any] | None = None
    ) -> NDArray[np.int32]:
        """Class that every tree gives to every row, shape (n_rows, n_trees); -1 where `mask` is False."""
        # What a leaf asks for: a machine, or a constant as `Predictor.predict` writes it.
        ask_of_leaf = np.where(self.facts.machine >= 0, self.facts.machine, -2 - self.facts.constant)
        ask = self.forest.look_up(matrix, ask_of_leaf[self._node_slice(self.leaf_of_node)], n_jobs)
        if mask is not None:
            ask = np.where(mask, ask, -1).astype(np.int32)
        if self.predictor is not None:
            return self.predictor.predict(design, ask, n_jobs=n_jobs)
        return np.where(ask < -1, -2 - ask, -1).astype(np.int32)

    def shares(
        self,
        matrix: BinnedMatrix,
        design: Floats,
        leaf_scores: str,
        n_jobs: int | None = 1,
        mask: NDArray[Any] | None = None,
    ) -> Floats:
        """Mean score (2.1) of the composite trees that `mask` names, all by default; NaN where none."""
        if leaf_scores == "ovo_votes":
            return self._ovo_shares(self.leaf_index(matrix, n_jobs), design, n_jobs, mask)
        labels = self.labels(matrix, design, n_jobs, mask)
        if leaf_scores == "calibrated" and self.leaf_trust is not None:
            return self.leaf_trust.shares(self.leaf_index(matrix, n_jobs), labels)
        return vote_shares(labels, self.n_classes)

    def all_shares(
        self, matrix: BinnedMatrix, design: Floats, leaf_scores: str, n_jobs: int | None = 1
    ) -> Floats:
        """Mean score of all trees, plain ones included."""
        shares = self.shares(matrix, design, leaf_scores, n_jobs)
        if self.plain is None:
            return shares
        return blend(shares, self.plain.predict_proba(matrix, n_jobs), self.plain_share)

    def _ovo_shares(
        self, leaf: NDArray[Any], design: Floats, n_jobs: int | None, mask: NDArray[Any] | None
    ) -> Floats:
        """Mean over trees of the share of pairs each class wins."""
        constant, machine = self.facts.constant[leaf], self.facts.machine[leaf]
        if mask is not None:
            constant, machine = np.where(mask, constant, -1), np.where(mask, machine, -1)
        shares = vote_counts(constant, self.n_classes)
        if self.predictor is not None:
            shares += self.predictor.vote_share(
                design, np.ascontiguousarray(machine), n_classes=self.n_classes, n_jobs=n_jobs
            )
        voters = (np.full(len(leaf), leaf.shape[1]) if mask is None else mask.sum(axis=1))[:, None]
        return np.divide(shares, voters, out=np.full_like(shares, np.nan), where=voters > 0)


@dataclass(frozen=True)
class LeafTrust:
    """Calibrated leaves: how often a leaf's label is right, and where the rest of the probability goes.

    `right` (n_leaves,) is the share of rows outside the bag that the leaf classified right, pulled
    towards the forest's own share by `PULL` imaginary rows; `spread` (n_classes, n_classes) how the
    forest's wrong labels are distributed over the true classes.
    """

    right: Floats
    spread: Floats

    PULL = 10.0

    @classmethod
    def measure(
        cls,
        leaf: NDArray[Any],
        labels: NDArray[Any],
        y: NDArray[Any],
        weight: Floats | None,
        n_leaves: int,
        n_classes: int,
    ) -> LeafTrust:
        """From labels (n_rows, n_trees) of held-out rows, -1 where a tree does not count."""
        row, tree = np.nonzero(labels >= 0)
        voted, true, at = labels[row, tree], y[row], leaf[row, tree]
        mass = np.ones(len(row)) if weight is None else weight[row]
        hit = np.where(voted == true, mass, 0.0)
        mean = (hit.sum() + 1.0) / (mass.sum() + 2.0)
        sums, counts = np.bincount(at, hit, n_leaves), np.bincount(at, mass, n_leaves)
        right = (sums + cls.PULL * mean) / (counts + cls.PULL)
        confusion = np.bincount(voted * n_classes + true, mass, n_classes**2)
        confusion = confusion.reshape(n_classes, n_classes) + 1.0 / n_classes
        np.fill_diagonal(confusion, 0.0)
        total = confusion.sum(axis=1, keepdims=True)
        return cls(right, np.divide(confusion, total, out=np.zeros_like(confusion), where=total > 0))

    def shares(self, leaf: NDArray[Any], labels: NDArray[Any]) -> Floats:
        """Mean over trees of the calibrated leaf scores."""
        n_rows, n_classes = len(labels), len(self.spread)
        voted = labels >= 0
        place = (labels + np.arange(n_rows)[:, None] * n_classes)[voted]
        trust = self.right[leaf[voted]]
        kept = np.bincount(place, trust, n_rows * n_classes).reshape(n_rows, n_classes)
        rest = np.bincount(place, 1.0 - trust, n_rows * n_classes).reshape(n_rows, n_classes)
        sums = kept + rest @ self.spread
        total = sums.sum(axis=1, keepdims=True)
        return np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)


def blend(composite: Floats, plain: Floats, plain_share: float) -> Floats:
    """Shares of the whole vote; a row that one side does not know is left to the other."""
    mixed = (1.0 - plain_share) * composite + plain_share * plain
    return np.where(np.isnan(mixed), np.where(np.isnan(composite), plain, composite), mixed)


def vote_shares(labels: NDArray[Any], n_classes: int) -> Floats:
    """Vote fractions; NaN rows where no tree voted."""
    sums = vote_counts(labels, n_classes)
    total = sums.sum(axis=1, keepdims=True)
    return np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)


def join_models(parts: list[CompositeModel]) -> CompositeModel:
    """Trees of several models, in order, as one."""
    if len(parts) == 1:
        return parts[0]
    forest = parts[0].forest
    for part in parts[1:]:
        forest = forest.extend(part.forest)
    trees = np.cumsum([0] + [p.n_trees for p in parts])
    nodes = np.cumsum([0] + [len(p.leaf_of_node) for p in parts])
    leaves = np.cumsum([0] + [len(p.facts) for p in parts])
    machines = np.cumsum([0] + [0 if p.predictor is None else p.predictor.n_machines for p in parts])
    facts = {
        name: np.concatenate([getattr(p.facts, name) for p in parts])
        for name in LeafFacts.__dataclass_fields__
    }
    facts["tree"] = np.concatenate([p.facts.tree + t for p, t in zip(parts, trees)])
    facts["node"] = np.concatenate([p.facts.node + n for p, n in zip(parts, nodes)])
    facts["machine"] = np.concatenate(
        [np.where(p.facts.machine >= 0, p.facts.machine + m, -1) for p, m in zip(parts, machines)]
    ).astype(np.int32)
    leaf_of_node = np.concatenate(
        [np.where(p.leaf_of_node >= 0, p.leaf_of_node + k, -1) for p, k in zip(parts, leaves)]
    ).astype(np.int32)
    return CompositeModel(
        forest,
        leaf_of_node,
        LeafFacts(**facts),
        join_predictors([p.predictor for p in parts if p.predictor is not None]),
        parts[0].n_classes,
    )
