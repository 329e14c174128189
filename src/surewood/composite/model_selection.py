"""``RandomCompositeForestClassifierCV``: the whole published grid in one pass, then a refit on all rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surewood.composite.base import CompositeClassifier
from surewood.composite.data import TrainingData, part_of_inputs
from surewood.composite.grid import Axes
from surewood.composite.memory import Shape
from surewood.composite.model import CompositeModel
from surewood.composite.parameters import (
    SEARCH_RULES,
    SEARCH_SWITCHES,
    degree_list,
    feature_grid,
    is_auto,
)
from surewood.composite.plan import DEGREES, Plan, Searched, completed
from surewood.composite.search import SearchGrid, SearchResult, best_point, search
from surewood.composite.setting import Setting
from surewood.composite.splits import make_splits
from surewood.composite.training import train_model
from surewood.composite.tuning import C_GRID
from surewood.estimators.declaring import TimedRunParameters, parameters
from surewood.estimators.parameters import features_tried, memory_bytes, study_settings
from surewood.estimators.seeds import draw_seed
from surewood.svm import gram_limit
from surewood.tables import FitInputs

GAMMA_GRID = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # [D-11]


@parameters(SEARCH_RULES)
class RandomCompositeForestClassifierCV(CompositeClassifier, TimedRunParameters):
    """A composite forest with gamma, depth, features, trees and C chosen on held-out rows, in one pass.

    Trees are nested in depth, forests are prefixes, gamma re-reads counts and every (leaf, degree) is trained
    once: the grid costs little more than its largest forest. The chosen forest is then fitted to all rows.

    Equal rows are one content that lies on one side of every split, so that the order of the rows does not
    matter and weight 2 is the row twice. Where all rows are equal nothing can be held out: scores are NaN and
    the simplest point is fitted.

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
        applied to the distinct rows, in an order of their own. An iterable has pairs of row numbers of ``X``,
        which are followed row by row: copies are then on the sides where they are put.
    refit : bool, default=True
        Fit the chosen forest to all rows. Without it the search has results but cannot predict.
    selection : {"exact", "random_sequences", "common_degree", "random_degree"}, default="exact"
        With "common_degree" the degree takes the place of gamma on the grid.
    time_limit : float or None, default=None
        Seconds after which no further part of the grid is begun; ``cut_`` says what is missing. The first
        value of `max_features` is always measured with at least the smallest forests.
    calibrate, class_weight, categorical_features, max_memory, remember_rows, n_jobs, random_state, verbose
        As in :class:`RandomCompositeForestClassifier`.
    study : dict or None, default=None
        Of the study switches of :class:`RandomCompositeForestClassifier`: `n_sequences`, `constant_leaves`,
        `leaf_scores`, `min_weight_fraction_leaf`, `tol` and `max_iter`.

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
    _renamed_parameters: ClassVar[Any] = {"max_seconds": "time_limit"}

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
        """The published grid: degrees 1 to 9, depths 2 to 8, 100 to 900 trees, all r, one validation part.

        Examples
        --------
        >>> RandomCompositeForestClassifierCV.paper().max_features
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Search the grid and fit its best point to all rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            Multiplies C, counts and held-out errors.
        """
        with self._begin(X, y, sample_weight, merge=False) as given:
            inputs = part_of_inputs(given, np.arange(given.table.n_rows))
            self._check_memory(inputs)
            seed, options = draw_seed(self.random_state), self._options()
            grid = self._grid(inputs.table.n_columns)
            splits = make_splits(self.cv, given, inputs, seed)
            memory = gram_limit(memory_bytes(self.max_memory))
            result = search(splits.inputs, splits.pairs, grid, seed, options, memory, self.time_limit)
            best = best_point(result.errors)
            model = None
            if self.refit:
                data = self._prepared(inputs)
                plan = self._plan_of(grid, result, best, data, seed)
                model = train_model(plan, inputs, data, options)
            self._store_fit(inputs)
            self.__dict__.pop("model_", None)
            self.__dict__.update(search_attributes(grid, result, best))
            if model is not None:
                self.model_ = model
        return self

    def _fitted(self) -> CompositeModel:
        check_is_fitted(self, "cv_results_")
        if "model_" not in vars(self):
            raise NotFittedError(
                "the search was fitted with refit=False and has no model; set refit=True and fit again."
            )
        return self.model_

    def _grid(self, n_columns: int) -> SearchGrid:
        """The values of every axis for a table with this many columns."""
        study = study_settings(self)
        degrees = DEGREES if is_auto(self.degrees) else degree_list(self.degrees)
        depths = tuple(sorted({int(depth) for depth in _values(self.max_depth)}))
        common = self.selection == "common_degree"
        gammas = tuple(sorted({float(gamma) for gamma in _values(self.gamma_scale)}))
        choices = tuple(float(d) for d in degrees) if common else gammas
        if self.selection == "random_degree":
            choices = choices[:1]
        setting = Setting(
            max_depth=max(depths),
            max_features=1,
            degrees=degrees,
            C=(1.0,) * len(degrees),
            gamma_scale=choices[0],
            selection="exact" if common else self.selection,
            n_sequences=int(study["n_sequences"]),
            constant_leaves=study["constant_leaves"] is True,
            min_weight_fraction_leaf=float(study["min_weight_fraction_leaf"]),
        )
        sizes = tuple(sorted({int(size) for size in _values(self.n_estimators)}))
        C_grid = C_GRID if is_auto(self.C) else tuple(float(c) for c in _values(self.C))
        return SearchGrid(
            degrees, self._features(n_columns), Axes(depths, choices, sizes, common), setting, C_grid
        )

    def _features(self, n_columns: int) -> tuple[int, ...]:
        """Numbers of features tried at a node."""
        if isinstance(self.max_features, str) and self.max_features == "paper":
            return feature_grid(n_columns)
        return tuple(dict.fromkeys(features_tried(value, n_columns) for value in _values(self.max_features)))

    def _plan_of(
        self,
        grid: SearchGrid,
        result: SearchResult,
        best: tuple[int, ...],
        data: TrainingData,
        seed: int,
    ) -> Plan:
        """The plan of the best point; what was searched is recorded with it ([D-37])."""
        f, d, g, b = best
        axes, C = grid.axes, result.C
        setting = replace(grid.setting, max_depth=axes.depths[d], max_features=grid.features[f], C=C)
        if axes.common_degree:
            place = grid.degrees.index(int(axes.choices[g]))
            setting = replace(setting, degrees=(grid.degrees[place],), C=(C[place],))
        else:
            setting = replace(setting, gamma_scale=axes.choices[g])
        searched = Searched(len(grid.degrees), max(axes.depths), grid.n_settings)
        return completed(self._parameters(), data, seed, ((setting, axes.sizes[b]),), searched)

    def _shape(self, inputs: FitInputs) -> Shape:
        """With the points of the grid that vote side by side, and the rows that are held out."""
        axes = self._grid(inputs.table.n_columns).axes
        held_out = self.cv if isinstance(self.cv, float) else 1.0 / self._n_splits()
        return replace(super()._shape(inputs), n_grid=len(axes.depths) * len(axes.choices), held_out=held_out)

    def _n_splits(self) -> int:
        return self.cv if isinstance(self.cv, int) else 1 if isinstance(self.cv, float) else 5

    def _passes(self, n_columns: int) -> int:
        """Splits times numbers of features: each is one pass over the grid."""
        return self._n_splits() * len(self._features(n_columns))

    @classmethod
    def _state_of_today(cls, state: dict[str, Any]) -> dict[str, Any]:
        state.pop("max_leaf_size", None)  # always None in model files of format 1
        return super()._state_of_today(state)


def search_attributes(grid: SearchGrid, result: SearchResult, best: tuple[int, ...]) -> dict[str, Any]:
    """Attributes of a search, in scikit-learn's words."""
    axes = grid.axes
    which = "degree" if axes.common_degree else "gamma_scale"
    mesh = np.meshgrid(grid.features, axes.depths, axes.choices, axes.sizes, indexing="ij")
    names = ("max_features", "max_depth", which, "n_estimators")
    table: dict[str, Any] = {f"param_{name}": axis.ravel() for name, axis in zip(names, mesh)}
    if axes.common_degree:
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
        "C_": dict(zip(grid.degrees, result.C)),
        "cut_": list(result.cut),
    }


def _values(value: Any) -> list[Any]:
    """A list of values; a single one is a list of one."""
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
