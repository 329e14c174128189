"""Parameters of the cascades, checked in ``fit`` with one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from sklearn.metrics import get_scorer_names

from surewood.estimators.calibration import METHODS as CALIBRATIONS


def check_integer(estimator: Any, name: str, least: int, most: int | None = None) -> None:
    """An integer in [least, most]."""
    value = getattr(estimator, name)
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {limits}, got {value}.")


def check_number(estimator: Any, name: str, low: float, high: float, open_ends: bool = False) -> None:
    """A number in [low, high], or strictly inside."""
    value = getattr(estimator, name)
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    inside = low < value < high if open_ends else low <= value <= high
    if not inside:
        how = "strictly between" if open_ends else "between"
        raise ValueError(f"{name} must be {how} {low:g} and {high:g}, got {value!r}.")


def check_choice(estimator: Any, name: str, allowed: Sequence[Any]) -> None:
    """One of a few values."""
    value = getattr(estimator, name)
    if not any(value is option or (isinstance(value, str) and value == option) for option in allowed):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")


def check_common(estimator: Any) -> None:
    """What all cascades share."""
    check_integer(estimator, "n_estimators", 1)
    check_integer(estimator, "n_folds", 2)
    check_choice(estimator, "cross_fit", ("kfold", "oob"))
    check_choice(estimator, "criterion", ("gini", "entropy", "log_loss"))
    check_integer(estimator, "min_samples_leaf", 1)
    check_number(estimator, "min_weight_fraction_leaf", 0.0, 0.5)
    check_integer(estimator, "max_bins", 2, 255)
    check_integer(estimator, "max_layers", 1)
    check_integer(estimator, "patience", 1)
    check_number(estimator, "min_improvement", 0.0, 1.0)
    check_choice(estimator, "calibrate", (True, False, *CALIBRATIONS))
    _check_max_features(estimator.max_features)
    _check_monitor(estimator.monitor)
    if estimator.validation_fraction is not None:
        check_number(
            estimator, "validation_fraction", 0.0, 0.5, open_ends=estimator.validation_fraction != 0.5
        )
    if estimator.max_memory is not None:
        check_number(estimator, "max_memory", 1.0, float("inf"))


def _check_max_features(value: Any) -> None:
    if value is None or (isinstance(value, str) and value in ("sqrt", "log2")):
        return
    if isinstance(value, Real) and not isinstance(value, bool):
        if isinstance(value, Integral) and value >= 1:
            return
        if not isinstance(value, Integral) and 0.0 < value <= 1.0:
            return
    raise ValueError(
        "max_features must be 'sqrt', 'log2', None, a positive integer or a fraction in (0, 1], "
        f"got {value!r}."
    )


def _check_monitor(monitor: Any) -> None:
    if callable(monitor) or (isinstance(monitor, str) and monitor in ("accuracy", "margin_ratio")):
        return
    if not isinstance(monitor, str) or monitor not in get_scorer_names():
        raise ValueError(
            f"monitor must be 'accuracy', 'margin_ratio', the name of a scikit-learn scorer or a scorer, "
            f"got {monitor!r}."
        )
