"""What stands in a forest block: kinds of forests, their sizes, or any classifier with probabilities.

`parse_members` turns the parameter `forests` into a list of :class:`Member`; `tree_params` says how the
trees of a member are grown at a layer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sklearn.base import BaseEstimator

from surewood.deepforest.contrast_machine import _ContrastMachine
from surewood.trees import TreeParams

#: Kind of forest: how a split is found, and which rows a tree sees when points are cross-fitted by folds.
KINDS = {
    "random": ("best", "bootstrap"),
    "extra": ("random", "all"),
    "completely_random": ("completely_random", "all"),
}


#: The block of the papers.
PUBLISHED = ("random", "random", "completely_random", "completely_random")
#: Blocks that "auto" compares at the first layer, out of one pool of two random, two completely random and
#: four extra-trees forests: extra-trees are better where labels are clean, and completely random trees are
#: lost where most columns say nothing.
AUTO_BLOCKS = (
    PUBLISHED,
    ("extra", "extra", "completely_random", "completely_random"),
    ("random", "random", "extra", "extra"),
    ("extra", "extra", "extra", "extra"),
)
#: One more block for wide tables of numbers.
CONTRAST_BLOCK = ("contrast", "extra")


@dataclass(frozen=True)
class Member:
    """One forest of a block, or a classifier in its place (then `estimator` is set and `n_trees` is 0)."""

    kind: str
    n_trees: int
    estimator: Any = None

    @property
    def is_forest(self) -> bool:
        return self.estimator is None


@dataclass(frozen=True)
class TreeSettings:
    """Tree parameters shared by the forests of all layers."""

    criterion: str = "gini"
    max_features: Any = "sqrt"
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    weighting: str = "reweight"


def only_forests(members: Sequence[Member]) -> bool:
    """Whether no classifier stands in a forest's place."""
    return all(member.is_forest for member in members)


def parse_compositions(forests: Any, n_estimators: int) -> list[list[Member]]:
    """The blocks to compare: those above for "auto", else the one that `forests` describes."""
    if isinstance(forests, str) and forests == "auto":
        return [parse_members(block, n_estimators) for block in AUTO_BLOCKS]
    return [parse_members(forests, n_estimators)]


def parse_members(forests: Any, n_estimators: int) -> list[Member]:
    """The members that the parameter `forests` describes.

    Examples
    --------
    >>> [(m.kind, m.n_trees) for m in parse_members(["random", ("extra", 10)], 100)]
    [('random', 100), ('extra', 10)]
    """
    if isinstance(forests, str) or not isinstance(forests, Sequence) or len(forests) == 0:
        raise ValueError(f"forests must be a list with at least one forest, got {forests!r}.")
    return [_member(item, n_estimators, f"forests[{i}]") for i, item in enumerate(forests)]


def _member(item: Any, n_estimators: int, where: str) -> Member:
    if isinstance(item, str) and item in KINDS:
        return Member(item, int(n_estimators))
    if isinstance(item, tuple | list) and len(item) == 2 and item[0] in KINDS:
        if not isinstance(item[1], Integral) or isinstance(item[1], bool) or item[1] < 1:
            raise ValueError(f"{where}: the number of trees must be a positive integer, got {item[1]!r}.")
        return Member(item[0], int(item[1]))
    if isinstance(item, str) and item == "contrast":
        return Member(item, 0, _ContrastMachine())
    if isinstance(item, BaseEstimator):
        if not hasattr(item, "predict_proba"):
            raise ValueError(
                f"{where}, {type(item).__name__}, has no predict_proba; wrap it in CalibratedClassifierCV or "
                "take another classifier."
            )
        return Member(type(item).__name__, 0, item)
    kinds = ", ".join(map(repr, KINDS))
    raise ValueError(
        f"{where} is {item!r}; expected {kinds}, a pair of one of these and a number of trees, "
        "'contrast', or a classifier with predict_proba."
    )


def tree_params(
    member: Member, settings: TreeSettings, n_columns: int, max_depth: int | None, out_of_bag: bool
) -> TreeParams:
    """How the trees of a member are grown on `n_columns` inputs."""
    splitter, sampling = KINDS[member.kind]
    if out_of_bag:
        sampling = "bootstrap"  # out-of-bag vectors need rows outside the bag, whatever the kind
    if settings.weighting == "resample":
        sampling = "resample"
    tried = 1 if member.kind == "completely_random" else features_tried(settings.max_features, n_columns)
    return TreeParams(
        splitter=splitter,
        criterion=settings.criterion,
        max_depth=max_depth,
        min_samples_leaf=settings.min_samples_leaf,
        min_weight_fraction_leaf=settings.min_weight_fraction_leaf,
        max_features=tried,
        sampling=sampling,
    )


def features_tried(max_features: Any, n_columns: int) -> int:
    """`max_features` as a number between 1 and `n_columns`.

    Layers differ in their number of inputs, so an integer is cut to it instead of refused.
    """
    if max_features is None:
        return n_columns
    if max_features == "sqrt":
        return max(1, math.isqrt(n_columns))
    if max_features == "log2":
        return max(1, int(math.log2(n_columns)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_columns)
    return max(1, int(float(max_features) * n_columns))
