"""One boosted model of some rows by scikit-learn's histogram boosting, as plain arrays.

Rounds are grown while the log-loss of the held-out rows falls. One OpenMP thread grows a model, so that sums
do not depend on the number of threads; models of different folds are grown side by side.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from surewood._arrays import Floats
from surewood.boosting.converting import GrownTree, left_codes
from surewood.boosting.plan import BoostingPlan
from surewood.trees.binning import MISSING_CODE

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class GrownModel:
    """A boosted model."""

    #: One tree per output and round.
    rounds: list[list[GrownTree]]
    #: Scores before the first round, one per output.
    baseline: Floats
    #: Log-loss of the held-out rows before the first and after every round; empty without such rows.
    losses: Floats


def grow_model(
    plan: BoostingPlan,
    codes: NDArray[np.uint8],
    is_category: NDArray[np.bool_],
    y: NDArray[np.int32],
    weight: Floats | None,
    train: Rows,
    held: Rows,
    seed: int,
) -> GrownModel:
    """Boosted trees of the rows `train`, stopped on the rows `held` where there are some."""
    n_bins = max(2, int(codes.max(where=codes != MISSING_CODE, initial=0)) + 1)
    model = HistGradientBoostingClassifier(
        learning_rate=plan.learning_rate,
        max_iter=plan.n_rounds,
        max_leaf_nodes=plan.max_leaf_nodes,
        min_samples_leaf=plan.min_samples_leaf,
        l2_regularization=plan.l2_regularization,
        max_features=plan.max_features,
        max_bins=n_bins,
        categorical_features=is_category if is_category.any() else None,
        early_stopping=len(held) > 0,
        n_iter_no_change=plan.patience,
        tol=0.0,
        scoring="loss",
        random_state=seed,
    )
    given: dict[str, Any] = {"sample_weight": None if weight is None else weight[train]}
    if len(held):
        given |= {"X_val": as_numbers(codes[:, held]), "y_val": y[held]}
        given["sample_weight_val"] = None if weight is None else weight[held]
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(as_numbers(codes[:, train]), y[train], **given)
    losses = -np.asarray(model.validation_score_, dtype=np.float64) if len(held) else np.empty(0)
    return GrownModel(_rounds(model, is_category), np.ravel(model._baseline_prediction), losses)


def as_numbers(codes: NDArray[np.uint8]) -> Floats:
    """Codes as scikit-learn reads them, row by row, NaN for missing.

    A column in which all is missing would be refused: it is 0 instead, and no tree splits on it.
    """
    found = codes.T.astype(np.float64)
    missing = found == MISSING_CODE
    found[missing] = np.nan
    found[:, missing.all(axis=0)] = 0.0
    return found


def _rounds(model: Any, is_category: NDArray[np.bool_]) -> list[list[GrownTree]]:
    """The trees with columns and categories as they are in our table.

    scikit-learn puts category columns first and numbers the categories that it met.
    """
    columns = np.arange(len(is_category))
    known: list[Any] = []
    if is_category.any():
        columns = np.concatenate([np.flatnonzero(is_category), np.flatnonzero(~is_category)])
        known = [_known(one) for one in model._preprocessor.named_transformers_["encoder"].categories_]
    return [[_tree(one, columns, known) for one in trees] for trees in model._predictors]


def _known(categories: NDArray[Any]) -> NDArray[np.int64]:
    """The code of every category that was met; missing is none of them."""
    return np.asarray(categories[~np.isnan(categories)], dtype=np.int64)


def _tree(one: Any, columns: Rows, known: list[Any]) -> GrownTree:
    nodes = one.nodes.copy()
    sets = np.zeros((len(one.raw_left_cat_bitsets), MISSING_CODE + 1), dtype=bool)
    for node in nodes[(nodes["is_categorical"] == 1) & (nodes["is_leaf"] == 0)]:
        bits = one.raw_left_cat_bitsets[node["bitset_idx"]]
        codes = known[node["feature_idx"]]
        sets[node["bitset_idx"]] = left_codes(bits, codes, bool(node["missing_go_to_left"]))
    split = nodes["is_leaf"] == 0
    nodes["feature_idx"][split] = columns[nodes["feature_idx"][split]]
    return GrownTree(nodes, sets)
