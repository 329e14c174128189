"""From parameters and the size of a table to one frozen plan: nothing is decided later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.base.parameters import calibration_method, features_tried, rows_counted
from surewood.base.time_limit import TimeLimit
from surewood.tables import TrainingTable
from surewood.trees.growing import TreeParams
from surewood.trees.monotone import monotone_directions


@dataclass(frozen=True)
class ForestPlan:
    """How a forest is grown."""

    #: How each tree is grown, in the terms of the engine.
    trees: TreeParams
    n_trees: int
    max_bins: int
    #: Whether out-of-bag votes are reported.
    wants_votes: bool
    #: The method that turns votes into probabilities.
    calibration: str | None
    #: Whether every tree is a function of its in-bag rows alone ([D-43]).
    certifiable: bool
    #: 1, -1 or 0 for every column, or None.
    monotone: NDArray[np.int8] | None
    #: What bags and trees are drawn with.
    seed: int
    time_limit: TimeLimit
    n_jobs: int | None
    verbose: int

    @property
    def needs_votes(self) -> bool:
        """Whether out-of-bag votes are computed, for whatever purpose."""
        return self.wants_votes or self.calibration is not None


def make_plan(parameters: Mapping[str, Any], data: TrainingTable, seed: int) -> ForestPlan:
    """The plan for a training table."""
    return ForestPlan(
        trees=_tree_params(parameters, data.n_counted, data.table.n_columns),
        n_trees=int(parameters["n_estimators"]),
        max_bins=parameters["max_bins"],
        wants_votes=bool(parameters["oob_score"]),
        calibration=calibration_method(parameters["calibrate"]),
        certifiable=bool(parameters["certifiable"]),
        monotone=monotone_directions(parameters["monotonic_cst"], data),
        seed=seed,
        time_limit=parameters["time_limit"],
        n_jobs=parameters["n_jobs"],
        verbose=int(parameters["verbose"]),
    )


def check_together(parameters: Mapping[str, Any]) -> None:
    """Check the parameters that depend on each other."""
    if parameters["certifiable"]:
        for name in ("calibrate", "warm_start"):
            if parameters[name]:
                raise ValueError(f"certifiable=True keeps the votes as they are: use {name}=False.")
        if parameters["monotonic_cst"] is not None:
            raise ValueError("certifiable=True keeps the votes as they are: use monotonic_cst=None.")
    elif not parameters["bootstrap"] and parameters["max_samples"] in (None, "auto"):
        for name in ("oob_score", "calibrate"):
            if parameters[name]:
                raise ValueError(
                    f"{name} needs rows outside the bag: leave study['bootstrap'] at True, "
                    "or use study['max_samples']."
                )
    max_features = parameters["max_features"]
    if parameters["splitter"] == "completely_random" and max_features not in ("auto", 1):
        raise ValueError(
            "max_features must be 'auto' or 1 for completely random trees, which try one feature per node, "
            f"got {max_features!r}."
        )


def _tree_params(parameters: Mapping[str, Any], n_rows: int, n_features: int) -> TreeParams:
    sampling, n_draws = _draws(parameters, n_rows)
    completely_random = parameters["splitter"] == "completely_random"
    return TreeParams(
        splitter=parameters["splitter"],
        criterion=parameters["criterion"],
        max_depth=parameters["max_depth"],
        min_samples_split=rows_counted(parameters["min_samples_split"], n_rows, 2),
        min_samples_leaf=rows_counted(parameters["min_samples_leaf"], n_rows),
        min_weight_fraction_leaf=float(parameters["min_weight_fraction_leaf"]),
        min_impurity_decrease=float(parameters["min_impurity_decrease"]),
        max_features=1 if completely_random else features_tried(parameters["max_features"], n_features),
        sampling=sampling,
        n_draws=n_draws,
    )


def _draws(parameters: Mapping[str, Any], n_rows: int) -> tuple[str, int | float | None]:
    """How rows are drawn for each tree, and how many."""
    max_samples = parameters["max_samples"]
    replaced = parameters["bootstrap"] and not parameters["certifiable"]
    if max_samples is None or isinstance(max_samples, str):
        return ("bootstrap" if replaced else "subsample" if parameters["certifiable"] else "all"), None
    sampling = "bootstrap" if replaced else "subsample"
    if not isinstance(max_samples, Integral):
        return sampling, float(max_samples)
    if int(max_samples) > n_rows:
        raise ValueError(
            f"study['max_samples'] must be at most the number of rows, {n_rows}, got {max_samples!r}."
        )
    return sampling, int(max_samples)
