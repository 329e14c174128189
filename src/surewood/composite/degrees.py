"""Which degree each leaf gets, from counts alone (theory.md §2.7-§2.10, [D-10], [D-16]).

Inputs are tables with one row per leaf and one column per degree, ascending. :func:`complexities` gives
``A_k`` (2.8), :func:`leaf_terms` ``T_k`` (2.11); the choosers return one column number per leaf. Draws are
functions of (seed, tree, path code), so they do not depend on threads or on how deep a tree was grown.
:class:`LeafChoice` applies the rule of a setting to the leaves of some trees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import (
    composite_complexity,
    composite_criterion_counts,
    composite_ensemble_term,
    leaf_log_growth,
    select_degrees,
    split_log_growth,
)
from surewood.bounds.complexity import family_log_growth
from surewood.composite.data import CompositeData
from surewood.composite.growing import IndexSets, Leaves, Setting
from surewood.tables.mixing import splitmix64

Columns = NDArray[np.intp]
N_SEQUENCES = 10  # drawn for a tree, as published


def complexities(
    depth: NDArray[Any],
    degrees: NDArray[Any],
    *,
    m: float,
    n_features: int,
    n_splitting: int,
    max_features: int,
    n_classes: int,
    growth: str = "capped",
    homogeneous: bool = False,
    family_complexity: tuple[float, ...] = (),
) -> Floats:
    """``A_k`` (2.8) of every (leaf, degree), shape (n_leaves, n_degrees); degree 0 is a constant."""
    size = max(int(np.ceil(m - 1e-9)), 1)
    levels, place = np.unique(np.asarray(depth), return_inverse=True)
    table = _complexities_by_depth(
        tuple(levels.tolist()), tuple(np.asarray(degrees).tolist()), size, n_features, n_splitting,
        max_features, max(n_classes, 2), growth, homogeneous, family_complexity,
    )  # fmt: skip
    return table[place]


@lru_cache(maxsize=1024)
def _complexities_by_depth(
    depth: tuple[int, ...],
    degrees: tuple[int, ...],
    size: int,
    n_features: int,
    n_splitting: int,
    max_features: int,
    n_classes: int,
    growth: str,
    homogeneous: bool,
    family_complexity: tuple[float, ...],
) -> Floats:
    """Needed again for every gamma, cut and chunk of SVMs."""
    numbers = np.array(degrees)
    if family_complexity:
        leaf = family_log_growth(numbers, family_complexity, size)
    else:
        leaf = leaf_log_growth(numbers, n_features, size, n_classes, growth=growth, homogeneous=homogeneous)
    split = split_log_growth(size, max_features, n_splitting)
    table = np.asarray(composite_complexity(np.array(depth)[:, None], leaf[None, :], split, size))
    table.flags.writeable = False
    return table


def leaf_terms(
    correct: Floats, total: Floats, complexity: Floats, *, m: float, n_classes: int, gamma_scale: float
) -> Floats:
    """``T_k`` (2.11) of every (leaf, degree), in counts; exactly the leaf's total where it is inert."""
    # Sums of fractional weights differ in the last bits; a count is never negative.
    errors = np.maximum(total[:, None] - correct, 0.0)
    return composite_criterion_counts(
        correct, errors, complexity, m=m, n_classes=max(n_classes, 2), gamma_scale=gamma_scale
    )


def choose_exact(terms: Floats) -> Columns:
    """Leaf by leaf the smallest term, the smallest degree on ties: the exact minimum over all sequences.

    Examples
    --------
    >>> choose_exact(np.array([[5.0, 3.0, 3.0], [7.0, 7.0, 7.0]])).tolist()
    [1, 0]
    """
    return select_degrees(terms) if len(terms) else np.zeros(0, dtype=np.intp)


