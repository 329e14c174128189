"""From parameters and data to one frozen plan: what "auto" means, rule by rule.

:func:`make_plan` returns a :class:`CompositePlan`: the settings of the trees, how many trees each, the plain
trees and their weight, what is held out and how it is used. With ``selection="auto"`` the pilot of
:mod:`~surewood.composite.pilot` decides among the values that the parameters leave open; otherwise there is
one setting. docs/research/composite-forest.md has the measurements behind the rules. The functions at the end
turn single parameters into numbers.

For a forest whose votes are guaranteed on all rows ([D-43], theory.md §11.9) :func:`draw_bags` refuses what
the proof does not cover, and the plan is made from the preparation part, which is in the bag of every tree.
Nothing is chosen on out-of-bag votes: there are no plain trees and no calibration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from surewood.base.parameters import calibration_method, features_tried, memory_bytes
from surewood.base.subsamples import Subsamples, draw_subsamples
from surewood.base.time_limit import TimeLimit
from surewood.composite.data import CompositeData, SolverOptions
from surewood.composite.growing import MAX_DEPTH, Setting
from surewood.composite.leaves import family_names, tune_C
from surewood.composite.pilot import IN_BAG, pilot_size, run_pilot
from surewood.families import as_families
from surewood.svm.penalty import C_GRID, C_list, degree_list
from surewood.tables import TrainingTable

ENOUGH_FOR_BAGS = 50  # below this weight nothing is tuned and every tree sees every row
DEGREES = (1, 2, 3)
PILOT_C = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMA_SCALE = 1e-4
PLAIN_TREES_PER_TREE = 5
PLAIN_WEIGHTS = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9)  # that plain trees may get in the vote
_PILOT_TIME = 1 / 3  # part of a time limit that the pilot may take
MAX_LEAF_SIZE = 2000
_LEAF_OF_A_DEFAULT_FIT = 1000  # rows at most: the time of an SVM grows with their square
_WORK = 4e8  # trees x rows x rows per leaf that a default fit may cost
_ROWS_PER_LEAF = 20  # that the default depth leaves on average
_DEFAULT_DEPTH = 4
#: What leaves of other families do without, with the values that say so.
_OF_SVMS = {"degrees": "auto", "C": "auto", "C_per_leaf": False, "certifiable": False, "kernel": "poly"}


Parameters: TypeAlias = Mapping[str, Any]

#: Values of the parameters and study switches that some of the estimators do not have.
NOT_OFFERED: Parameters = {
    "n_estimators": 1,
    "plain_weight": 0.0,
    "C_per_leaf": False,
    "leaves": None,
    "n_plain_trees": "auto",
    "bootstrap": False,
    "max_samples": None,
    "max_leaf_size": None,
    "certifiable": False,
}


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
class CompositePlan:
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
    limit: TimeLimit
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


def make_plan(parameters: Parameters, data: CompositeData, seed: int) -> CompositePlan:
    """The plan of a forest for a sample."""
    if data.options.families:
        parameters = _with_families(parameters)
    if parameters["C_per_leaf"] and parameters["selection"] in ("auto", "common_degree"):
        raise ValueError('study={"C_per_leaf": True} needs the criterion, selection="exact" for example.')
    if data.drawn is not None:
        return _for_bags(parameters, data, data.drawn, seed)
    if parameters["selection"] != "auto":
        return _single_setting(parameters, data, seed)
    if data.total() < ENOUGH_FOR_BAGS:  # no bags, no tuning, the paper's rule with one split
        depth = 1 if is_auto(parameters["max_depth"]) else parameters["max_depth"]
        return _single_setting({**parameters, "selection": "exact", "max_depth": depth}, data, seed)
    return _by_pilot(parameters, data, seed)


def solver_options(parameters: Parameters) -> SolverOptions:
    """How the classifiers of leaves are trained."""
    tol, leaves = parameters["tol"], parameters["leaves"]
    if is_auto(tol):  # libsvm's, ten times as much where only the vote counts
        tol = 1e-2 if parameters["selection"] == "auto" else 1e-3
    return SolverOptions(
        float(tol),
        int(parameters["max_iter"]),
        parameters["n_jobs"],
        int(parameters["verbose"]),
        memory_bytes(parameters["max_memory"]),
        parameters["kernel"],
        () if leaves is None else as_families("leaves", leaves),
        () if leaves is None else family_names(leaves),
    )


def _with_families(parameters: Parameters) -> Parameters:
    """With one rule for all trees, where leaves hold members of families; what SVMs alone have is refused."""
    for name, default in _OF_SVMS.items():
        if not (isinstance(parameters[name], str | bool) and parameters[name] == default):
            raise ValueError(
                f"{name} is about SVMs at the leaves: it cannot be used with study={{'leaves': ...}}."
            )
    for name, value in (("selection", "common_degree"), ("leaf_scores", "ovo_votes")):
        if parameters[name] == value:
            raise ValueError(
                f"{name}={value!r} is about SVMs: it cannot be used with study={{'leaves': ...}}."
            )
    return {**parameters, "selection": "exact"} if parameters["selection"] == "auto" else parameters


def completed(
    parameters: Parameters,
    data: CompositeData,
    seed: int,
    parts: tuple[tuple[Setting, int], ...],
    searched: Searched,
    plain_weight: float | None = 0.0,
) -> CompositePlan:
    """The plan of these parts, with what follows from them."""
    calibration = calibration_method(parameters["calibrate"])
    judged = calibration is not None or plain_weight is None
    bags = any(setting.sampling != "all" for setting, _ in parts)
    n_plain = PLAIN_TREES_PER_TREE * parameters["n_estimators"]
    if not is_auto(parameters["n_plain_trees"]):
        n_plain = int(parameters["n_plain_trees"])
    return CompositePlan(
        parts=parts,
        plain_weight=plain_weight,
        n_plain=0 if plain_weight == 0.0 else n_plain,
        leaf_scores=parameters["leaf_scores"],
        calibration=calibration,
        out_of_fold=judged and not bags and data.total() >= ENOUGH_FOR_BAGS,
        seed=seed,
        searched=searched,
        limit=parameters["time_limit"],
    )


def _single_setting(parameters: Parameters, data: CompositeData, seed: int) -> CompositePlan:
    """One setting for all trees, plain trees only with a given weight; an open C by cross-validation."""
    degrees = degree_list(parameters["degrees"], DEGREES)
    n_degrees, n_settings, selection = len(degrees), 1, parameters["selection"]
    depth = parameters["max_depth"]
    best = 0
    families: tuple[float, ...] = ()
    if data.options.families:
        X, n_classes = data.gram.X, max(data.n_classes, 2)
        families = tuple(family.rademacher(X, n_classes) for family in data.options.families)
        n_degrees = len(families)
        degrees, C = tuple(range(1, n_degrees + 1)), (0.0,) * n_degrees
    elif parameters["C_per_leaf"]:
        degrees, C = degrees_and_C(degrees, parameters["C"])
    elif not is_auto(parameters["C"]):
        C = C_list(parameters["C"], n_degrees)
    elif data.total() < ENOUGH_FOR_BAGS:
        C = (1.0,) * n_degrees
    else:
        C, errors = tune_C(data, degrees, seed)
        n_settings = len(C_GRID) ** n_degrees
        best = int(errors.min(axis=1).argmin())
    if selection == "common_degree":
        n_settings = 1 if n_settings == 1 else len(C_GRID) * n_degrees
        # [D-16]: the degree whose SVM, with its best C, made the fewest errors in the folds of the tuning.
        degrees, C, selection = (degrees[best],), (C[best],), "exact"
    setting = _setting(
        parameters,
        data,
        max_depth=default_depth(data.n_rows) if is_auto(depth) else int(depth),
        degrees=degrees,
        C=C,
        selection=selection,
        family_complexity=families,
    )
    searched = Searched(n_degrees, largest_depth(setting), n_settings)
    plain_weight = 0.0 if is_auto(parameters["plain_weight"]) else float(parameters["plain_weight"])
    return completed(parameters, data, seed, ((setting, parameters["n_estimators"]),), searched, plain_weight)


def _by_pilot(parameters: Parameters, data: CompositeData, seed: int) -> CompositePlan:
    """Settings by a pilot; the weight of the plain trees is left to the final votes."""
    n_rows, n_pilot = data.n_rows, pilot_size(data.n_rows)
    max_size = most_rows_per_leaf(parameters, n_rows)
    degrees = degree_list(parameters["degrees"], DEGREES)
    # Given values are those of the full trees: the pilot has fewer rows, hence fewer splits and a smaller C.
    depths = pilot_depths(n_pilot, max_size)
    if not is_auto(parameters["max_depth"]):
        depths = (max(int(parameters["max_depth"]) - round(math.log2(n_rows / n_pilot)), 0),)
    C_grid: tuple[float, ...] = PILOT_C
    if not is_auto(parameters["C"]):
        C_values = set(C_list(parameters["C"], len(degrees)))
        C_grid = tuple(sorted(c * math.sqrt(n_pilot / n_rows) for c in C_values))
    template = _setting(
        parameters, data, max_depth=1, degrees=degrees, C=(1.0,) * len(degrees), max_size=max_size
    )
    limit = parameters["time_limit"].part(_PILOT_TIME)
    pilot = run_pilot(data, template, depths, C_grid, seed, limit)
    sizes = np.diff(np.linspace(0, parameters["n_estimators"], len(pilot.settings) + 1).round().astype(int))
    parts = tuple((setting, int(n)) for setting, n in zip(pilot.settings, sizes) if n > 0)
    deepest = max(largest_depth(setting) for setting, _ in parts)
    plain_weight = None if is_auto(parameters["plain_weight"]) else float(parameters["plain_weight"])
    n_outcomes = pilot.n_outcomes * (len(PLAIN_WEIGHTS) if plain_weight is None else 1)
    searched = Searched(len(degrees), deepest, n_outcomes)
    plan = completed(parameters, data, seed, parts, searched, plain_weight)
    return replace(plan, with_copies=True, notes=pilot.notes)


def draw_bags(parameters: Parameters, inputs: TrainingTable, seed: int) -> Subsamples | None:
    """The bags of a certifiable forest, drawn without a look at the rows; None for other forests."""
    if not parameters["certifiable"]:
        return None
    keeps_votes = "certifiable=True keeps the votes as they are: use"
    if isinstance(parameters["calibrate"], str):
        raise ValueError(f"{keeps_votes} calibrate=False.")
    if not is_auto(parameters["plain_weight"]) and float(parameters["plain_weight"]) > 0.0:
        raise ValueError(f"{keeps_votes} plain_weight=0.")
    if parameters["leaf_scores"] != "one_hot":
        raise ValueError(f"{keeps_votes} study={{'leaf_scores': 'one_hot'}}.")
    if parameters["bootstrap"]:
        raise ValueError("certifiable=True draws rows without replacement: use study={'bootstrap': False}.")
    if parameters["time_limit"].seconds is not None:
        raise ValueError("certifiable=True needs a fixed number of trees: use time_limit=None.")
    if inputs.table.stream is not None:
        raise ValueError("certifiable=True needs a table in memory.")
    max_samples = parameters["max_samples"]
    return draw_subsamples(inputs, None if is_auto(max_samples) else max_samples, seed)


def _for_bags(parameters: Parameters, data: CompositeData, drawn: Subsamples, seed: int) -> CompositePlan:
    """What the preparation part alone decides on, for trees that see the other rows of their bags as well."""
    part = data.preparation_part()
    # sampling within the plan: a tree sees its whole bag
    fixed = {**parameters, "plain_weight": 0.0, "calibrate": False, "max_samples": None}
    if part.n_classes < 2:
        fixed |= {"selection": "exact", "C": 1.0 if is_auto(parameters["C"]) else parameters["C"]}
    plan = make_plan(fixed, part, seed)
    n_prepare = int(drawn.prepares.sum())
    n_bag = n_prepare + drawn.n_drawn
    ratio, by_pilot = n_bag / n_prepare, fixed["selection"] == "auto"

    def in_bags(setting: Setting) -> Setting:
        depth, C, max_size = setting.max_depth, setting.C, setting.max_size
        if is_auto(parameters["max_depth"]):
            depth = depth + round(math.log2(ratio)) if by_pilot else default_depth(n_bag)
        if by_pilot and is_auto(parameters["C"]):  # same sizes of leaves, same C_k
            C = tuple(c * math.sqrt(ratio) for c in C)
        if by_pilot:
            max_size = most_rows_per_leaf(parameters, n_bag)
        bags: dict[str, Any] = {"sampling": "subsample", "n_draws": n_bag}
        return replace(setting, max_depth=depth, C=C, max_size=max_size, **bags)

    notes = plan.notes
    if parameters["calibrate"] is not False:
        notes = (*notes, "certifiable: votes are not calibrated")
    return replace(
        plan,
        parts=tuple((in_bags(setting), n_trees) for setting, n_trees in plan.parts),
        searched=replace(plan.searched, n_settings=1),  # what was compared were rows of every bag
        out_of_fold=False,
        with_copies=False,
        notes=notes,
    )


def _setting(parameters: Parameters, data: CompositeData, **values: Any) -> Setting:
    """A setting with the values that all rules share."""
    max_samples = parameters["max_samples"]
    if is_auto(max_samples):
        with_bags = parameters["selection"] == "auto" and data.total() >= ENOUGH_FOR_BAGS
        max_samples = 0.8 if with_bags and not parameters["bootstrap"] else None
    sampling, n_draws = draws(parameters["bootstrap"], max_samples, data.n_rows)
    gamma, constants = parameters["gamma_scale"], parameters["constant_leaves"]
    max_size = parameters["max_leaf_size"]
    if max_size is not None:
        max_size = MAX_LEAF_SIZE if is_auto(max_size) else int(max_size)
    shared: dict[str, Any] = {
        "max_features": features_tried(parameters["max_features"], data.n_splitting),
        "gamma_scale": GAMMA_SCALE if is_auto(gamma) else float(gamma),
        "constant_leaves": not is_auto(constants) and bool(constants),
        "max_size": max_size,
        "sampling": sampling,
        "n_draws": n_draws,
        "min_weight_fraction_leaf": float(parameters["min_weight_fraction_leaf"]),
    }
    return Setting(**(shared | values))


def largest_depth(setting: Setting) -> int:
    """The largest depth that leaves of a setting may have: a limit on their size lets them go deeper."""
    return setting.max_depth if setting.max_size is None else MAX_DEPTH


def products_read(parameters: Parameters, n_rows: int) -> float:
    """Inner products that the SVMs of a default forest read, about; infinite where leaves may be large."""
    if parameters["leaves"] is not None:
        return 0.0
    if parameters["selection"] != "auto":
        return math.inf
    n_trees = int(parameters["n_estimators"])
    return IN_BAG * n_rows * n_trees * affordable_leaf(n_rows, n_trees) / 2.0


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the estimator."""
    return isinstance(value, str) and value == "auto"


