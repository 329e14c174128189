"""From parameters and data to one frozen plan: nothing about a fit is decided later.

A :class:`MarginPlan` or :class:`CascadePlan` describes one cascade: its forests, depths, rules and seed. A
:class:`FitPlan` holds the candidates that a fit compares at the first layer, the rows to train on and how to
run; a :class:`SearchPlan` also says how a grid of settings is searched. `parameters` are always the checked
parameters and study switches of an estimator, by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from surewood.deepforest.additive import StepRule
from surewood.deepforest.data import PreparedData
from surewood.deepforest.depth_schedules import Schedule, depths, parse_schedules
from surewood.deepforest.folds import layer_seed, usable_folds
from surewood.deepforest.members import (
    CONTRAST_BLOCK,
    Member,
    TreeSettings,
    has_contrast,
    parse_compositions,
    parse_members,
)
from surewood.deepforest.reweighting import STRENGTHS, WeightRule
from surewood.deepforest.wide_tables import contrast_bytes, suits_contrasts
from surewood.estimators.folds import stratified_folds
from surewood.estimators.parameters import calibration_method, memory_bytes, rows_counted
from surewood.estimators.time_limit import TimeLimit
from surewood.tables import Table

#: Trees of each forest that compare first layers, and the fewest of the chosen block in batches of as many.
PILOT_TREES, LEAST_BATCHES = 10, 3
#: Layers without improvement before growing stops, and the least improvement, where forests are given.
PATIENCE, MIN_IMPROVEMENT = 3, 1e-4
#: Most rows that a tree sees where forests are chosen: others see other rows, and layers see all of them.
TREE_ROWS = 25_000

Parameters: TypeAlias = Mapping[str, Any]
Blocks: TypeAlias = Sequence[Sequence[Member]]


@dataclass(frozen=True)
class PilotRule:
    """How many trees a table needs, decided while they are grown (:mod:`.tree_noise`)."""

    #: Trees of each forest that compare first layers and begin every layer; at least 2.
    n_trees: int
    #: Fewest trees of a forest of the chosen block.
    least_trees: int
    #: Differences of the loss below this many of its standard errors do not count: trees are added until more
    #: could gain no more than that, and a layer whose first trees gain no more is the last.
    tolerance: float


@dataclass(frozen=True, kw_only=True)
class GrowthPlan(ABC):
    """What the plans of both algorithms share: everything here decides the result.

    `min_improvement` is a number or "noise": then a layer has to gain more than the standard error of its
    gain. Without a `pilot` every forest has all its trees.
    """

    members: Sequence[Member]
    trees: TreeSettings = field(default_factory=TreeSettings)
    n_folds: int = 5
    cross_fit: str = "kfold"
    max_layers: int = 10
    patience: int = 3
    min_improvement: float | str = 1e-4
    monitor: Any = "accuracy"
    max_bins: int = 255
    seed: int = 0
    pilot: PilotRule | None = None

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

    @abstractmethod
    def vector_columns(self, n_classes: int) -> int:
        """Columns that later layers read beside the table."""


@dataclass(frozen=True, kw_only=True)
class MarginPlan(GrowthPlan):
    """One margin forest; `schedule` has one growth rate per forest ([D-27])."""

    schedule: Schedule
    step: StepRule = field(default_factory=StepRule)
    weights: WeightRule = field(default_factory=WeightRule)
    layer_inputs: str = "both"

    @property
    def first_key(self) -> tuple[Any, ...]:
        """What the first layer depends on among the candidates of one fit."""
        return self.forests, self.schedule

    def depths(self, layer: int) -> list[int | None]:
        return depths(self.schedule, layer)

    def vector_columns(self, n_classes: int) -> int:
        return n_classes


@dataclass(frozen=True, kw_only=True)
class CascadePlan(GrowthPlan):
    """One cascade forest.

    `screening` is None, "auto" or a gate between 0 and 1; `screening_factor` belongs to "auto". With
    `screening_growth` forests grow in inverse proportion to the fraction of points still in play.
    """

    max_depth: int | None = None
    screening: float | str | None = None
    screening_factor: float = 3.0
    screening_growth: bool = False

    def depths(self, layer: int) -> list[int | None]:
        return [self.max_depth] * len(self.members)

    def vector_columns(self, n_classes: int) -> int:
        return n_classes * len(self.members)


P = TypeVar("P", bound=GrowthPlan)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How to run, with no influence on the result except that growing ends when `time_limit` is over.

    With `spill` finished layers are written to `spill_folder` (None: a temporary folder) and mapped back.
    """

    n_jobs: int | None = 1
    verbose: int = 0
    keep_held_out: bool = False
    spill: bool = False
    spill_folder: Any = None
    time_limit: TimeLimit = field(default_factory=lambda: TimeLimit(None))


