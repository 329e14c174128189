"""The degree of every leaf from the counts of its SVMs, by the rule of a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.data import TrainingData
from surewood.composite.leaves import IndexSets, Leaves
from surewood.composite.selection import (
    choose_exact,
    choose_random_degree,
    choose_random_sequences,
    complexities,
    keyed_below,
    leaf_terms,
)
from surewood.composite.setting import Setting


@dataclass(frozen=True)
class LeafChoice:
    """Everything that the choice of degrees reads, except the counts.

    `m` is the weight that each tree saw; `correct`, in the methods, has one row per set and one column per
    degree of the setting. Returned columns count the *offered* degrees, where 0 comes first if it is one of
    them.
    """

    data: TrainingData
    setting: Setting
    leaves: Leaves
    sets: IndexSets
    m: Floats
    seed: int
    first_tree: int = 0

    def terms(self, at: NDArray[Any], correct: Floats) -> Floats:
        """``T_k`` (2.11) of the leaves `at` for every offered degree."""
        data, setting = self.data, self.setting
        n_classes = data.n_classes if data.criterion_classes is None else data.criterion_classes
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
            )
            total = self.sets.total[set_id[same]]
            terms[same] = leaf_terms(
                table[same], total, cost, m=m, n_classes=n_classes, gamma_scale=setting.gamma_scale
            )
        return terms

    def columns(self, at: NDArray[Any], correct: Floats) -> NDArray[np.intp]:
        """Column of the offered degrees that each of the leaves `at` gets."""
        tree, code = self.leaves.tree[at], self.leaves.code[at]
        offered = len(self.setting.offered)
        if self.setting.selection == "random_degree" and offered > 1:
            return choose_random_degree(offered, tree + self.first_tree, code, self.seed)
        terms = self.terms(at, correct)
        if self.setting.selection == "random_sequences" and offered > 1:
            n = self.setting.n_sequences
            return choose_random_sequences(terms, tree, code, n, self.seed, self.first_tree)
        return choose_exact(terms)

    def candidates(self, at: NDArray[Any], correct: Floats) -> list[NDArray[np.intp]]:
        """Columns that the final choice may have at `at` while the counts of other leaves are unknown.

        A sequence is scored by its whole tree, so every drawn degree may be needed; the other choices are
        made leaf by leaf.
        """
        if self.setting.selection != "random_sequences":
            return [self.columns(at, correct)]
        tree, code = self.leaves.tree[at] + self.first_tree, self.leaves.code[at]
        offered = len(self.setting.offered)
        return [keyed_below(offered, self.seed, s, tree, code) for s in range(self.setting.n_sequences)]

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
