"""From parameters and the size of a table to one frozen plan: nothing is decided later."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

from surewood.base.parameters import (
    calibration_method,
    check_parameters,
    features_tried,
    rows_counted,
    study_settings,
)
from surewood.tables import TrainingTable
from surewood.trees.growing import TreeParams

if TYPE_CHECKING:
    from surewood.trees.forest_estimator import BinnedForestClassifier


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
    n_jobs: int | None
    verbose: int

    @property
    def needs_votes(self) -> bool:
        """Whether out-of-bag votes are computed, for whatever purpose."""
        return self.wants_votes or self.calibration is not None


def check_forest(estimator: BinnedForestClassifier) -> None:
    """Check every parameter by itself, then those that depend on each other."""
    check_parameters(estimator)
    if estimator.certifiable:
        for name in ("calibrate", "warm_start"):
            if getattr(estimator, name):
                raise ValueError(f"certifiable=True keeps the votes as they are: use {name}=False.")
    elif not estimator.bootstrap and study_settings(estimator)["max_samples"] in (None, "auto"):
        for name in ("oob_score", "calibrate"):
            if getattr(estimator, name):
                raise ValueError(
                    f"{name} needs rows outside the bag: use bootstrap=True or study={{'max_samples': 0.5}}."
                )
    if estimator.splitter == "completely_random" and estimator.max_features not in ("auto", 1):
        raise ValueError(
            "max_features must be 'auto' or 1 for completely random trees, which try one feature per node, "
            f"got {estimator.max_features!r}."
        )


def make_plan(estimator: BinnedForestClassifier, inputs: TrainingTable) -> ForestPlan:
    """The plan for a training table."""
    return ForestPlan(
        trees=_tree_params(estimator, inputs.n_counted, inputs.table.n_columns),
        n_trees=int(estimator.n_estimators),
        max_bins=study_settings(estimator)["max_bins"],
        wants_votes=bool(estimator.oob_score),
        calibration=calibration_method(estimator.calibrate),
        certifiable=bool(estimator.certifiable),
        n_jobs=estimator.n_jobs,
        verbose=int(estimator.verbose),
    )


def _tree_params(estimator: BinnedForestClassifier, n_rows: int, n_features: int) -> TreeParams:
    study = study_settings(estimator)
    sampling, n_draws = _draws(estimator, n_rows)
    completely_random = estimator.splitter == "completely_random"
    return TreeParams(
        splitter=estimator.splitter,
        criterion=estimator.criterion,
        max_depth=estimator.max_depth,
        min_samples_split=rows_counted(study["min_samples_split"], n_rows, 2),
        min_samples_leaf=rows_counted(estimator.min_samples_leaf, n_rows),
        min_weight_fraction_leaf=float(estimator.min_weight_fraction_leaf),
        min_impurity_decrease=float(study["min_impurity_decrease"]),
        max_features=1 if completely_random else features_tried(estimator.max_features, n_features),
        sampling=sampling,
        n_draws=n_draws,
    )


def _draws(estimator: BinnedForestClassifier, n_rows: int) -> tuple[str, int | float | None]:
    """How rows are drawn for each tree, and how many."""
    given = study_settings(estimator)["max_samples"]
    replaced = estimator.bootstrap and not estimator.certifiable
    if given is None or isinstance(given, str):
        return ("bootstrap" if replaced else "subsample" if estimator.certifiable else "all"), None
    sampling = "bootstrap" if replaced else "subsample"
    if not isinstance(given, Integral):
        return sampling, float(given)
    if int(given) > n_rows:
        raise ValueError(f"study['max_samples'] must be at most the number of rows, {n_rows}, got {given!r}.")
    return sampling, int(given)
