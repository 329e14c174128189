r"""Exact minimum of (3.6) over leaves, fractions, leaf families and split families (theory.md §3.5).

For one fraction μ the subsets S_k depend on the split families alone, and a leaf's classifier on its own
points alone. So the score is a sum: for a given sequence of splits every leaf takes its own best family. The
search runs over sequences of splits as a tree of prefixes, pruned by (3.9), with every member fitted once.

Ties go to the first cascade in the order of the printed loops: fewer leaves, earlier fraction, then
lexicographically smaller (H_1, ..., H_l), then (Q_1, ..., Q_{l-1}).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.cascade.families import ConstantMember, Family, Member
from surewood.cascade.prefix_tree import Rows
from surewood.cascade.sample import varies
from surewood.cascade.search import tie
from surewood.cascade.splits import cut, points_to_continue


class GenericPath(NamedTuple):
    """A cascade by its places on the lists; compares as ties are broken."""

    n_leaves: int
    fraction: int
    leaves: tuple[int, ...]
    splits: tuple[int, ...]


@dataclass(frozen=True)
class GenericResult:
    """The best cascade: its score in counts, and its leaves' counts and complexities."""

    path: GenericPath
    score: float
    plus: Floats
    minus: Floats
    complexity: Floats
    n_fitted: int = 0
    n_pruned: int = 0
    n_cascades: int = 0


class SplitRule(NamedTuple):
    """A member that orders points, and the value up to which they go on."""

    member: Member
    threshold: float


@dataclass
class GenericTree:
    """Members fitted on subsets of one sample, each once."""

    X: Floats
    codes: Codes
    weight: Floats
    n_classes: int
    leaf_families: Sequence[Family]
    split_families: Sequence[Family]
    n_fitted: int = 0
    _leaves: dict[tuple[bytes, int], Member] = field(default_factory=dict)
    _splits: dict[tuple[bytes, int], tuple[Member, Floats]] = field(default_factory=dict)

    def leaf(self, rows: Rows, family: int) -> Member:
        """The member of a leaf family on a leaf's points."""
        key = (rows.tobytes(), family)
        if key not in self._leaves:
            self._leaves[key] = self._fit(self.leaf_families[family], rows)
        return self._leaves[key]

    def divide(self, rows: Rows, family: int, fraction: Fraction) -> tuple[SplitRule, Rows, Rows] | None:
        """Split, points that stay and points that go on; None when either part would be empty."""
        key = (rows.tobytes(), family)
        if key not in self._splits:
            member = self._fit(self.split_families[family], rows)
            values = np.zeros(len(rows)) if isinstance(member, ConstantMember) else member.order(self.X[rows])
            self._splits[key] = (member, values)
        member, values = self._splits[key]
        order = np.argsort(values, kind="stable")
        running = np.cumsum(self.weight[rows][order])
        on = cut(values[order], running, points_to_continue(fraction, running[-1]))
        if not 0 < on.n_points < len(rows):
            return None
        return (
            SplitRule(member, on.threshold),
            np.sort(rows[order[on.n_points :]]),
            np.sort(rows[order[: on.n_points]]),
        )

    def _fit(self, family: Family, rows: Rows) -> Member:
        codes, weight = self.codes[rows], self.weight[rows]
        self.n_fitted += 1
        X = np.ascontiguousarray(self.X[rows])
        if (codes == codes[0]).all() or not varies(X):  # a constant is all that can be learned
            return ConstantMember.of(codes, weight, self.n_classes)
        return family.fit(X, codes, weight, self.n_classes)


#: Family, correct weight, wrong weight and complexity of a leaf.
_Leaf = tuple[int, float, float, float]


@dataclass(frozen=True)
class _Prefix:
    """The beginning of a cascade with `n_leaves` leaves: what it has collected, and the rows that go on."""

    n_leaves: int
    fraction: int
    rows: Rows
    collected: float = 0.0
    splits: tuple[int, ...] = ()
    cost: float = 0.0
    leaves: tuple[_Leaf, ...] = ()


