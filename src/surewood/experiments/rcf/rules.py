"""How leaves get their degrees: the rules whose forests share trees and SVMs in one pass.

A :class:`Rule` is one value on the axis that a method tunes beside r, depth and number of trees: a γ for RCF
(exact or by 10 random sequences), a common degree for RF-SVM, nothing for RF-SVM with random degrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.composite.leaf_choice import LeafChoice
from surewood.composite.setting import Setting

#: method -> selection of the composite forest
SELECTIONS = {
    "rcf": "exact",
    "rcf_sequences": "random_sequences",
    "rf_svm": "common_degree",
    "rf_svm_random": "random_degree",
}


@dataclass(frozen=True)
class Rule:
    """A method with a value of γ or a common degree (None: it has neither)."""

    method: str
    value: float | None

    def setting(self, base: Setting) -> Setting:
        """The setting of a forest that follows this rule."""
        selection = SELECTIONS[self.method]
        if selection == "common_degree":
            assert self.value is not None
            k = base.degrees.index(int(self.value))
            degrees, C = (base.degrees[k],), (base.C[k],)
            return replace(base, selection="exact", degrees=degrees, C=C, constant_leaves=False)
        gamma = base.gamma_scale if self.value is None else self.value
        return replace(base, selection=selection, gamma_scale=gamma)

    def columns(self, choice: LeafChoice, at: NDArray[Any], correct: NDArray[np.float64]) -> NDArray[np.intp]:
        """Place on the list of degrees that each of the leaves `at` takes; -1 for a constant."""
        if SELECTIONS[self.method] == "common_degree":
            assert self.value is not None
            return np.full(len(at), choice.setting.degrees.index(int(self.value)), dtype=np.intp)
        column = replace(choice, setting=self.setting(choice.setting)).columns(at, correct)
        return column - int(choice.setting.constant_leaves)

    def chosen(self) -> Mapping[str, float]:
        """The value by its name."""
        if self.value is None:
            return {}
        if SELECTIONS[self.method] == "common_degree":
            return {"degree": int(self.value)}
        return {"gamma": self.value}


def rules_of(methods: Sequence[str], gammas: Sequence[float], degrees: Sequence[int]) -> list[Rule]:
    """All rules of some methods; of one method in the order of preference on ties (simplest first)."""
    rules: list[Rule] = []
    for method in methods:
        selection = SELECTIONS[method]
        if selection == "common_degree":
            rules += [Rule(method, float(d)) for d in sorted(degrees)]
        elif selection == "random_degree":
            rules.append(Rule(method, None))
        else:
            rules += [Rule(method, float(g)) for g in sorted(gammas, reverse=True)]
    return rules
