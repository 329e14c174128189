"""From parameters to settings: what "auto" means, rule by rule (docs/composite-forest.md has the
measurements).

:func:`resolve` returns a :class:`Plan`: which settings the trees have, how many trees each, and the plain
trees' share. With ``selection="auto"`` the pilot of :mod:`~surewood.composite.portfolio` decides among
the values that the parameters leave open; otherwise there is one setting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surewood.composite import parameters as check
from surewood.composite.data import TrainingData
from surewood.composite.fitting import Setting
from surewood.composite.machines import SolverOptions
from surewood.composite.portfolio import PLAIN_SHARES, Grid, Portfolio, choose_portfolio, pilot_rows
from surewood.composite.tuning import tune_boxes

ENOUGH_FOR_BAGS = 50  # below this weight nothing is tuned and every tree sees every row
DEGREES = (1, 2, 3)
PILOT_C = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMA_SCALE = 1e-4
MAX_LEAF_SIZE = 2000
_WORK = 4e8  # trees x rows x rows a leaf that a default fit may cost
PLAIN_TREES_A_TREE = 5


@dataclass(frozen=True)
class Plan:
    """Settings with their numbers of trees, plain trees and their share, and how all that was found."""

    parts: tuple[tuple[Setting, int], ...]
    plain_share: float
    n_plain: int
    n_degrees: int
    portfolio: Portfolio | None = None
    tuned_C: dict[int, float] | None = None


def resolve(estimator: Any, data: TrainingData, seed: int, options: SolverOptions) -> Plan:
    """The plan of a forest for a sample."""
    check.one_of(estimator, "selection", check.SELECTIONS)
    n_trees = check.integer(estimator.n_estimators, "n_estimators", 1)
    if estimator.selection != "auto":
        return _single(estimator, data, seed, options, n_trees)
    if data.total() < ENOUGH_FOR_BAGS:
        return _tiny(estimator, data, n_trees)
    return _portfolio(estimator, data, seed, options, n_trees)


def _single(estimator: Any, data: TrainingData, seed: int, options: SolverOptions, n_trees: int) -> Plan:
    degrees = DEGREES if check.is_auto(estimator.degrees) else check.degree_list(estimator.degrees)
    sampling, n_draws = _draws(estimator, data, None)
    tuned: dict[int, float] | None = None
    errors = None
    if not check.is_auto(estimator.C):
        C = check.box_list(estimator.C, len(degrees))
    elif data.total() < ENOUGH_FOR_BAGS:
        C = (1.0,) * len(degrees)
    else:
        C, errors = tune_boxes(data, degrees, seed, options)
        tuned = dict(zip(degrees, C))
    n_degrees = len(degrees)
    selection = estimator.selection
    if selection == "common_degree":
        # [D-16]: the degree whose machine, with its best C, made the fewest errors in the folds of the
        # tuning.
        best = 0 if errors is None else int(errors.min(axis=1).argmin())
        degrees, C, selection = (degrees[best],), (C[best],), "exact"
    constant = False if check.is_auto(estimator.constant_leaves) else bool(estimator.constant_leaves)
    setting = Setting(
        max_depth=_depth(estimator, data),
        max_features=check.features_tried(estimator.max_features, data.n_questions),
        degrees=degrees,
        C=C,
        gamma_scale=_gamma(estimator),
        selection=selection,
        max_size=_leaf_size(estimator),
        n_sequences=estimator.n_sequences,
        constant_leaves=constant,
        sampling=sampling,
        n_draws=n_draws,
        min_weight_fraction_leaf=float(estimator.min_weight_fraction_leaf),
    )
    share = _plain_share(estimator, 0.0)
    return Plan(((setting, n_trees),), share, _n_plain(estimator, n_trees, share), n_degrees, None, tuned)


def _tiny(estimator: Any, data: TrainingData, n_trees: int) -> Plan:
    """A handful of rows: no bags, no tuning, the paper's rule with one question."""
    degrees = DEGREES if check.is_auto(estimator.degrees) else check.degree_list(estimator.degrees)
    C = (1.0,) * len(degrees) if check.is_auto(estimator.C) else check.box_list(estimator.C, len(degrees))
    sampling, n_draws = _draws(estimator, data, None)
    setting = Setting(
        max_depth=1 if check.is_auto(estimator.max_depth) else check.depth(estimator.max_depth),
        max_features=check.features_tried(estimator.max_features, data.n_questions),
        degrees=degrees,
        C=C,
        gamma_scale=_gamma(estimator),
        max_size=_leaf_size(estimator),
        constant_leaves=bool(estimator.constant_leaves) and not check.is_auto(estimator.constant_leaves),
        sampling=sampling,
        n_draws=n_draws,
        min_weight_fraction_leaf=float(estimator.min_weight_fraction_leaf),
    )
    share = _plain_share(estimator, 0.0)
    return Plan(((setting, n_trees),), share, _n_plain(estimator, n_trees, share), len(degrees))