class GenericSearch:
    """Branch and bound over the cascades of a tree.

    Parameters
    ----------
    tree : GenericTree
    fractions : sequence of Fraction
    max_leaves : int
    scale : float
        4γm, or 8cγm with more than two classes (§2.2).
    leaf_complexity, split_complexity : ndarray
        Rademacher complexities of the families on the whole sample.
    """

    def __init__(
        self,
        tree: GenericTree,
        fractions: Sequence[Fraction],
        max_leaves: int,
        scale: float,
        leaf_complexity: Floats,
        split_complexity: Floats,
    ) -> None:
        self.tree, self.max_leaves, self.scale = tree, max_leaves, scale
        self.fractions = tuple(one for one in fractions if one < 1)
        self.a, self.q = leaf_complexity, split_complexity
        self.best: GenericResult | None = None
        self.n_pruned = 0

    def run(self) -> GenericResult:
        """The exact minimizer."""
        rows = np.arange(len(self.tree.codes), dtype=np.int32)
        self._finish(_Prefix(1, 0, rows))
        for n_leaves in range(2, self.max_leaves + 1):
            for fraction in range(len(self.fractions)):
                self._extend(_Prefix(n_leaves, fraction, rows))
        assert self.best is not None
        h, q = len(self.a), len(self.q)
        sizes = (len(self.fractions) * h**n * q ** (n - 1) for n in range(2, self.max_leaves + 1))
        return replace(
            self.best, n_fitted=self.tree.n_fitted, n_pruned=self.n_pruned, n_cascades=h + sum(sizes)
        )

    def _extend(self, prefix: _Prefix) -> None:
        """All cascades that continue a prefix."""
        if len(prefix.splits) == prefix.n_leaves - 1:
            self._finish(prefix)
            return
        for family in self._open_splits(prefix):
            parts = self.tree.divide(prefix.rows, family, self.fractions[prefix.fraction])
            if parts is None:
                continue
            _, stay, go_on = parts
            cost = prefix.cost + float(self.q[family])
            leaf, term = self._best_leaf(stay, cost)
            longer = replace(
                prefix,
                rows=go_on,
                collected=prefix.collected + term,
                splits=(*prefix.splits, family),
                cost=cost,
                leaves=(*prefix.leaves, leaf),
            )
            self._extend(longer)

    def _open_splits(self, prefix: _Prefix) -> Iterator[int]:
        """Split families that may still lead to a better cascade, by (3.9)."""
        size, smallest = float(self.tree.weight[prefix.rows].sum()), float(self.a.min())
        for family in range(len(self.q)):
            cost = prefix.cost + float(self.q[family])
            bound = prefix.collected + min(size, self.scale * (cost + smallest))
            best = self.best
            assert best is not None
            later = (prefix.n_leaves, prefix.fraction) > best.path[:2]
            if bound > best.score + tie(best.score) or (later and bound >= best.score - tie(best.score)):
                self.n_pruned += 1
            else:
                yield family

    def _best_leaf(self, rows: Rows, cost: float) -> tuple[_Leaf, float]:
        """Family, correct weight, wrong weight and complexity of the cheapest leaf here, and its term."""
        codes, weight = self.tree.codes[rows], self.tree.weight[rows]
        size, found, lowest = float(weight.sum()), None, np.inf
        for family in range(len(self.a)):
            complexity = cost + float(self.a[family])
            charge = self.scale * complexity
            if found is not None and min(charge, size) >= lowest - tie(lowest):
                continue  # even without an error this family would not be cheaper
            predicted = self.tree.leaf(rows, family).scores(self.tree.X[rows]).argmax(axis=1)
            plus = float(weight[predicted == codes].sum())
            term = (size - plus) + min(charge, plus)
            if found is None or term < lowest - tie(lowest):
                found, lowest = (family, plus, size - plus, complexity), term
        assert found is not None
        return found, lowest

    def _finish(self, prefix: _Prefix) -> None:
        leaf, term = self._best_leaf(prefix.rows, prefix.cost)
        leaves = [*prefix.leaves, leaf]
        families = tuple(one[0] for one in leaves)
        path = GenericPath(prefix.n_leaves, prefix.fraction, families, prefix.splits)
        score = prefix.collected + term
        best = self.best
        if best is not None:
            eps = tie(best.score)
            if score > best.score + eps or (score >= best.score - eps and path > best.path):
                return
        columns = np.array([one[1:] for one in leaves]).T
        self.best = GenericResult(path, score, columns[0], columns[1], columns[2])