@dataclass(frozen=True, kw_only=True)
class FitPlan(Generic[P]):
    """One fit."""

    #: Compared by the held-out score of their first layers; earlier ones win ties.
    candidates: tuple[P, ...]
    #: Rows of the prepared data to grow on.
    rows: NDArray[np.int64]
    #: Rows whose score decides on the number of layers, instead of the held-out scores of `rows`.
    validation_rows: NDArray[np.int64] | None = None
    #: Method of the calibrator; None is no calibration.
    calibration: str | None = None
    #: Bytes that the fit may take.
    max_memory: float | None = None
    run: RunOptions = field(default_factory=RunOptions)

    @property
    def n_first_layers(self) -> int:
        """Different first layers among the candidates."""
        return len({(plan.forests, tuple(plan.depths(1))) for plan in self.candidates})

    @property
    def trial_layers(self) -> tuple[float, float]:
        """Fewest and most layers that are grown only to compare candidates."""
        return self.n_first_layers - 1, self.n_first_layers - 1


@dataclass(frozen=True, kw_only=True)
class SearchPlan(FitPlan[MarginPlan]):
    """A search over settings."""

    #: After each layer only one in `halving` of the settings goes on; None grows all of them to their end.
    halving: float | None = 3.0
    #: Whether the best setting is grown again and kept.
    refit: bool = True

    @property
    def trial_layers(self) -> tuple[float, float]:
        first, settings = self.n_first_layers, len(self.candidates)
        layers = max(plan.max_layers for plan in self.candidates)
        later = layers if self.halving is None else 1.0 / (1.0 - 1.0 / self.halving)
        return first, first + settings * later


def margin_blocks(parameters: Parameters, table: Table) -> Blocks:
    """The blocks that a margin forest compares; wide tables of numbers get one with a contrast classifier."""
    blocks = parse_compositions(parameters["forests"], parameters["n_estimators"])
    if len(blocks) == 1 or isinstance(parameters["depth_schedule"], list | tuple):
        return blocks
    max_memory = memory_bytes(parameters["max_memory"])
    limit = np.inf if max_memory is None else max_memory / 2
    needed = contrast_bytes(table.n_rows, table.n_columns, effective_n_jobs(parameters["n_jobs"]))
    if needed > limit or not suits_contrasts(table):
        return blocks
    return [*blocks, parse_members(CONTRAST_BLOCK, parameters["n_estimators"])]


def plan_margin_forest(
    parameters: Parameters, blocks: Blocks, data: PreparedData, seed: int
) -> FitPlan[MarginPlan]:
    """The plan of one margin forest: each block with each depth schedule."""
    rows = _rows(parameters, data, seed)
    growth = {**_growth(parameters, data, rows["rows"], seed), **_thrift(parameters, blocks)}
    step = _step(parameters, parameters["theta"], parameters["mu_loss"])
    candidates = tuple(
        MarginPlan(members=members, schedule=schedule, step=step, **_margin_rules(parameters), **growth)
        for members in blocks
        for schedule in _schedules(parameters["depth_schedule"], members)
    )
    return FitPlan(candidates=candidates, **rows, **_execution(parameters))


def plan_search(parameters: Parameters, blocks: Blocks, data: PreparedData, seed: int) -> SearchPlan:
    """The plan of a search: each block with each setting of the grid."""
    rows = _rows(parameters, data, seed)
    growth = {**_growth(parameters, data, rows["rows"], seed), **_thrift(parameters, blocks)}
    grid = product(blocks, parameters["schedules"], parameters["thetas"], parameters["mus"])
    candidates = tuple(
        MarginPlan(
            members=members,
            schedule=rates,
            step=_step(parameters, theta, mu),
            **_margin_rules(parameters),
            **growth,
        )
        for members, schedule, theta, mu in grid
        for rates in parse_schedules(schedule, len(members))
    )
    halving = parameters["halving"]
    return SearchPlan(
        candidates=candidates,
        halving=None if halving is None else float(halving),
        refit=parameters["refit"],
        **rows,
        **_execution(parameters),
    )