def _portfolio(estimator: Any, data: TrainingData, seed: int, options: SolverOptions, n_trees: int) -> Plan:
    n_pilot = len(pilot_rows(data.n_rows, seed))
    leaf_size = _leaf_size(estimator)
    affordable = affordable_leaf(data.n_rows, n_trees)
    limit = affordable if leaf_size is None else min(affordable, leaf_size)
    degrees = DEGREES if check.is_auto(estimator.degrees) else check.degree_list(estimator.degrees)
    if check.is_auto(estimator.max_depth):
        depths = pilot_depths(n_pilot, limit)
    else:  # the pilot's leaves are those of the full trees: fewer rows, fewer questions
        shift = round(math.log2(data.n_rows / n_pilot))
        depths = (max(check.depth(estimator.max_depth) - shift, 0),)
    if check.is_auto(estimator.C):
        C: tuple[float, ...] = PILOT_C
    else:
        values = set(check.box_list(estimator.C, len(degrees)))
        C = tuple(sorted(c * math.sqrt(n_pilot / data.n_rows) for c in values))
    shares = PLAIN_SHARES if check.is_auto(estimator.plain_share) else (_plain_share(estimator, 0.0),)
    sampling, n_draws = _draws(estimator, data, "portfolio")
    template = Setting(
        max_depth=1,
        max_features=check.features_tried(estimator.max_features, data.n_questions),
        degrees=degrees,
        C=(1.0,) * len(degrees),
        gamma_scale=_gamma(estimator),
        max_size=limit,
        sampling=sampling,
        n_draws=n_draws,
        min_weight_fraction_leaf=float(estimator.min_weight_fraction_leaf),
    )
    grid = Grid(depths, degrees, C, _gamma(estimator), shares)
    found = choose_portfolio(data, grid, template, seed, options)
    share = found.plain_share
    sizes = np.diff(np.linspace(0, n_trees, len(found.settings) + 1).round().astype(int))
    parts = tuple((s, int(n)) for s, n in zip(found.settings, sizes) if n > 0)
    return Plan(parts, share, _n_plain(estimator, n_trees, share), len(degrees), found)


def affordable_leaf(n_rows: int, n_trees: int) -> int:
    """Rows a leaf may have so that a default fit stays within its work.

    Examples
    --------
    >>> affordable_leaf(500, 100), affordable_leaf(10_000, 100), affordable_leaf(100_000, 100)
    (2000, 400, 100)
    """
    return int(min(MAX_LEAF_SIZE, max(100.0, _WORK / (n_trees * n_rows))))


def pilot_depths(n_pilot: int, max_size: int) -> tuple[int, ...]:
    """Depths the pilot looks at: from the shallowest affordable one on, down to leaves of a few rows.

    Examples
    --------
    >>> pilot_depths(500, 2000), pilot_depths(2000, 400)
    ((0, 1, 2, 3, 5), (2, 3, 4, 5, 7))
    """
    first = max(0, math.ceil(math.log2(0.8 * n_pilot / max_size)))
    depths = [first + step for step in (0, 1, 2, 3, 5)]
    return tuple(d for d in depths if d == first or 0.8 * n_pilot / 2**d >= 8)


def _draws(estimator: Any, data: TrainingData, kind: str | None) -> tuple[str, int | None]:
    if not check.is_auto(estimator.max_samples):
        return check.draws(estimator.bootstrap, estimator.max_samples, data.n_rows)
    if kind == "portfolio" and estimator.bootstrap is False:
        return check.draws(False, 0.8, data.n_rows)
    return check.draws(estimator.bootstrap, None, data.n_rows)


def _depth(estimator: Any, data: TrainingData) -> int:
    """Four questions, fewer where an average leaf would have less than 20 rows."""
    if not check.is_auto(estimator.max_depth):
        return check.depth(estimator.max_depth)
    return int(np.clip(math.floor(math.log2(max(data.n_rows, 20) / 20)), 0, 4))


def _gamma(estimator: Any) -> float:
    if check.is_auto(estimator.gamma_scale):
        return GAMMA_SCALE
    return check.positive(estimator.gamma_scale, "gamma_scale")


def _leaf_size(estimator: Any) -> int | None:
    if check.is_auto(estimator.max_leaf_size):
        return MAX_LEAF_SIZE
    return None if estimator.max_leaf_size is None else int(estimator.max_leaf_size)


def _plain_share(estimator: Any, default: float) -> float:
    if check.is_auto(estimator.plain_share):
        return default
    share = check.fraction(estimator.plain_share, "plain_share")
    if share == 1.0:
        raise ValueError("plain_share must be below 1: with plain trees only, use BinnedForestClassifier.")
    return share


def _n_plain(estimator: Any, n_trees: int, share: float) -> int:
    if share == 0.0:
        return 0
    if check.is_auto(estimator.n_plain_trees):
        return PLAIN_TREES_A_TREE * n_trees
    return check.integer(estimator.n_plain_trees, "n_plain_trees", 1)
