"""One division of one data set: all composite methods over the whole grid, and what validation chooses.

Parameters are those of smallest validation error. Ties, of which small validation parts have many, go to more
trees (less variance for the same choice), then to the shallower tree, the simpler rule (larger γ, smaller
degree) and the r nearest to √F.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.composite.data import TrainingData
from surewood.composite.estimator import RandomCompositeForestClassifier
from surewood.composite.grid import HeldOut
from surewood.composite.growing import TreeRange
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.search import part_of
from surewood.composite.setting import Setting
from surewood.composite.tree_fitting import fit_trees
from surewood.composite.tuning import best_C, held_out_errors, tune_C
from surewood.experiments.error_grids import pack
from surewood.experiments.protocol import Profile
from surewood.experiments.rcf.division import Division, thinned_features
from surewood.experiments.rcf.rules import Rule, rules_of
from surewood.experiments.rcf.walk import GridAxes, GridOutcome, GridPass, walk
from surewood.tables import FitInputs, begin_fit


@dataclass(frozen=True)
class Point:
    """A chosen point of the grid and how it did."""

    rule: Rule
    max_features: int
    depth: int
    n_trees: int
    validation_error: float
    test_error: float
    active_leaves: float
    mean_degree: float

    def chosen(self) -> dict[str, Any]:
        """The parameters by name."""
        return {"r": self.max_features, "depth": self.depth, "trees": self.n_trees, **self.rule.chosen()}


class GridStudy:
    """Prepared parts of one division, C of every degree, and the outcome of the pass for every r.

    Parameters
    ----------
    X, y : table and labels
    division : Division
    profile : Profile
    dataset : str
        Whose sizes of the profile hold.
    methods : sequence of str
        Composite methods.
    seed : int
    n_jobs : int
    say : callable
    """

    def __init__(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        division: Division,
        profile: Profile,
        dataset: str,
        methods: Sequence[str],
        seed: int,
        n_jobs: int = 1,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._division, self._seed = division, seed
        self._options = SolverOptions(n_jobs=n_jobs)
        self._inputs: FitInputs = begin_fit(RandomCompositeForestClassifier.paper(), X, y, merge=False)
        degrees = tuple(int(d) for d in profile.get("degrees"))
        gammas = profile.get("gammas")
        self.axes = GridAxes(
            tuple(profile.get("depths", dataset)),
            tuple(rules_of(methods, gammas, degrees)),
            tuple(profile.get("trees", dataset)),
        )
        self.features = thinned_features(X.shape[1], int(profile.get("every_r", dataset)))
        data, held = self._parts(division.train, division.evaluated)
        say("C of every degree")
        self.C = self._boxes(data, held, degrees, tuple(profile.get("C")), str(profile.get("choose_C")))
        self._base = Setting(
            max_depth=max(self.axes.depths),
            max_features=1,
            degrees=degrees,
            C=self.C,
            gamma_scale=1.0,
            constant_leaves=bool(profile.get("constant_leaves")),
        )
        self._y = held.y
        self.outcomes: list[GridOutcome] = []
        for r in self.features:
            say(f"r = {r}")
            setting = replace(self._base, max_features=r)
            self.outcomes.append(walk(GridPass(data, held, self.axes, setting, seed, self._options)))

    def _parts(self, rows: NDArray[Any], held: NDArray[Any]) -> tuple[TrainingData, HeldOut]:
        return part_of(self._inputs, (rows, held), self._options, None)

    def _boxes(
        self,
        data: TrainingData,
        held: HeldOut,
        degrees: tuple[int, ...],
        C_grid: tuple[float, ...],
        how: str,
    ) -> tuple[float, ...]:
        """C of every degree ([D-12])."""
        if how == "cv":
            return tune_C(data, degrees, self._seed, self._options, C_grid)[0]
        n = len(self._division.validation)
        rows = np.arange(data.n_rows, dtype=np.int32)
        errors = held_out_errors(
            data, rows, held.design[:n], held.y[:n], None, degrees, C_grid, self._options
        )
        return best_C(errors, C_grid)

    def _rules(self, method: str) -> list[int]:
        return [g for g, rule in enumerate(self.axes.rules) if rule.method == method]

    def errors(self, method: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of validation and test errors of a method, shape (r, depths, rules, sizes)."""
        n = len(self._division.validation)
        labels = np.stack([outcome.labels[:, self._rules(method)] for outcome in self.outcomes])
        wrong = labels != self._y
        return wrong[..., :n].sum(axis=-1), wrong[..., n:].sum(axis=-1)

    def packed(self, method: str) -> dict[str, Any]:
        """The same for a record."""
        names = {
            "r": self.features,
            "depth": self.axes.depths,
            "rule": [self.axes.rules[g].value for g in self._rules(method)],
            "trees": self.axes.sizes,
        }
        return pack(names, *self.errors(method))

    def choose(self, method: str) -> Point:
        """The point of a method with the smallest validation error."""
        validation, test = self.errors(method)
        f, d, g, b = preferred(validation, self.features, self._inputs.table.n_columns)
        outcome, rule = self.outcomes[f], self._rules(method)[g]
        parts = self._division
        return Point(
            rule=self.axes.rules[rule],
            max_features=self.features[f],
            depth=self.axes.depths[d],
            n_trees=self.axes.sizes[b],
            validation_error=float(validation[f, d, g, b]) / len(parts.validation),
            test_error=float(test[f, d, g, b]) / len(parts.test),
            active_leaves=float(outcome.active[d, rule, b]),
            mean_degree=float(outcome.degree[d, rule, b]),
        )

    def refitted_error(self, point: Point) -> float:
        """Test error of the chosen point fitted to the training and validation part together."""
        parts = self._division
        rows = np.sort(np.concatenate([parts.train, parts.validation]))
        data, held = self._parts(rows, parts.test)
        setting = replace(
            point.rule.setting(self._base), max_features=point.max_features, max_depth=point.depth
        )
        trees = fit_trees(data, setting, TreeRange(point.n_trees, self._seed), self._options).trees
        votes = trees.composite_scores(held.matrix, held.design, "one_hot", self._options.n_jobs)
        return float((votes.argmax(axis=1) != held.y).mean())


def preferred(errors: NDArray[Any], features: Sequence[int], n_columns: int) -> tuple[int, ...]:
    """Index (r, depth, rule, size) of the smallest error, ties as the module says.

    Examples
    --------
    >>> preferred(np.zeros((3, 2, 1, 2)), [1, 4, 16], 16)
    (1, 0, 0, 1)
    """

    def preference(at: tuple[int, ...]) -> tuple[float, ...]:
        f, d, g, b = at
        return (-b, d, g, abs(math.log(features[f]) - 0.5 * math.log(n_columns)), f)

    tied = [tuple(at) for at in np.argwhere(errors <= errors.min() + 1e-12).tolist()]
    return min(tied, key=preference)
