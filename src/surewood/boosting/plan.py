"""From parameters and the size of a table to one frozen plan; only the number of rounds is decided later."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surewood.estimators.parameters import calibration_method, features_tried, memory_bytes

if TYPE_CHECKING:
    from surewood.boosting.estimator import BoostedTreesClassifier

N_FOLDS = 5
LEAST_MODELS = 2
#: Rows of all models together. The mean of five models is worth their time where each of them varies with its
#: rows; with many rows it does not.
ROWS_OF_ALL = 50_000
PATIENCE = 10  # rounds without a gain on held-out rows before a model stops


@dataclass(frozen=True)
class BoostingPlan:
    """How boosted trees are grown."""

    #: Of the five folds, how many are held out from a model of their own.
    n_models: int
    n_rounds: int
    learning_rate: float
    max_leaf_nodes: int
    min_samples_leaf: int
    l2_regularization: float
    max_features: float
    patience: int
    calibration: str | None
    max_memory: int | None
    n_jobs: int | None
    verbose: int


def make_plan(estimator: BoostedTreesClassifier, n_rows: int, n_features: int) -> BoostingPlan:
    """The plan for a training table.

    Examples
    --------
    >>> from surewood import BoostedTreesClassifier
    >>> [make_plan(BoostedTreesClassifier(), n_rows, 9).n_models for n_rows in (500, 15_000, 100_000)]
    [5, 3, 2]
    """
    return BoostingPlan(
        n_models=max(LEAST_MODELS, min(N_FOLDS, ROWS_OF_ALL // max(n_rows, 1))),
        n_rounds=int(estimator.n_estimators),
        learning_rate=float(estimator.learning_rate),
        max_leaf_nodes=int(estimator.max_leaf_nodes),
        min_samples_leaf=max(
            int(estimator.min_samples_leaf), math.ceil(float(estimator.min_weight_fraction_leaf) * n_rows)
        ),
        l2_regularization=float(estimator.l2_regularization),
        max_features=_fraction(estimator.max_features, n_features),
        patience=PATIENCE,
        calibration=calibration_method(estimator.calibrate),
        max_memory=memory_bytes(estimator.max_memory),
        n_jobs=estimator.n_jobs,
        verbose=int(estimator.verbose),
    )


def _fraction(max_features: Any, n_features: int) -> float:
    """The fraction of the features that scikit-learn, which rounds up, turns into their number.

    Examples
    --------
    >>> [math.ceil(_fraction(value, 100) * 100) for value in ("sqrt", 7, 0.5, None)]
    [10, 7, 50, 100]
    """
    if isinstance(max_features, float):
        return max_features
    return (features_tried(max_features, n_features) - 0.5) / n_features
