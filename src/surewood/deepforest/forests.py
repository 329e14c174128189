"""The forests of a layer: their kinds and sizes, which blocks of them are compared, and how deep they grow.

`parse_members` turns the parameter `forests` into a tuple of :class:`BlockMember`, `candidate_blocks` gives
the blocks that a fit compares at its first layer, `parse_schedules` turns `depth_schedule` into growth rates
([D-27]), and `tree_params` says how the trees of a member are grown at a layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator

from surewood.base.parameters import features_tried
from surewood.base.rules import Choice, Either, Integer, Rule, check_value
from surewood.deepforest.contrasts import _ContrastClassifier, suits_contrasts
from surewood.tables import Table
from surewood.trees.growing import TreeParams

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
    Rule(
        "a pair of a kind of forest and a number of trees",
        lambda item: isinstance(item, tuple | list),
        lambda item: (
            len(item) == 2 and item[0] in list(KINDS) and Integer(1).is_kind(item[1]) and item[1] >= 1
        ),
    ),
    Rule(
        "a classifier with predict_proba",
        lambda item: isinstance(item, BaseEstimator),
        lambda item: hasattr(item, "predict_proba"),
    ),
)
LIST_OF_FORESTS: Rule = Rule(
    "a list with at least one forest",
    lambda value: isinstance(value, list | tuple),
    lambda value: len(value) > 0,
)
#: One growth rate of the depth per forest; None is no limit.
Schedule: TypeAlias = tuple[int | None, ...]
#: Growth rates that ``depth_schedule="auto"`` compares at the first layer.
AUTO_SCHEDULES: tuple[int, ...] = (8, 16)
_RATE = Integer(1)


@dataclass(frozen=True)
class BlockMember:
    """One forest of a block, or a classifier in its place (then `estimator` is set and `n_trees` is 0)."""

    kind: str
    n_trees: int
    estimator: Any = None

    @property
    def is_forest(self) -> bool:
        return self.estimator is None


Blocks: TypeAlias = Sequence[Sequence[BlockMember]]


def at_most(members: Sequence[BlockMember], n_trees: int) -> tuple[BlockMember, ...]:
    """The members with at most this many trees each."""
    return tuple(replace(member, n_trees=min(member.n_trees, n_trees)) for member in members)


def parse_members(forests: Any, n_estimators: int) -> tuple[BlockMember, ...]:
    """The members that the parameter `forests` describes.

    Examples
    --------
    >>> [(m.kind, m.n_trees) for m in parse_members(["random", ("extra", 10)], 100)]
    [('random', 100), ('extra', 10)]
    """
    members = []
    for number, item in enumerate(forests):
        check_value(f"forests[{number}]", item, FOREST)
        if isinstance(item, str) and item == "contrast":
            members.append(BlockMember(item, 0, _ContrastClassifier()))
        elif isinstance(item, str):
            members.append(BlockMember(item, int(n_estimators)))
        elif isinstance(item, tuple | list):
            members.append(BlockMember(item[0], int(item[1])))
        else:
            members.append(BlockMember(type(item).__name__, 0, item))
    return tuple(members)


def candidate_blocks(parameters: Mapping[str, Any], table: Table) -> Blocks:
    """The blocks that a fit compares at the first layer: those above for "auto", else the one described.

    Wide tables of numbers get one more, with a contrast classifier; but not a search, where one in each layer
    of dozens of settings would take hours, and not a list of depths, which is for blocks of its own length.
    """
    forests, n_estimators = parameters["forests"], parameters["n_estimators"]
    if not isinstance(forests, str):
        return [parse_members(forests, n_estimators)]
    blocks = [parse_members(block, n_estimators) for block in AUTO_BLOCKS]
    is_search = "schedules" in parameters
    if is_search or isinstance(parameters["depth_schedule"], list | tuple):
        return blocks
    if suits_contrasts(table):
        blocks.append(parse_members(CONTRAST_BLOCK, n_estimators))
    return blocks


def parse_schedules(depth_schedule: Any, n_members: int) -> list[Schedule]:
    """The schedules to compare, each with one growth rate per forest.

    Examples
    --------
    >>> parse_schedules(8, 2), parse_schedules(None, 1)
    ([(8, 8)], [(None,)])
    """
    if isinstance(depth_schedule, str) and depth_schedule == "auto":
        return [(rate,) * n_members for rate in AUTO_SCHEDULES]
    if depth_schedule is None or _is_rate(depth_schedule):
        return [(depth_schedule,) * n_members]
    is_list = isinstance(depth_schedule, list | tuple) and len(depth_schedule) == n_members
    if is_list and all(rate is None or _is_rate(rate) for rate in depth_schedule):
        return [tuple(depth_schedule)]
    raise ValueError(
        "depth_schedule must be 'auto', an integer of at least 1, None or a list with one of these for each "
        f"of the {n_members} forests, got {depth_schedule!r}."
    )


def _is_rate(value: Any) -> bool:
    return _RATE.is_kind(value) and _RATE.holds(value)


@dataclass(frozen=True)
class TreeSettings:
    """Tree parameters shared by the forests of all layers."""

    max_features: Any = "sqrt"
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    weighting: str = "reweight"
    most_rows: int | None = None  # that a tree sees; None for all of its fold


def tree_params(
    member: BlockMember,
    settings: TreeSettings,
    n_columns: int,
    max_depth: int | None,
    n_rows: int = 0,
) -> TreeParams:
    """How the trees of a member are grown on `n_columns` inputs of `n_rows` rows."""
    splitter, sampling = KINDS[member.kind]
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
        max_depth=max_depth,
        min_samples_leaf=settings.min_samples_leaf,
        min_weight_fraction_leaf=settings.min_weight_fraction_leaf,
        max_features=tried,
        sampling=sampling,
        n_draws=fraction,
    )
