"""What stands in a forest block: kinds of forests, their sizes, or any classifier with probabilities.

`parse_members` turns the parameter `forests` into a tuple of :class:`Member`; `tree_params` says how the
trees of a member are grown at a layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sklearn.base import BaseEstimator

from surewood.deepforest.contrast_classifier import _ContrastClassifier
from surewood.estimators.parameters import features_tried
from surewood.estimators.rules import Choice, Either, Integer, Kind, check_value
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
#: worse where most columns are uninformative.
AUTO_BLOCKS = (
    PUBLISHED,
    ("extra", "extra", "completely_random", "completely_random"),
    ("random", "random", "extra", "extra"),
    ("extra", "extra", "extra", "extra"),
)
#: One more block for wide tables of numbers.
CONTRAST_BLOCK = ("contrast", "extra")
#: One item of the parameter `forests`.
FOREST = Either(
    Choice(*KINDS, "contrast"),
    Kind(
        "a pair of a kind of forest and a number of trees",
        lambda item: isinstance(item, tuple | list),
        lambda item: (
            len(item) == 2 and item[0] in list(KINDS) and Integer(1).is_kind(item[1]) and item[1] >= 1
        ),
    ),
    Kind(
        "a classifier with predict_proba",
        lambda item: isinstance(item, BaseEstimator),
        lambda item: hasattr(item, "predict_proba"),
    ),
)


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
    most_rows: int | None = None  # that a tree sees; None for all of its fold


def only_forests(members: Sequence[Member]) -> bool:
    """Whether no classifier stands in a forest's place."""
    return all(member.is_forest for member in members)


def has_contrast(members: Sequence[Member]) -> bool:
    """Whether a contrast classifier is among the members."""
    return any(member.kind == "contrast" for member in members)


def parse_compositions(forests: Any, n_estimators: int) -> list[tuple[Member, ...]]:
    """The blocks to compare: those above for "auto", else the one that `forests` describes."""
    if isinstance(forests, str) and forests == "auto":
        return [parse_members(block, n_estimators) for block in AUTO_BLOCKS]
    return [parse_members(forests, n_estimators)]


def parse_members(forests: Any, n_estimators: int) -> tuple[Member, ...]:
    """The members that the parameter `forests` describes.

    Examples
    --------
    >>> [(m.kind, m.n_trees) for m in parse_members(["random", ("extra", 10)], 100)]
    [('random', 100), ('extra', 10)]
    """
    for number, item in enumerate(forests):
        check_value(f"forests[{number}]", item, FOREST)
    return tuple(_member(item, n_estimators) for item in forests)


def _member(item: Any, n_estimators: int) -> Member:
    if isinstance(item, str):
        is_contrast = item == "contrast"
        return Member(item, 0, _ContrastClassifier()) if is_contrast else Member(item, int(n_estimators))
    if isinstance(item, tuple | list):
        return Member(item[0], int(item[1]))
    return Member(type(item).__name__, 0, item)


def tree_params(
    member: Member,
    settings: TreeSettings,
    n_columns: int,
    max_depth: int | None,
    out_of_bag: bool,
    n_rows: int = 0,
) -> TreeParams:
    """How the trees of a member are grown on `n_columns` inputs of `n_rows` rows."""
    splitter, sampling = KINDS[member.kind]
    if out_of_bag:
        sampling = "bootstrap"  # out-of-bag vectors need rows outside the bag, whatever the kind
    if settings.weighting == "resample":
        sampling = "resample"
    fraction = None
    if settings.most_rows is not None and n_rows > settings.most_rows and sampling != "resample":
        sampling = "subsample" if sampling == "all" else sampling
        fraction = settings.most_rows / n_rows
    tried = 1
    if member.kind != "completely_random":
        most = settings.max_features
        # Layers differ in their number of inputs, so an integer is cut to it instead of refused.
        tried = features_tried(min(int(most), n_columns) if isinstance(most, Integral) else most, n_columns)
    return TreeParams(
        splitter=splitter,
        criterion=settings.criterion,
        max_depth=max_depth,
        min_samples_leaf=settings.min_samples_leaf,
        min_weight_fraction_leaf=settings.min_weight_fraction_leaf,
        max_features=tried,
        sampling=sampling,
        n_draws=fraction,
    )
