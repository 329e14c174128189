"""Parameters of forest estimators: checked with one clear sentence, then turned into engine terms."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from surewood.estimators.calibration import METHODS
from surewood.estimators.cost import check_max_memory
from surewood.trees.growing import CRITERIA, SPLITTERS, TreeParams


def check_forest_params(estimator: Any) -> None:
    """Raise ValueError or TypeError for a parameter out of its range."""
    _integer(estimator, "n_estimators", 1)
    _one_of(estimator, "splitter", SPLITTERS)
    _one_of(estimator, "criterion", CRITERIA)
    if estimator.max_depth is not None:
        _integer(estimator, "max_depth", 1)
    _count(estimator, "min_samples_split", 2)
    _count(estimator, "min_samples_leaf", 1)
    value = _number(estimator, "min_weight_fraction_leaf")
    if not 0.0 <= value <= 0.5:
        raise ValueError(f"min_weight_fraction_leaf must be between 0 and 0.5, got {value!r}.")
    value = _number(estimator, "min_impurity_decrease")
    if not value >= 0:
        raise ValueError(f"min_impurity_decrease must not be negative, got {value!r}.")
    if estimator.max_samples is not None:
        _count(estimator, "max_samples", 1)
    _integer(estimator, "max_bins", 2)
    check_max_memory(estimator.max_memory)
    if estimator.max_bins > 255:
        raise ValueError(f"max_bins must be between 2 and 255, got {estimator.max_bins}.")
    if estimator.calibrate not in (True, False, *METHODS):
        names = ", ".join(map(repr, METHODS))
        raise ValueError(f"calibrate must be True, False or one of {names}, got {estimator.calibrate!r}.")
    for name in ("oob_score", "calibrate"):
        if getattr(estimator, name) and not estimator.bootstrap and estimator.max_samples is None:
            raise ValueError(f"{name} needs rows outside the bag: use bootstrap=True or max_samples.")
    if estimator.splitter == "completely_random" and estimator.max_features not in ("auto", 1):
        raise ValueError(
            f"completely random trees try one feature at a node; max_features must be 'auto' or 1, "
            f"got {estimator.max_features!r}."
        )


def tree_params(estimator: Any, n_rows: int, n_features: int) -> TreeParams:
    """What the engine takes, for a training set of this size."""
    sampling, n_draws = "bootstrap" if estimator.bootstrap else "all", None
    if estimator.max_samples is not None:
        sampling = "bootstrap" if estimator.bootstrap else "subsample"
        whole = isinstance(estimator.max_samples, Integral)
        n_draws = int(estimator.max_samples) if whole else float(estimator.max_samples)
        if whole and n_draws > n_rows:
            raise ValueError(f"max_samples={estimator.max_samples} exceeds the {n_rows} rows of X.")
    return TreeParams(
        splitter=estimator.splitter,
        criterion=estimator.criterion,
        max_depth=estimator.max_depth,
        min_samples_split=_rows(estimator.min_samples_split, n_rows, 2, math.ceil),
        min_samples_leaf=_rows(estimator.min_samples_leaf, n_rows, 1, math.ceil),
        min_weight_fraction_leaf=float(estimator.min_weight_fraction_leaf),
        min_impurity_decrease=float(estimator.min_impurity_decrease),
        max_features=features_tried(estimator.max_features, estimator.splitter, n_features),
        sampling=sampling,
        n_draws=n_draws,
    )


def features_tried(max_features: Any, splitter: str, n_features: int) -> int:
    """`max_features` as a number.

    Examples
    --------
    >>> features_tried("auto", "best", 100), features_tried(0.5, "best", 100), features_tried(None, "best", 7)
    (10, 50, 7)
    """
    if max_features == "auto":
        return 1 if splitter == "completely_random" else max(1, math.isqrt(n_features))
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, Integral) and not isinstance(max_features, bool):
        if not 1 <= int(max_features) <= n_features:
            raise ValueError(
                f"max_features={max_features} is not between 1 and the {n_features} features of X."
            )
        return int(max_features)
    if isinstance(max_features, Real) and 0.0 < float(max_features) <= 1.0:
        return max(1, int(float(max_features) * n_features))
    raise ValueError(
        "max_features must be 'auto', 'sqrt', 'log2', None, an integer or a fraction in (0, 1], "
        f"got {max_features!r}."
    )


def _rows(value: Any, n_rows: int, least: int, rounding: Any) -> int:
    return max(least, int(value) if isinstance(value, Integral) else int(rounding(float(value) * n_rows)))


def _number(estimator: Any, name: str) -> float:
    value = getattr(estimator, name)
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    return float(value)


def _integer(estimator: Any, name: str, least: int) -> None:
    value = getattr(estimator, name)
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}.")


def _count(estimator: Any, name: str, least: int) -> None:
    """A number of rows, or a fraction of them."""
    value = getattr(estimator, name)
    if isinstance(value, Integral):
        _integer(estimator, name, least)
    elif not 0.0 < _number(estimator, name) <= 1.0:
        raise ValueError(f"{name} must be an integer or a fraction in (0, 1], got {value!r}.")


def _one_of(estimator: Any, name: str, allowed: Any) -> None:
    value = getattr(estimator, name)
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")
