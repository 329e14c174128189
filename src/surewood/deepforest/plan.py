"""From parameters and data to one frozen plan: nothing about a fit is decided later.

A :class:`MarginSetting` or :class:`CascadeSetting` says how one cascade is grown: its forests, depths, rules
and seed. The :class:`DeepForestPlan` that `make_plan` returns holds the settings that a fit compares, and how
to run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Generic, TypeVar

from surewood.base.parameters import calibration_method, rows_counted
from surewood.base.time_limit import TimeLimit
from surewood.deepforest.data import DeepForestData, usable_folds
from surewood.deepforest.forests import BlockMember, Schedule, TreeSettings, parse_schedules
from surewood.deepforest.margins import StepRule

#: Trees of each forest that compare first layers, and the fewest of the chosen block in batches of as many.
PILOT_TREES, LEAST_BATCHES = 10, 3
#: Differences of the held-out loss below this many of its standard errors do not count: trees are added until
#: more could gain no more, and a layer whose first trees gain no more is the last.
TOLERANCE = 0.2
#: Layers without improvement before growing stops, and the least improvement, where forests are given.
PATIENCE, MIN_IMPROVEMENT = 3, 1e-4
#: Most rows that a tree sees where forests are chosen: others see other rows, and layers see all of them.
TREE_ROWS = 25_000


@dataclass(frozen=True, kw_only=True)
class GrowthSetting(ABC):
    """How a cascade is grown, by either algorithm: everything here decides the result.

    `min_improvement` is a number or "noise": then a layer has to gain more than the standard error of its
    gain. `pilot_trees`, at least 2, are those of each forest that compare first layers and begin every layer;
    without them every forest has all its trees at once.
    """

    members: Sequence[BlockMember]
    trees: TreeSettings = field(default_factory=TreeSettings)
    n_folds: int = 5
    cross_fit: str = "kfold"
    max_layers: int = 10
    patience: int = PATIENCE
    min_improvement: float | str = MIN_IMPROVEMENT
    monitor: Any = "accuracy"
    seed: int = 0
    pilot_trees: int | None = None

    @property
    def forests(self) -> tuple[tuple[str, int], ...]:
        """Kind and number of trees of each forest."""
        return tuple((member.kind, member.n_trees) for member in self.members)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of each forest."""
        return tuple(member.kind for member in self.members)

    @abstractmethod
    def depths(self, layer: int) -> list[int | None]:
        """Depth limits of the forests at layer 1, 2, ..."""


@dataclass(frozen=True, kw_only=True)
class MarginSetting(GrowthSetting):
    """How a margin forest is grown.

    `schedule` has one growth rate a per forest: depth a (t + 1) at layer t ([D-27]).
    """

    schedule: Schedule
    step: StepRule = field(default_factory=StepRule)
    reweighting: str = "literal"
    layer_inputs: str = "both"

    @property
    def first_key(self) -> tuple[Any, ...]:
        """What the first layer depends on among the candidates of one fit."""
        return self.forests, self.schedule

    def depths(self, layer: int) -> list[int | None]:
        return [None if rate is None else rate * (layer + 1) for rate in self.schedule]


@dataclass(frozen=True, kw_only=True)
class CascadeSetting(GrowthSetting):
    """How a cascade forest is grown; `screening` is None, "auto" or a gate between 0 and 1."""

    max_depth: int | None = None
    screening: float | str | None = None

    def depths(self, layer: int) -> list[int | None]:
        return [self.max_depth] * len(self.members)