def choose_random_sequences(
    terms: Floats,
    tree: NDArray[Any],
    code: NDArray[np.uint64],
    n_sequences: int,
    seed: int,
    first_tree: int = 0,
) -> Columns:
    """The best of `n_sequences` uniformly random degree sequences of each tree, the first on ties.

    Examples
    --------
    >>> terms = np.array([[1.0, 2.0], [4.0, 3.0]])
    >>> tree, code = np.array([0, 0]), np.array([2, 3], dtype=np.uint64)
    >>> choose_random_sequences(terms, tree, code, 50, seed=0).tolist()
    [0, 1]
    """
    n_leaves, n_degrees = terms.shape
    if n_leaves == 0:
        return np.zeros(0, dtype=np.intp)
    n_trees = int(np.max(tree)) + 1
    best = np.full(n_trees, np.inf)
    chosen = np.zeros(n_leaves, dtype=np.intp)
    for sequence in range(n_sequences):
        drawn = keyed_below(n_degrees, seed, sequence, tree + first_tree, code)
        score = np.bincount(tree, weights=terms[np.arange(n_leaves), drawn], minlength=n_trees)
        better = score < best - 1e-12 * np.maximum(1.0, np.abs(score))
        best = np.where(better, score, best)
        chosen = np.where(better[tree], drawn, chosen)
    return chosen


def choose_by_theorem(
    charged: Floats, total: Floats, tree: NDArray[Any], ensemble: list[Floats], mixed: NDArray[np.bool_]
) -> Columns:
    """Degrees of the `mixed` leaves that minimize all of Theorem 1 (2.2), L-term and C, tree by tree.

    A leaf that is charged its complexity costs ``charged`` (errors and penalty, uncapped, in counts), another
    one its whole weight, whatever its degree. At ρ = 1/j at most j leaves are charged (§2.2), the j that gain
    most; `ensemble` has C for j = 1, 2, ... of every tree, in counts. A leaf that is not charged, or has one
    class, takes the first column.

    Examples
    --------
    >>> charged, total = np.array([[5.0, 3.0], [9.0, 8.0]]), np.array([10.0, 10.0])
    >>> tree, mixed = np.array([0, 0]), np.array([True, True])
    >>> choose_by_theorem(charged, total, tree, [np.array([1.0, 4.0])], mixed).tolist()
    [1, 0]
    """
    best = choose_exact(charged)
    gain = total - charged[np.arange(len(charged)), best]
    for k, costs in enumerate(ensemble):
        leaves = np.flatnonzero(tree == k)
        order = leaves[np.argsort(-gain[leaves], kind="stable")]
        gains = np.cumsum(np.maximum(gain[order], 0.0))
        n_charged = 1 + int(np.argmin(costs[: len(order)] - gains))
        idle = np.concatenate([order[n_charged:], order[gain[order] <= 0.0]])
        best[idle] = 0
    return best[mixed]


def keyed_below(n: int, *keys: Any) -> Columns:
    """Integers below `n` as a hash of the keys (integers or arrays of them).

    Examples
    --------
    >>> a = keyed_below(9, 7, np.array([0, 1, 2]))
    >>> bool((a == keyed_below(9, 7, np.array([0, 1, 2]))).all()), int(a.max()) < 9
    (True, True)
    """
    state = np.zeros(1, dtype=np.uint64)
    for key in keys:
        state = splitmix64(state ^ np.asarray(key).astype(np.uint64))
    # The high 53 bits as a fraction of one: no modulo bias worth naming.
    return ((state >> np.uint64(11)).astype(np.float64) * 2.0**-53 * n).astype(np.intp)


def composite_ensemble_terms(n_leaves: int, m: float, n_sets: int, n_classes: int) -> Floats:
    """C (2.4) at ρ = 1/j for j = 1, ..., `n_leaves`, of that many leaves and sets of classifiers."""
    size, families = max(int(np.ceil(m - 1e-9)), 1), n_sets * n_leaves
    inverse = range(1, n_leaves + 1)
    return np.array([composite_ensemble_term(size, families, 1.0 / j, max(n_classes, 2)) for j in inverse])


