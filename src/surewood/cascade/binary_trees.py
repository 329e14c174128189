r"""Other topologies than a chain: binary trees of nodes as one more family (theory.md §3.5).

In a chain the points that stay at a node meet a leaf; in a binary tree they may be divided again, and so may
those that go on. A leaf pays for the splits on its path, so the criterion

.. math:: m\,\widehat R_S+\sum_k\min\Big(4\gamma m\Big[\sum_{j\le d_k}\widehat{\mathfrak R}_S(Q_j)
          +\widehat{\mathfrak R}_S(H_k)\Big],\ m_k^+\Big)

is a sum over leaves, and the smallest one below a node depends on its points and on what its path has paid:
one recursion finds the exact minimum over all trees up to a depth. With stumps as splits these are composite
trees (§2.1) whose leaves hold classifiers of any family. Leaves are trained on their own points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from surewood._arrays import Codes, Floats, check_number
from surewood.cascade.chain import as_fractions
from surewood.cascade.generic_cascade import GenericTree, SplitRule, complexity_factor
from surewood.cascade.search import tie
from surewood.families import Families, Family, Member, as_families

MOST_DEPTH = 10  # the recursion visits (split families x fractions) ** depth nodes and more


@dataclass
class SplitMember(Member):
    """A node: points of smallest value go on to one member, the others to another."""

    split: SplitRule
    stay: Member
    go_on: Member

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_number("threshold", self.split.threshold, -math.inf, math.inf)

    @property
    def parts(self) -> tuple[Member, ...]:
        return (self.split.member, *self.stay.parts, *self.go_on.parts)

    def scores(self, X: Floats) -> Floats:
        goes_on = self.split.member.order(X) <= self.split.threshold
        if goes_on.all() or not goes_on.any():
            return (self.go_on if goes_on.all() else self.stay).scores(X)
        stay, go_on = self.stay.scores(X[~goes_on]), self.go_on.scores(X[goes_on])
        scores = np.empty((len(X), stay.shape[1]))
        scores[~goes_on], scores[goes_on] = stay, go_on
        return scores


@dataclass
class BinaryTreeFamily(Family):
    """Binary trees of nodes: the minimum of the criterion over all topologies up to `max_depth`.

    Ties go to the tree that is found first: a leaf before a split, earlier families and fractions first.

    Parameters
    ----------
    leaves, splits : list of family or name
        As in :class:`~surewood.DeepCascadeClassifier`.
    max_depth : int, default=2
        Splits above a leaf, at most.
    fractions : list of float, default=(0.5,)
        Fractions of a node's points that go on; every node takes its own.
    gamma_scale : float, default=0.01
        Multiplier of the complexity in the criterion.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5)
    >>> codes = np.array([0, 1, 1, 0] * 5, dtype=np.int32)
    >>> family = BinaryTreeFamily(["constant"], ["threshold"], gamma_scale=0.001)
    >>> family.fit(X, codes, np.ones(20), 2).scores(X).argmax(axis=1)[:4]
    array([0, 1, 1, 0])
    """

    leaves: Any = ("constant", "linear_svm", "gaussian")
    splits: Any = ("stump",)
    max_depth: int = 2
    fractions: Any = (0.5,)
    gamma_scale: float = 0.01

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        search = _Search(self, X, codes, weight, n_classes)
        return search.best(np.arange(len(codes), dtype=np.int32), 0, 0.0)[1]

    def families(self) -> tuple[Families, Families]:
        """Families of leaves and of splits."""
        return as_families("leaves", self.leaves), as_families("splits", self.splits)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        """A tree of fewer splits labels points as one of all splits does."""
        leaves, splits = self.families()
        sizes = (m, n_features, n_classes)
        leaf = math.log(len(leaves)) + max(family.log_growth(*sizes) for family in leaves)
        split = math.log(len(splits)) + max(family.split_log_growth(*sizes) for family in splits)
        n_leaves = 1 << self.max_depth
        return (n_leaves - 1) * split + n_leaves * leaf


class _Search:
    """The recursion over (points, depth, what the path has paid)."""

    def __init__(
        self, family: BinaryTreeFamily, X: Floats, codes: Codes, weight: Floats, n_classes: int
    ) -> None:
        if not 0 <= family.max_depth <= MOST_DEPTH:
            raise ValueError(
                f"max_depth must be an integer from 0 to {MOST_DEPTH}, got {family.max_depth!r}."
            )
        leaves, splits = family.families()
        self.tree = GenericTree(X, codes, weight, n_classes, leaves, splits)
        self.max_depth, self.fractions = family.max_depth, as_fractions(family.fractions)
        self.scale = complexity_factor(n_classes) * family.gamma_scale * float(weight.sum())
        self.leaf_cost = np.array([leaf_family.rademacher(X, n_classes) for leaf_family in leaves])
        self.split_cost = [split_family.split_rademacher(X, n_classes) for split_family in splits]

    def best(self, rows: Any, depth: int, paid: float) -> tuple[float, Member]:
        """Smallest criterion of the points below a node, in counts, and the member that has it."""
        leaf, lowest = self.tree.best_leaf(rows, paid, self.leaf_cost, self.scale)
        member = self.tree.leaf(rows, leaf[0])
        if depth == self.max_depth:
            return lowest, member
        for k, cost in enumerate(self.split_cost):
            for fraction in self.fractions:
                divided = self.tree.divide(rows, k, fraction) if fraction < Fraction(1) else None
                if divided is None:
                    continue
                rule, stay, go_on = divided
                below, first = self.best(stay, depth + 1, paid + cost)
                if below >= lowest - tie(lowest):
                    continue
                rest, second = self.best(go_on, depth + 1, paid + cost)
                if below + rest < lowest - tie(lowest):
                    lowest, member = below + rest, SplitMember(rule, first, second)
        return lowest, member