def plan_cascade_forest(
    parameters: Parameters, blocks: Blocks, data: PreparedData, seed: int
) -> FitPlan[CascadePlan]:
    """The plan of a cascade forest."""
    rows = _rows(parameters, data, seed)
    screening = parameters["screening"]
    candidate = CascadePlan(
        members=blocks[0],
        max_depth=parameters["max_depth"],
        screening=screening if screening is None or isinstance(screening, str) else float(screening),
        screening_factor=parameters["screening_factor"],
        screening_growth=parameters["screening_growth"],
        **_growth(parameters, data, rows["rows"], seed),
    )
    return FitPlan(candidates=(candidate,), **rows, **_execution(parameters))


def _rows(parameters: Parameters, data: PreparedData, seed: int) -> dict[str, Any]:
    """Rows to grow on and rows to validate on, stratified."""
    fraction, y = parameters["validation_fraction"], data.training.y
    if fraction is None:
        return {"rows": np.arange(len(y)), "validation_rows": None}
    n_parts = max(2, round(1.0 / fraction))
    part = stratified_folds(y, n_parts, layer_seed(seed, 0, 1), data.training.content)
    return {"rows": np.flatnonzero(part != 0), "validation_rows": np.flatnonzero(part == 0)}


def _growth(parameters: Parameters, data: PreparedData, rows: NDArray[np.int64], seed: int) -> dict[str, Any]:
    """The fields of :class:`GrowthPlan` but the members."""
    names = ("cross_fit", "max_layers", "patience", "min_improvement", "monitor", "max_bins")
    given = data.training.given_folds
    if given is None:
        content = data.training.content
        n_folds = usable_folds(
            data.training.y[rows],
            parameters["cv"],
            data.training.classes,
            None if content is None else content[rows],
        )
    else:
        n_folds = int(given.max()) + 1
    return {
        "trees": TreeSettings(
            parameters["criterion"],
            parameters["max_features"],
            rows_counted(parameters["min_samples_leaf"], len(rows)),
            float(parameters["min_weight_fraction_leaf"]),
            parameters["weighting"],
            _tree_rows(parameters),
        ),
        "n_folds": n_folds,
        "seed": seed,
        **{name: parameters[name] for name in names},
    }


def _tree_rows(parameters: Parameters) -> int | None:
    """Most rows that a tree sees: limited where the block is chosen as well, else all, as published."""
    given = parameters.get("tree_rows")
    if given != "auto":
        return None if given is None else int(given)
    return TREE_ROWS if isinstance(parameters["forests"], str) else None


def _thrift(parameters: Parameters, blocks: Blocks) -> dict[str, Any]:
    """How many trees and layers: by the table where the block is chosen as well, else as published."""
    own = isinstance(parameters["forests"], str)
    sizes = [member.n_trees for block in blocks for member in block if member.is_forest]
    n_trees = parameters["pilot_trees"]
    if n_trees == "auto":
        n_trees = PILOT_TREES if own else None
    pilot = None
    if n_trees is not None and min(sizes, default=0) > 1:
        few = min(n_trees, *sizes)
        pilot = PilotRule(few, LEAST_BATCHES * few, float(parameters["tolerance"]))
    rules = {"patience": (1, PATIENCE), "min_improvement": ("noise", MIN_IMPROVEMENT)}
    settled = {name: parameters[name] for name in rules if parameters[name] != "auto"}
    return {"pilot": pilot, **{name: rule[0 if own else 1] for name, rule in rules.items()}, **settled}


def _margin_rules(parameters: Parameters) -> dict[str, Any]:
    kind, strength = parameters["reweighting"], parameters["strength"]
    rule = WeightRule(kind, STRENGTHS[kind] if strength is None else float(strength))
    return {"weights": rule, "layer_inputs": parameters["layer_inputs"]}


def _step(parameters: Parameters, theta: float, mu: float) -> StepRule:
    return StepRule(parameters["step"], parameters["margins"], float(theta), float(mu))


def _schedules(depth_schedule: Any, members: Sequence[Member]) -> list[Schedule]:
    """The depths to compare; beside a contrast classifier, which has none, the largest is enough."""
    schedules = parse_schedules(depth_schedule, len(members))
    return schedules[-1:] if has_contrast(members) else schedules


def _execution(parameters: Parameters) -> dict[str, Any]:
    """The fields of :class:`FitPlan` that do not concern the growth."""
    return {
        "calibration": calibration_method(parameters["calibrate"]),
        "max_memory": memory_bytes(parameters["max_memory"]),
        "run": RunOptions(
            n_jobs=parameters["n_jobs"],
            verbose=parameters["verbose"],
            keep_held_out=parameters["keep_held_out"],
            spill=not parameters["keep_in_memory"],
            spill_folder=parameters["spill_folder"],
            time_limit=parameters["time_limit"],
        ),
    }
