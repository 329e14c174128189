"""``RandomCompositeForestClassifierCV``: the whole published grid in one pass, then a refit on all rows.

Contents, not rows, are dealt to the two sides of a split: rows with equal values are one content, whatever
their labels, and all of its copies lie on the same side. Which side is a function of the seed and of all
contents: neither the order of the rows nor the number of copies matters, so weight 2 is the row twice. Only
pairs of row numbers are followed row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats
from surewood.base import rules
from surewood.base.folds import draw_seed, given_splits, shuffled_folds, splits_of, validation_split
from surewood.base.parameters import COMMON, Switch, TimedRunParameters, features_tried, parameters
from surewood.composite.data import CompositeData, prepare
from surewood.composite.estimator import (
    DEPTH,
    FOREST_SWITCHES,
    GAMMA,
    RULES,
    SELECTIONS,
    CompositeClassifier,
)
from surewood.composite.grid import GridResult, SearchGrid, Split, best_point, feature_grid, search
from surewood.composite.growing import MAX_DEPTH, Setting
from surewood.composite.model import CompositeModel
from surewood.composite.plan import (
    DEGREES,
    CompositePlan,
    Parameters,
    Searched,
    completed,
    is_auto,
    solver_options,
)
from surewood.composite.training import train
from surewood.svm.penalty import C_GRID, degree_list
from surewood.tables import TrainingTable
from surewood.tables.row_hashes import row_hashes

GAMMA_GRID = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # [D-11]

#: Rules of the search, whose parameters may be lists of candidates.
SEARCH_RULES: Mapping[str, rules.Rule] = {
    **RULES,
    "max_depth": rules.Either(DEPTH, rules.ListOf(DEPTH, f"integers from 0 to {MAX_DEPTH}")),
    "gamma_scale": rules.Either(GAMMA, rules.ListOf(GAMMA, "numbers above 0")),
    "n_estimators": rules.Either(
        COMMON["n_estimators"], rules.ListOf(COMMON["n_estimators"], "integers of at least 1")
    ),
    "max_features": rules.Either(
        rules.Choice("paper"),
        COMMON["max_features"],
        rules.ListOf(COMMON["max_features"], "such values"),
    ),
    "C": rules.Either(
        rules.AUTO, rules.Number(above=0.0), rules.ListOf(rules.Number(above=0.0), "numbers above 0")
    ),
    "selection": rules.Choice(*SELECTIONS),
}

_SEARCHED_SWITCHES = ("leaf_scores", "kernel", "min_weight_fraction_leaf", "tol", "max_iter")

#: Study switches of the search: nested depths are exact only without a limit on the size of leaves.
SEARCH_SWITCHES: Mapping[str, Switch] = {
    **{name: FOREST_SWITCHES[name] for name in _SEARCHED_SWITCHES},
    "constant_leaves": Switch(False, rules.Boolean()),
}


@parameters(SEARCH_RULES)
class RandomCompositeForestClassifierCV(CompositeClassifier, TimedRunParameters):
    """A composite forest with gamma, depth, features, trees and C chosen on held-out rows, in one pass.

    Shallower trees are the tops of deeper ones, smaller forests are prefixes of larger ones, and all gammas
    share their SVMs, so the grid costs little more than its largest forest. The chosen forest is then fitted
    to all rows.

    Equal rows are always on the same side of a split. If all rows are equal, nothing can be held out: scores
    are NaN and the simplest setting is fitted.

    The order of the columns matters: features are drawn by position, and ties go to the first column.

    Parameters
    ----------
    gamma_scale : float or list of float, default=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1)
    max_depth : int or list of int, default=(1, 2, 3, 4, 5, 6)
    max_features : "paper", a value as in `RandomCompositeForestClassifier` or a list, default=("sqrt",)
        "paper": 1, half, once, twice, ... the root of the number of features, and all of them.
    n_estimators : int or list of int, default=(25, 50, 100)
    degrees : "auto", int or list of int, default="auto"
        "auto" is 1, 2, 3.
    C : "auto", float or list of float, default="auto"
        Candidates for the C of every degree; "auto" is 1e-3 to 1e2 by factors of ten.
    cv : float, int, splitter or iterable, default=3
        A fraction is a validation part of that size, an integer a number of random folds. A splitter is
        applied to the distinct rows, in an order of their own. An iterable has pairs of row numbers of ``X``;
        then equal rows may be on both sides.
    refit : bool, default=True
        Fit the chosen forest to all rows. Without it the search has results but cannot predict.
    selection : {"exact", "theorem", "random_sequences", "common_degree", "random_degree"}, default="exact"
        With "common_degree" the degree takes the place of gamma on the grid.
    time_limit : float or None, default=None
        Seconds for the fit. After most of the time no further part of the grid is started, ``cut_`` says what
        is missing, and the chosen forest has as many trees as fit into the remaining time. On large tables
        each tree uses a sample of the rows (at least 1,000) that leaves time for the smallest forests. The
        first value of `max_features` is always measured on one split, with at least the smallest forests.
    calibrate, class_weight, categorical_features, max_memory, remember_rows, n_jobs, random_state, verbose
        As in :class:`RandomCompositeForestClassifier`.
    study : dict or None, default=None
        Of the study switches of :class:`RandomCompositeForestClassifier`: `constant_leaves`,
        `leaf_scores`, `kernel`, `min_weight_fraction_leaf`, `tol` and `max_iter`.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        ESTIMATE, used for selection: mean held-out accuracy of the chosen point.
    best_index_ : int
    cv_results_ : dict of arrays
        One entry per point of the grid, named as in scikit-learn; NaN scores where the time limit cut.
    C_ : dict of int to float
        The C of every degree.
    cut_ : list of str
        What the time limit left out; empty when the grid is complete.
    model_, classes_, criterion_, active_leaves_, ...
        As in :class:`RandomCompositeForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomCompositeForestClassifierCV(n_estimators=(10, 20), max_depth=(1, 2), random_state=0)
    >>> sorted(search.fit(X, y).best_params_)
    ['gamma_scale', 'max_depth', 'max_features', 'n_estimators']
    """

    _study_switches: ClassVar[Any] = SEARCH_SWITCHES

    gamma_scale: Any = GAMMA_GRID
    max_depth: Any = (1, 2, 3, 4, 5, 6)
    max_features: Any = ("sqrt",)
    n_estimators: Any = (25, 50, 100)
    degrees: Any = "auto"
    C: Any = "auto"
    cv: Any = 3
    refit: bool = True
    selection: str = "exact"

    @classmethod
    def paper(cls, **changes: Any) -> RandomCompositeForestClassifierCV:
        """The published grid and algorithm: 10 random degree sequences per tree, one validation part.

        Degrees 1 to 9, gamma 1e-3 to 1, depths 2 to 8, 100 to 900 trees, all r, C from 1e-3 to 1e2.

        Examples
        --------
        >>> RandomCompositeForestClassifierCV.paper().gamma_scale
        (0.001, 0.01, 0.1, 1.0)
        """
        published = {"gamma_scale": (1e-3, 1e-2, 1e-1, 1.0), "selection": "random_sequences"}
        return cls.exact(**(published | changes))

    @classmethod
    def exact(cls, **changes: Any) -> RandomCompositeForestClassifierCV:
        """The published grid, two smaller gamma ([D-11]), and the exact minimum over all sequences ([D-10]).

        Examples
        --------
        >>> RandomCompositeForestClassifierCV.exact().max_features
        'paper'
        """
        grid: dict[str, Any] = {
            "degrees": tuple(range(1, 10)),
            "max_depth": tuple(range(2, 9)),
            "max_features": "paper",
            "n_estimators": tuple(range(100, 1000, 100)),
            "cv": 0.25,
            "calibrate": False,
        }
        return cls(**(grid | changes))

    def _fit_table(self, parameters: Parameters, data: TrainingTable) -> Floats | None:
        """Search the grid and fit its best point to all rows."""
        seed, grid = draw_seed(self.random_state), self._grid(parameters, data.table.n_columns)
        options = solver_options(parameters)
        split_inputs, splits = make_splits(self.cv, data.as_given(), data, seed)
        result = search(split_inputs, splits, grid, seed, options, parameters["time_limit"])
        best = best_point(result.errors)
        model = None
        if self.refit:
            prepared = prepare(data, options)
            model = train(_plan_of(parameters, grid, result, best, prepared, seed), prepared)
        self.__dict__.pop("model_", None)
        self.__dict__.update(search_attributes(grid, result, best))
        return self._store(data, model)

    def _fitted(self) -> CompositeModel:
        check_is_fitted(self, "cv_results_")
        if "model_" not in vars(self):
            raise NotFittedError(
                "the search was fitted with refit=False and has no model; set refit=True and fit again."
            )
        return self.model_

    def _grid(self, chosen: Parameters, n_columns: int) -> SearchGrid:
        """The values of every axis for a table with this many columns."""
        degrees = degree_list(self.degrees, DEGREES)
        common = self.selection == "common_degree"
        gammas = tuple(sorted({float(gamma) for gamma in _values(self.gamma_scale)}))
        choices = tuple(float(d) for d in degrees) if common else gammas
        if self.selection == "random_degree":
            choices = choices[:1]
        if isinstance(self.max_features, str) and self.max_features == "paper":
            features = feature_grid(n_columns)
        else:
            tried = [features_tried(value, n_columns) for value in _values(self.max_features)]
            features = tuple(dict.fromkeys(tried))
        depths = tuple(sorted({int(depth) for depth in _values(self.max_depth)}))
        return SearchGrid(
            features=features,
            depths=depths,
            choices=choices,
            sizes=tuple(sorted({int(size) for size in _values(self.n_estimators)})),
            C_grid=C_GRID if is_auto(self.C) else tuple(float(c) for c in _values(self.C)),
            setting=Setting(
                max_depth=max(depths),
                max_features=1,
                degrees=degrees,
                C=(1.0,) * len(degrees),
                gamma_scale=choices[0],
                selection="exact" if common else self.selection,
                constant_leaves=bool(chosen["constant_leaves"]),
                min_weight_fraction_leaf=float(chosen["min_weight_fraction_leaf"]),
            ),
            common_degree=common,
        )


def _plan_of(
    chosen: Parameters,
    grid: SearchGrid,
    result: GridResult,
    best: tuple[int, ...],
    data: CompositeData,
    seed: int,
) -> CompositePlan:
    """The plan of the best point; what was searched is recorded with it ([D-37])."""
    f, d, g, b = best
    degrees, C = grid.setting.degrees, result.C
    setting = replace(grid.setting, max_depth=grid.depths[d], max_features=grid.features[f], C=C)
    if grid.common_degree:
        place = degrees.index(int(grid.choices[g]))
        setting = replace(setting, degrees=(degrees[place],), C=(C[place],))
    else:
        setting = replace(setting, gamma_scale=grid.choices[g])
    if result.n_rows is not None:
        setting = replace(setting, sampling="subsample", n_draws=result.n_rows)
    searched = Searched(len(degrees), max(grid.depths), grid.n_settings)
    fixed = {**chosen, "n_estimators": grid.sizes[b]}
    return completed(fixed, data, seed, ((setting, grid.sizes[b]),), searched)


def search_attributes(grid: SearchGrid, result: GridResult, best: tuple[int, ...]) -> dict[str, Any]:
    """Attributes of a search, in scikit-learn's words."""
    which = "degree" if grid.common_degree else "gamma_scale"
    mesh = np.meshgrid(grid.features, grid.depths, grid.choices, grid.sizes, indexing="ij")
    names = ("max_features", "max_depth", which, "n_estimators")
    table: dict[str, Any] = {f"param_{name}": axis.ravel() for name, axis in zip(names, mesh)}
    if grid.common_degree:
        table["param_degree"] = table["param_degree"].astype(int)
    scores = 1.0 - result.errors.reshape(len(result.errors), -1)
    for k, score in enumerate(scores):
        table[f"split{k}_test_score"] = score
    mean = scores.mean(axis=0)
    table["mean_test_score"], table["std_test_score"] = mean, scores.std(axis=0)
    filled = np.where(np.isnan(mean), -np.inf, mean)
    table["rank_test_score"] = 1 + np.array([(filled > value + 1e-12).sum() for value in filled])
    table["params"] = [{name: table[f"param_{name}"][k].item() for name in names} for k in range(len(mean))]
    index = int(np.ravel_multi_index(best, grid.shape))
    return {
        "cv_results_": table,
        "best_index_": index,
        "best_params_": dict(sorted(table["params"][index].items())),
        "best_score_": float(mean[index]),
        "C_": dict(zip(grid.setting.degrees, result.C)),
        "cut_": list(result.cut),
    }


def make_splits(
    cv: Any, unmerged: TrainingTable, merged: TrainingTable, seed: int
) -> tuple[TrainingTable, list[Split]]:
    """Rows, and the splits of them (none where all rows are equal), from rows as given and as merged.

    A fraction is one validation part, an integer a number of folds. A splitter is applied to the merged
    rows in the order of their contents; pairs of row numbers refer to the rows as unmerged.
    """
    if unmerged.n_counted < 2:
        raise ValueError(f"{unmerged.n_counted} sample cannot be split; give at least 2 rows.")
    content = contents(merged) if merged.groups is None else merged.groups
    n_contents = int(content.max(initial=-1)) + 1
    if n_contents < 2:
        return merged, []
    if isinstance(cv, float):
        [(_, held)] = validation_split(n_contents, cv, [seed, 4])
        return merged, splits_of(np.isin(content, held).astype(np.int64))[1:]
    if isinstance(cv, int):
        fold = shuffled_folds(n_contents, min(cv, n_contents), [seed, 4])
        return merged, splits_of(fold[content])
    if callable(getattr(cv, "split", None)):
        pairs = enumerate(given_splits(cv, merged.y, groups=merged.groups))
        return merged, [_apart(rows, held, content, k) for k, (rows, held) in pairs]
    return unmerged, [_checked(rows, held, unmerged, k) for k, (rows, held) in enumerate(cv)]


def contents(merged: TrainingTable) -> NDArray[np.int64]:
    """Number of the content of each merged row, in the order of a hash of the values."""
    hashes = row_hashes(merged.table, np.zeros(merged.table.n_rows, dtype=np.int32))
    return np.unique(hashes, return_inverse=True)[1].astype(np.int64)


def _apart(rows: NDArray[Any], held: NDArray[Any], content: NDArray[np.int64], k: int) -> Split:
    """A split without contents on both sides: what has a copy among the training rows is not held out."""
    rows, held = np.sort(rows), np.sort(held)
    held = held[~np.isin(content[held], content[rows])]
    if not (len(rows) and len(held)):
        raise ValueError(
            f"split {k} of cv has no training row, or no held-out row that differs from all of them."
        )
    return rows, held


def _checked(rows: Any, held: Any, unmerged: TrainingTable, k: int) -> Split:
    """A pair of row numbers, those of weight 0 left out."""
    n_rows = unmerged.table.n_rows
    sides = []
    for side in (np.asarray(rows), np.asarray(held)):
        at = np.flatnonzero(side) if side.dtype == bool else np.sort(side.astype(np.int64))
        if len(at) and not (at[0] >= 0 and at[-1] < n_rows):
            raise ValueError(f"split {k} of cv has row numbers outside 0 to {n_rows - 1}.")
        sides.append(at if unmerged.weight is None else at[unmerged.weight[at] > 0])
    if not (len(sides[0]) and len(sides[1])):
        raise ValueError(f"split {k} of cv has no training row or no held-out row of positive weight.")
    return sides[0], sides[1]


def _values(value: Any) -> list[Any]:
    """A list of values; a single one is a list of one."""
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