def degrees_and_C(degrees: tuple[int, ...], C: Any) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Every degree with every C of the list, by default those of the paper.

    Examples
    --------
    >>> degrees_and_C((1, 2), [10, 1])
    ((1, 1, 2, 2), (1.0, 10.0, 1.0, 10.0))
    """
    values = C_GRID if is_auto(C) else tuple(sorted({float(c) for c in ([C] if isinstance(C, Real) else C)}))
    return tuple(np.repeat(degrees, len(values)).tolist()), values * len(degrees)


def draws(bootstrap: bool, max_samples: Any, n_rows: int) -> tuple[str, int | None]:
    """How the rows of a tree are drawn: the engine's word for it, and how many.

    Examples
    --------
    >>> draws(False, None, 10), draws(False, 0.5, 10), draws(True, 7, 10)
    (('all', None), ('subsample', 5), ('bootstrap', 7))
    """
    if max_samples is None:
        return ("bootstrap", None) if bootstrap else ("all", None)
    if isinstance(max_samples, Integral):
        n_draws = int(max_samples)
        if n_draws > n_rows:
            raise ValueError(
                f"max_samples must be at most the number of distinct rows, {n_rows}, got {n_draws}."
            )
    else:
        n_draws = max(1, round(float(max_samples) * n_rows))
    if not bootstrap and n_draws == n_rows:
        return "all", None
    return ("bootstrap" if bootstrap else "subsample"), n_draws


def default_depth(n_rows: int) -> int:
    """Four splits, fewer where an average leaf would have less than 20 rows.

    Examples
    --------
    >>> default_depth(10_000), default_depth(100), default_depth(5)
    (4, 2, 0)
    """
    depth = math.floor(math.log2(max(n_rows, _ROWS_PER_LEAF) / _ROWS_PER_LEAF))
    return min(max(depth, 0), _DEFAULT_DEPTH)


def affordable_leaf(n_rows: int, n_trees: int) -> int:
    """Most rows per leaf so that a default fit stays within its work.

    Tables of more than 1,250 rows, of which a tree sees 1,000, have more leaves instead of larger ones: time
    then grows with the rows and not with their square.

    Examples
    --------
    >>> affordable_leaf(500, 100), affordable_leaf(10_000, 100), affordable_leaf(100_000, 100)
    (1000, 400, 100)
    """
    return int(min(_LEAF_OF_A_DEFAULT_FIT, max(100.0, _WORK / (n_trees * n_rows))))


def most_rows_per_leaf(parameters: Parameters, n_rows: int) -> int:
    """The most rows per leaf that a forest by the pilot can afford."""
    most, max_size = affordable_leaf(n_rows, parameters["n_estimators"]), parameters["max_leaf_size"]
    return most if max_size is None or is_auto(max_size) else min(most, int(max_size))


def pilot_depths(n_pilot: int, max_size: int) -> tuple[int, ...]:
    """Depths that the pilot compares: from the shallowest affordable one down to leaves of a few rows.

    Examples
    --------
    >>> pilot_depths(500, 1000), pilot_depths(2000, 400)
    ((0, 1, 2, 3, 5), (2, 3, 4, 5, 7))
    """
    first = max(0, math.ceil(math.log2(0.8 * n_pilot / max_size)))
    depths = [first + step for step in (0, 1, 2, 3, 5)]
    return tuple(d for d in depths if d == first or 0.8 * n_pilot / 2**d >= 8)
