"""``RandomCompositeForestClassifierCV``: the whole published grid in one pass, then a refit on all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surewood.composite import parameters as check
from surewood.composite.data import merged
from surewood.composite.estimator import _CompositeClassifier
from surewood.composite.fitting import Setting
from surewood.composite.grid import Axes
from surewood.composite.machines import SolverOptions
from surewood.composite.rules import DEGREES, Plan
from surewood.composite.search import SearchGrid, SearchResult, best_point, search, split_rows
from surewood.composite.tuning import C_GRID
from surewood.svm import gram_limit
from surewood.tables import FitInputs

GAMMA_GRID = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # [D-11]
SELECTIONS = ("exact", "random_sequences", "common_degree", "random_degree")


class RandomCompositeForestClassifierCV(_CompositeClassifier):
    """A composite forest with gamma, depth, features, trees and C chosen on held-out rows, in one pass.

    Trees are nested in depth, forests are prefixes, gamma re-reads counts and every (leaf, degree) is
    trained once: the grid costs little more than its largest forest. The chosen forest is then fitted to
    all rows.

    Parameters
    ----------
    gamma_scale : list of float, default=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1)
    max_depth : list of int, default=(1, 2, 3, 4, 5, 6)
    max_features : "paper" or list of values as in `RandomCompositeForestClassifier`, default=("sqrt",)
        "paper": 1, half, once, twice, ... the root of the number of features, and all of them.
    n_estimators : list of int, default=(25, 50, 100)
    degrees : "auto", int or list of int, default="auto"
        "auto" is 1, 2, 3.
    C : "auto", float or list of float, default="auto"
        Candidates for the C of every degree; "auto" is 1e-3 to 1e2 by factors of ten.
    cv : float, int, splitter or iterable, default=3
        A fraction is a validation part of that size, an integer a number of random folds.
    selection : {"exact", "random_sequences", "common_degree", "random_degree"}, default="exact"
        With "common_degree" the degree takes gamma's place on the grid.
    max_seconds : float or None, default=None
        Time after which no further part of the grid is begun; ``cut_`` says what is missing. The first
        value of `max_features` is always measured with at least the smallest forests.
    n_sequences, constant_leaves, leaf_scores, calibrate, min_weight_fraction_leaf, class_weight, \