@dataclass(frozen=True)
class LeafChoice:
    """Everything that the choice of degrees reads, except the counts.

    `m` is the weight that each tree saw; `correct`, in the methods, has one row per set and one column per
    degree of the setting. Returned columns count the *offered* degrees, where 0 comes first if it is one of
    them.
    """

    data: CompositeData
    setting: Setting
    leaves: Leaves
    sets: IndexSets
    m: Floats
    seed: int
    first_tree: int = 0

    @property
    def n_classes(self) -> int:
        """Classes that complexities count."""
        data = self.data
        return data.n_classes if data.criterion_classes is None else data.criterion_classes

    def terms(self, at: NDArray[Any], correct: Floats, capped: bool = True) -> Floats:
        """``T_k`` (2.11) of the leaves `at` for every offered degree; else errors and complexity penalty."""
        data, setting, n_classes = self.data, self.setting, self.n_classes
        set_id, size = self.leaves.set_id[at], self.m[self.leaves.tree[at]]
        table = correct[set_id]
        if setting.constant_leaves:
            table = np.column_stack([self.sets.majority_total[set_id], table])
        terms: Floats = np.zeros(table.shape)
        for m in np.unique(size):
            same = size == m
            cost = complexities(
                self.leaves.depth[at][same],
                setting.offered,
                m=m,
                n_features=data.n_features,
                n_splitting=data.n_splitting,
                max_features=setting.max_features,
                n_classes=n_classes,
                growth=setting.growth,
                homogeneous=data.kernel.coef0 == 0.0,
                family_complexity=setting.family_complexity,
            )
            total = self.sets.total[set_id[same]]
            if not capped:
                charge = 8.0 * max(n_classes, 2) * setting.gamma_scale * m * cost
                terms[same] = np.maximum(total[:, None] - table[same], 0.0) + charge
                continue
            terms[same] = leaf_terms(
                table[same], total, cost, m=m, n_classes=n_classes, gamma_scale=setting.gamma_scale
            )
        return terms

    def columns(self, at: NDArray[Any], correct: Floats) -> NDArray[np.intp]:
        """Column of the offered degrees that each of the leaves `at` gets."""
        tree, code = self.leaves.tree[at], self.leaves.code[at]
        offered = len(self.setting.offered)
        if self.setting.selection == "random_degree" and offered > 1:
            return keyed_below(offered, self.seed, 0x5EED, tree + self.first_tree, code)  # [D-16]
        if self.setting.selection == "theorem":
            return self._by_theorem(at, correct)
        terms = self.terms(at, correct)
        if self.setting.selection == "random_sequences" and offered > 1:
            return choose_random_sequences(terms, tree, code, N_SEQUENCES, self.seed, self.first_tree)
        return choose_exact(terms)

    def _by_theorem(self, at: NDArray[Any], correct: Floats) -> NDArray[np.intp]:
        """Leaves of one class are charged too: as constants, without errors."""
        leaves, setting = self.leaves, self.setting
        every, mixed = np.arange(len(leaves)), np.zeros(len(leaves), dtype=bool)
        mixed[at] = True
        charged = self.terms(every, correct, capped=False)
        constant = replace(self, setting=replace(setting, degrees=(), C=(), constant_leaves=True))
        charged[~mixed] = constant.terms(every[~mixed], correct[:, :0], capped=False)
        n_sets = len(set(setting.degrees)) + 1
        scaled = [
            setting.gamma_scale * m * composite_ensemble_terms(n_leaves, m, n_sets, self.n_classes)
            for m, n_leaves in zip(self.m, np.bincount(leaves.tree, minlength=len(self.m)))
        ]
        return choose_by_theorem(charged, self.sets.total[leaves.set_id], leaves.tree, scaled, mixed)

    def candidates(self, at: NDArray[Any], correct: Floats) -> list[NDArray[np.intp]]:
        """Columns that the final choice may have at `at` while the counts of other leaves are unknown.

        A sequence is scored by its whole tree, so every drawn degree may be needed; the other choices are
        made leaf by leaf.
        """
        if self.setting.selection == "theorem":
            return [choose_exact(self.terms(at, correct, capped=False)), np.zeros(len(at), dtype=np.intp)]
        if self.setting.selection != "random_sequences":
            return [self.columns(at, correct)]
        tree, code = self.leaves.tree[at] + self.first_tree, self.leaves.code[at]
        offered = len(self.setting.offered)
        return [keyed_below(offered, self.seed, s, tree, code) for s in range(N_SEQUENCES)]

    def wanted(self, at: NDArray[Any], columns: list[NDArray[np.intp]]) -> dict[int, set[int]]:
        """The SVMs behind columns: positions in the list of degrees, by set."""
        place = np.concatenate(columns) - int(self.setting.constant_leaves)
        set_id = np.tile(self.leaves.set_id[at], len(columns))
        by_svm = place >= 0
        n_places = len(self.setting.degrees)
        wanted: dict[int, set[int]] = {}
        for code in np.unique(set_id[by_svm] * n_places + place[by_svm]).tolist():
            wanted.setdefault(code // n_places, set()).add(code % n_places)
        return wanted