_Setting = TypeVar("_Setting", bound=GrowthSetting)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How to run, with no influence on the result except that growing ends when `time_limit` is over.

    With `spill` finished layers are written to a temporary folder and mapped back.
    """

    n_jobs: int | None = 1
    verbose: int = 0
    keep_held_out: bool = False
    spill: bool = False
    time_limit: TimeLimit = field(default_factory=lambda: TimeLimit(None))


@dataclass(frozen=True, kw_only=True)
class DeepForestPlan(Generic[_Setting]):
    """One fit."""

    #: Compared by the held-out score of their first layers; earlier ones win ties.
    candidates: tuple[_Setting, ...]
    #: Method of the calibrator; None is no calibration.
    calibration: str | None = None
    #: In a search, after each layer only one in `halving` of the candidates goes on; None grows all of them.
    halving: float | None = None
    run: RunOptions = field(default_factory=RunOptions)

    @property
    def n_first_layers(self) -> int:
        """Different first layers among the candidates."""
        return len({(setting.forests, tuple(setting.depths(1))) for setting in self.candidates})


def make_plan(parameters: Mapping[str, Any], data: DeepForestData, seed: int) -> DeepForestPlan[Any]:
    """The plan of a fit; `parameters` are the checked parameters and study switches of an estimator."""
    training = data.training
    if training.given_folds is None:
        if training.groups is None:
            n_folds = usable_folds(training.y, parameters["cv"], training.classes, training.content)
        else:
            n_folds = usable_folds(training.y, parameters["cv"], training.classes, training.groups, "group")
    else:
        n_folds = int(training.given_folds.max()) + 1
    is_chosen = isinstance(parameters["forests"], str)
    names = ("cross_fit", "max_layers", "patience", "min_improvement", "monitor")
    growth = {
        "trees": TreeSettings(
            parameters["max_features"],
            rows_counted(parameters["min_samples_leaf"], training.n_rows),
            float(parameters["min_weight_fraction_leaf"]),
            parameters["weighting"],
            TREE_ROWS if is_chosen else None,
        ),
        "n_folds": n_folds,
        "seed": seed,
        **{name: parameters[name] for name in names},
    }
    candidates: tuple[GrowthSetting, ...]
    if "screening" in parameters:
        screening = parameters["screening"]
        gate = screening if screening is None or isinstance(screening, str) else float(screening)
        max_depth = parameters["max_depth"]
        candidates = (CascadeSetting(members=data.blocks[0], max_depth=max_depth, screening=gate, **growth),)
    else:
        candidates = _margin_candidates(parameters, data, growth, is_chosen)
    return DeepForestPlan(
        candidates=candidates,
        calibration=calibration_method(parameters["calibrate"]),
        halving=parameters.get("halving"),
        run=RunOptions(
            n_jobs=parameters["n_jobs"],
            verbose=parameters["verbose"],
            keep_held_out=parameters["keep_held_out"],
            spill=not parameters["keep_in_memory"],
            time_limit=parameters["time_limit"],
        ),
    )


def _margin_candidates(
    parameters: Mapping[str, Any], data: DeepForestData, growth: dict[str, Any], is_chosen: bool
) -> tuple[MarginSetting, ...]:
    """Each block with each setting; a margin forest that is no search has one setting."""
    # How many trees and layers: by the table where the block is chosen as well, else as published.
    if growth["patience"] == "auto":
        growth["patience"] = 1 if is_chosen else PATIENCE
    if growth["min_improvement"] == "auto":
        growth["min_improvement"] = "noise" if is_chosen else MIN_IMPROVEMENT
    n_trees = parameters["pilot_trees"]
    if n_trees == "auto":
        n_trees = PILOT_TREES if is_chosen else None
    sizes = [member.n_trees for block in data.blocks for member in block if member.is_forest]
    if n_trees is not None and min(sizes, default=0) > 1:
        growth["pilot_trees"] = min(n_trees, *sizes)
    if "schedules" in parameters:
        grid = product(data.blocks, parameters["schedules"], parameters["thetas"], parameters["mus"])
    else:
        setting = [parameters["depth_schedule"]], [parameters["theta"]], [parameters["mu_loss"]]
        grid = product(data.blocks, *setting)
    return tuple(
        MarginSetting(
            members=members,
            schedule=schedule,
            step=StepRule(parameters["step"], parameters["margins"], float(theta), float(mu)),
            reweighting=parameters["reweighting"],
            layer_inputs=parameters["layer_inputs"],
            **growth,
        )
        for members, depth_schedule, theta, mu in grid
        for schedule in _schedules(depth_schedule, members)
    )


def _schedules(depth_schedule: Any, members: Sequence[BlockMember]) -> list[Schedule]:
    """The depths to compare; beside a contrast classifier, which has none, the largest is enough."""
    schedules = parse_schedules(depth_schedule, len(members))
    return schedules[-1:] if any(member.kind == "contrast" for member in members) else schedules
