"""From parameters and data to one frozen plan: what "auto" means, rule by rule.

:func:`make_plan` returns a :class:`Plan`: the settings of the trees, how many trees each, the plain trees and
their weight, what is held out and how it is used. With ``selection="auto"`` the pilot of
:mod:`~surewood.composite.pilot` decides among the values that the parameters leave open; otherwise there is
one setting. docs/research/composite-forest.md has the measurements behind the rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surewood.composite.data import TrainingData
from surewood.composite.depths import MAX_LEAF_SIZE, affordable_leaf, default_depth, pilot_depths
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.leaves import MAX_DEPTH
from surewood.composite.parameters import C_list, degree_list, draws, is_auto
from surewood.composite.pilot import PilotGrid, PilotResult, pilot_size, run_pilot
from surewood.composite.plain_weight import WEIGHTS
from surewood.composite.setting import Setting
from surewood.composite.tuning import C_GRID, tune_C
from surewood.estimators.parameters import calibration_method, features_tried
from surewood.estimators.time_limit import TimeLimit

ENOUGH_FOR_BAGS = 50  # below this weight nothing is tuned and every tree sees every row
DEGREES = (1, 2, 3)
PILOT_C = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMA_SCALE = 1e-4
PLAIN_TREES_PER_TREE = 5


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters and study switches of a forest, checked but not yet resolved.

    Defaults stand for what some estimators do not offer.
    """

    n_estimators: int = 1
    max_depth: Any
    max_features: Any
    degrees: Any
    C: Any
    gamma_scale: Any
    selection: str
    plain_weight: Any = 0.0
    calibrate: Any
    n_sequences: int
    constant_leaves: Any
    leaf_scores: str
    n_plain_trees: Any = "auto"
    bootstrap: bool = False
    max_samples: Any = None
    max_leaf_size: Any = None
    min_weight_fraction_leaf: float


@dataclass(frozen=True)
class Searched:
    """What a fit chose from, recorded for certificates ([D-37])."""

    #: Degrees offered to a leaf; 0 is not counted.
    n_degrees: int
    #: The largest depth offered.
    max_depth: int
    #: Outcomes that comparisons on the training rows could have had; 1 where nothing was tuned.
    n_settings: int


@dataclass(frozen=True)
class Plan:
    """Everything that training needs to know besides the data."""

    #: Settings with their numbers of trees.
    parts: tuple[tuple[Setting, int], ...]
    #: Weight of the plain trees in the vote; None: chosen on the final votes.
    plain_weight: float | None
    #: How many plain trees there are.
    n_plain: int
    leaf_scores: str
    #: Method, None for no calibration.
    calibration: str | None
    #: Whether small forests without a fold provide held-out votes, for lack of bags.
    out_of_fold: bool
    seed: int
    searched: Searched
    #: Whether choices are made for rows as they come, copies of training rows included, not for new ones.
    with_copies: bool = False
    #: What a time limit left out of the plan.
    notes: tuple[str, ...] = ()

    @property
    def n_trees(self) -> int:
        """Composite trees."""
        return sum(n for _, n in self.parts)

    @property
    def every_tree_sees_all_rows(self) -> bool:
        return all(setting.sampling == "all" for setting, _ in self.parts)


def make_plan(
    given: Parameters,
    data: TrainingData,
    seed: int,
    options: SolverOptions,
    limit: TimeLimit | None = None,
) -> Plan:
    """The plan of a forest for a sample; `limit` is the time of the pilot."""
    if given.selection != "auto":
        return _single_setting(given, data, seed, options)
    if data.total() < ENOUGH_FOR_BAGS:
        return _few_rows(given, data, seed)
    return _by_pilot(given, data, seed, options, limit)


def completed(
    given: Parameters,
    data: TrainingData,
    seed: int,
    parts: tuple[tuple[Setting, int], ...],
    searched: Searched,
    plain_weight: float | None = 0.0,
) -> Plan:
    """The plan of these parts, with what follows from them."""
    calibration = calibration_method(given.calibrate)
    judged = calibration is not None or plain_weight is None
    bags = any(setting.sampling != "all" for setting, _ in parts)
    return Plan(
        parts=parts,
        plain_weight=plain_weight,
        n_plain=_n_plain(given, plain_weight),
        leaf_scores=given.leaf_scores,
        calibration=calibration,
        out_of_fold=judged and not bags and data.total() >= ENOUGH_FOR_BAGS,
        seed=seed,
        searched=searched,
    )


def _single_setting(given: Parameters, data: TrainingData, seed: int, options: SolverOptions) -> Plan:
    """One setting for all trees; C by cross-validation where it is left open."""
    degrees = _degrees(given)
    n_degrees, n_settings, selection = len(degrees), 1, given.selection
    best = 0
    if not is_auto(given.C):
        C = C_list(given.C, n_degrees)
    elif data.total() < ENOUGH_FOR_BAGS:
        C = (1.0,) * n_degrees
    else:
        C, errors = tune_C(data, degrees, seed, options)
        n_settings = len(C_GRID) ** n_degrees
        best = int(errors.min(axis=1).argmin())
    if selection == "common_degree":
        n_settings = 1 if n_settings == 1 else len(C_GRID) * n_degrees
        # [D-16]: the degree whose SVM, with its best C, made the fewest errors in the folds of the tuning.
        degrees, C, selection = (degrees[best],), (C[best],), "exact"
    setting = _setting(
        given,
        data,
        max_depth=default_depth(data.n_rows) if is_auto(given.max_depth) else int(given.max_depth),
        degrees=degrees,
        C=C,
        selection=selection,
        n_sequences=int(given.n_sequences),
        constant_leaves=_constant_leaves(given),
    )
    searched = Searched(n_degrees, largest_depth(setting), n_settings)
    return completed(given, data, seed, ((setting, given.n_estimators),), searched, _given_weight(given))