categorical_features, tol, max_iter, max_memory, n_jobs, random_state, verbose
        As in :class:`RandomCompositeForestClassifier`.
    max_leaf_size : None
        Kept for symmetry: leaves have no limit of size here.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        ESTIMATE, used for selection: mean held-out accuracy of the chosen point.
    best_index_ : int
    cv_results_ : dict of arrays
        One entry a point of the grid, named as in scikit-learn; NaN scores where the budget cut.
    C_ : dict of int to float
        The C of every degree.
    cut_ : list of str
        What a budget left out; empty when the grid is complete.
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

    def __init__(
        self,
        *,
        gamma_scale: Any = GAMMA_GRID,
        max_depth: Any = (1, 2, 3, 4, 5, 6),
        max_features: Any = ("sqrt",),
        n_estimators: Any = (25, 50, 100),
        degrees: Any = "auto",
        C: Any = "auto",
        cv: Any = 3,
        selection: str = "exact",
        n_sequences: int = 10,
        constant_leaves: bool = False,
        leaf_scores: str = "one_hot",
        calibrate: str | bool = "auto",
        min_weight_fraction_leaf: float = 0.0,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        tol: float = 1e-3,
        max_iter: int = 10_000,
        max_leaf_size: None = None,
        max_memory: int | None = None,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.gamma_scale = gamma_scale
        self.max_depth = max_depth
        self.max_features = max_features
        self.n_estimators = n_estimators
        self.degrees = degrees
        self.C = C
        self.cv = cv
        self.selection = selection
        self.n_sequences = n_sequences
        self.constant_leaves = constant_leaves
        self.leaf_scores = leaf_scores
        self.calibrate = calibrate
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.tol = tol
        self.max_iter = max_iter
        self.max_leaf_size = max_leaf_size
        self.max_memory = max_memory
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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

    def _resolved_grid(self, n_columns: int) -> SearchGrid:
        check.one_of(self, "selection", SELECTIONS)
        degrees = DEGREES if check.is_auto(self.degrees) else check.degree_list(self.degrees)
        gammas = [check.positive(g, "gamma_scale") for g in _values(self.gamma_scale, "gamma_scale")]
        depths = sorted({check.depth(d) for d in _values(self.max_depth, "max_depth")})
        sizes = sorted(
            {check.integer(n, "n_estimators", 1) for n in _values(self.n_estimators, "n_estimators")}
        )
        if isinstance(self.max_features, str) and self.max_features == "paper":
            features = check.feature_grid(n_columns)
        else:
            named = self.max_features
            listed = [named] if isinstance(named, str) or named is None else _values(named, "max_features")
            features = tuple(dict.fromkeys(check.features_tried(f, n_columns) for f in listed))
        C_grid = (
            C_GRID if check.is_auto(self.C) else tuple(check.positive(c, "C") for c in _values(self.C, "C"))
        )
        common = self.selection == "common_degree"
        choices = tuple(float(d) for d in degrees) if common else tuple(sorted(set(gammas)))
        if self.selection == "random_degree":
            choices = choices[:1]
        setting = Setting(
            max_depth=max(depths),
            max_features=1,
            degrees=degrees,
            C=(1.0,) * len(degrees),
            gamma_scale=choices[0],
            selection="exact" if common else self.selection,
            n_sequences=self.n_sequences,
            constant_leaves=not check.is_auto(self.constant_leaves) and bool(self.constant_leaves),
            min_weight_fraction_leaf=float(self.min_weight_fraction_leaf),
        )
        axes = Axes(tuple(depths), choices, tuple(sizes), common)
        return SearchGrid(degrees, features, axes, setting, C_grid)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Search the grid, then fit the best point to all rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            Multiplies C, counts and held-out errors.
        """
        with self._begin(X, y, sample_weight, merge=False) as inputs:  # the splits are of the rows as given
            seed, options = self._draw_seed(), self._options()
            whole = merged(inputs)
            data = self._prepared(whole)
            plan, found = self._searched(inputs, X, seed, options)
            self._carry_out(whole, data, plan, seed, options, not inputs.weighted)
        for name, value in found.items():
            setattr(self, name, value)
        return self

    def _searched(
        self, inputs: FitInputs, X: Any, seed: int, options: SolverOptions
    ) -> tuple[Plan, dict[str, Any]]:
        """The plan of the best point, and the attributes of the search."""
        if self.max_seconds is not None:
            check.positive(self.max_seconds, "max_seconds")
        if self.max_leaf_size is not None:
            raise ValueError(
                "max_leaf_size must be None: nested depths are exact only without a limit of size."
            )
        grid = self._resolved_grid(inputs.table.n_columns)
        splits = split_rows(self.cv, inputs, X, seed)
        result = search(inputs, splits, grid, seed, options, gram_limit(self.max_memory), self.max_seconds)
        f, d, g, b = best_point(result.errors)
        axes, C = grid.axes, result.C
        setting = replace(grid.setting, max_depth=axes.depths[d], max_features=grid.features[f], C=C)
        if axes.common_degree:
            place = grid.degrees.index(int(axes.choices[g]))
            setting = replace(setting, degrees=(grid.degrees[place],), C=(C[place],))
        else:
            setting = replace(setting, gamma_scale=axes.choices[g])
        found = self._results(grid, result, (f, d, g, b))
        return Plan(((setting, axes.sizes[b]),), 0.0, 0, len(grid.degrees)), found

    def _results(self, grid: SearchGrid, result: SearchResult, best: tuple[int, ...]) -> dict[str, Any]:
        """Attributes of the search, in scikit-learn's words."""
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
        index = int(np.ravel_multi_index(best, result.errors.shape[1:]))
        params = {name: table[f"param_{name}"][index].item() for name in names}
        table["params"] = [
            {name: table[f"param_{name}"][k].item() for name in names} for k in range(len(mean))
        ]
        return {
            "cv_results_": table,
            "best_index_": index,
            "best_params_": dict(sorted(params.items())),
            "best_score_": float(mean[index]),
            "C_": dict(zip(grid.degrees, result.C)),
            "cut_": list(result.cut),
        }


def _values(value: Any, name: str) -> list[Any]:
    """A list of values; a single one is a list of one."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return [value]
    values = list(value)
    if not values:
        raise ValueError(f"{name} must have at least one value.")
    return values