def _few_rows(given: Parameters, data: TrainingData, seed: int) -> Plan:
    """A handful of rows: no bags, no tuning, the paper's rule with one split."""
    degrees = _degrees(given)
    setting = _setting(
        given,
        data,
        max_depth=1 if is_auto(given.max_depth) else int(given.max_depth),
        degrees=degrees,
        C=(1.0,) * len(degrees) if is_auto(given.C) else C_list(given.C, len(degrees)),
        constant_leaves=_constant_leaves(given),
    )
    searched = Searched(len(degrees), largest_depth(setting), 1)
    return completed(given, data, seed, ((setting, given.n_estimators),), searched, _given_weight(given))


def _by_pilot(
    given: Parameters, data: TrainingData, seed: int, options: SolverOptions, limit: TimeLimit | None
) -> Plan:
    """Settings by a pilot; the weight of the plain trees is left to the final votes."""
    n_pilot = pilot_size(data.n_rows)
    most = most_rows_per_leaf(given, data.n_rows)
    degrees = _degrees(given)
    grid = PilotGrid(
        depths=_pilot_depths_of(given, data.n_rows, n_pilot, most),
        degrees=degrees,
        C=_pilot_C_of(given, data.n_rows, n_pilot, len(degrees)),
        gamma_scale=_gamma(given),
    )
    template = _setting(given, data, max_depth=1, degrees=degrees, C=(1.0,) * len(degrees), max_size=most)
    found = run_pilot(data, grid, template, seed, options, limit)
    parts = _divided(given.n_estimators, found)
    deepest = max(largest_depth(setting) for setting, _ in parts)
    weight = None if is_auto(given.plain_weight) else float(given.plain_weight)
    n_outcomes = found.n_outcomes * (len(WEIGHTS) if weight is None else 1)
    searched = Searched(len(degrees), deepest, n_outcomes)
    plan = completed(given, data, seed, parts, searched, weight)
    return replace(plan, with_copies=True, notes=found.notes)


def most_rows_per_leaf(given: Parameters, n_rows: int) -> int:
    """The most rows per leaf that a forest by the pilot can afford."""
    most = affordable_leaf(n_rows, given.n_estimators)
    if given.max_leaf_size is not None:
        most = min(most, MAX_LEAF_SIZE if is_auto(given.max_leaf_size) else int(given.max_leaf_size))
    return most


def _divided(n_trees: int, found: PilotResult) -> tuple[tuple[Setting, int], ...]:
    """The trees divided among the pilot's settings."""
    sizes = np.diff(np.linspace(0, n_trees, len(found.settings) + 1).round().astype(int))
    return tuple((setting, int(n)) for setting, n in zip(found.settings, sizes) if n > 0)


def _pilot_depths_of(given: Parameters, n_rows: int, n_pilot: int, limit: int) -> tuple[int, ...]:
    """A given depth is that of the full trees: the pilot has fewer rows, hence fewer splits."""
    if is_auto(given.max_depth):
        return pilot_depths(n_pilot, limit)
    return (max(int(given.max_depth) - round(math.log2(n_rows / n_pilot)), 0),)


def _pilot_C_of(given: Parameters, n_rows: int, n_pilot: int, n_degrees: int) -> tuple[float, ...]:
    if is_auto(given.C):
        return PILOT_C
    return tuple(sorted(c * math.sqrt(n_pilot / n_rows) for c in set(C_list(given.C, n_degrees))))


def _setting(given: Parameters, data: TrainingData, **values: Any) -> Setting:
    """A setting with the values that all rules share."""
    sampling, n_draws = _draws(given, data)
    shared: dict[str, Any] = {
        "max_features": features_tried(given.max_features, data.n_splitting),
        "gamma_scale": _gamma(given),
        "max_size": _leaf_size(given),
        "sampling": sampling,
        "n_draws": n_draws,
        "min_weight_fraction_leaf": float(given.min_weight_fraction_leaf),
    }
    return Setting(**(shared | values))


def _draws(given: Parameters, data: TrainingData) -> tuple[str, int | None]:
    if not is_auto(given.max_samples):
        return draws(given.bootstrap, given.max_samples, data.n_rows)
    with_bags = given.selection == "auto" and data.total() >= ENOUGH_FOR_BAGS
    return draws(given.bootstrap, 0.8 if with_bags and not given.bootstrap else None, data.n_rows)


def _degrees(given: Parameters) -> tuple[int, ...]:
    return DEGREES if is_auto(given.degrees) else degree_list(given.degrees)


def _gamma(given: Parameters) -> float:
    return GAMMA_SCALE if is_auto(given.gamma_scale) else float(given.gamma_scale)


def _leaf_size(given: Parameters) -> int | None:
    if is_auto(given.max_leaf_size):
        return MAX_LEAF_SIZE
    return None if given.max_leaf_size is None else int(given.max_leaf_size)


def _constant_leaves(given: Parameters) -> bool:
    return not is_auto(given.constant_leaves) and bool(given.constant_leaves)


def _given_weight(given: Parameters) -> float:
    return 0.0 if is_auto(given.plain_weight) else float(given.plain_weight)


def _n_plain(given: Parameters, plain_weight: float | None) -> int:
    if plain_weight == 0.0:
        return 0
    if is_auto(given.n_plain_trees):
        return PLAIN_TREES_PER_TREE * given.n_estimators
    return int(given.n_plain_trees)


def largest_depth(setting: Setting) -> int:
    """The largest depth that leaves of a setting may have: a limit on their size lets them go deeper."""
    return setting.max_depth if setting.max_size is None else MAX_DEPTH
