"""Parameters of the SVM cascades, checked once, with one clear sentence for what is wrong."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.cascade.questions import as_fractions
from surewood.cascade.search import Budget
from surewood.cascade.svm_trainer import KERNELS

GROWTHS = ("capped", "sum")
MULTICLASS = ("one_vs_rest", "native")
C_MODES = ("validation", "cv")


@dataclass(frozen=True)
class SvmParameters:
    """Checked parameters in the form the search wants them."""

    max_leaves: int
    fractions: tuple[Fraction, ...]
    degrees: tuple[int, ...]
    kernel: str
    growth: str
    multiclass: str
    C: str | Floats
    C_grid: Floats
    C_folds: int
    validation_fraction: float
    budget: Budget
    tol: float
    max_iter: int
    n_jobs: int | None


def check_svm_parameters(estimator: Any) -> SvmParameters:
    """Check what both SVM cascades share."""
    degrees = check_degrees(estimator.degrees)
    return SvmParameters(
        max_leaves=whole("max_leaves", estimator.max_leaves, 1, "a cascade has at least one leaf"),
        fractions=as_fractions(estimator.fractions),
        degrees=degrees,
        kernel=one_of("kernel", estimator.kernel, KERNELS),
        growth=one_of("growth", estimator.growth, GROWTHS),
        multiclass=one_of("multiclass", estimator.multiclass, MULTICLASS),
        C=_check_C(estimator.C, len(degrees)),
        C_grid=_positive_list("C_grid", estimator.C_grid),
        C_folds=whole("C_folds", getattr(estimator, "C_folds", 5), 2),
        validation_fraction=share("validation_fraction", getattr(estimator, "validation_fraction", 0.25)),
        budget=Budget(
            seconds=None
            if estimator.time_budget is None
            else real("time_budget", estimator.time_budget, 0.0),
            machines=None
            if estimator.max_machines is None
            else whole("max_machines", estimator.max_machines, 1),
        ),
        tol=real("tol", estimator.tol, 0.0, strict=True),
        max_iter=whole("max_iter", estimator.max_iter, -1),
        n_jobs=estimator.n_jobs,
    )


def check_degrees(degrees: Any) -> tuple[int, ...]:
    """Kernel degrees, ascending, without repeats."""
    values = [degrees] if isinstance(degrees, numbers.Integral) else degrees
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(f"degrees must be a list of positive integers, got {degrees!r}.")
    checked = sorted({whole("degrees", d, 1, "constants need no machine") for d in values})
    if not checked:
        raise ValueError("degrees is empty: a node needs at least one degree to choose from.")
    if checked[-1] > 100:
        raise ValueError(f"degrees must be at most 100, got {checked[-1]}.")
    return tuple(checked)


def whole(name: str, value: Any, minimum: int, reason: str = "") -> int:
    """An integer of at least `minimum`."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not good or value < minimum:
        ending = f": {reason}" if reason else ""
        raise ValueError(f"{name} must be an integer of at least {minimum}{ending}; got {value!r}.")
    return int(value)


def real(name: str, value: Any, minimum: float, *, strict: bool = False) -> float:
    """A number of at least (or above) `minimum`; infinity is allowed."""
    good = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and not np.isnan(value)
    if not good or value < minimum or (strict and value == minimum):
        raise ValueError(f"{name} must be {'above' if strict else 'at least'} {minimum:g}; got {value!r}.")
    return float(value)


def share(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    number = real(name, value, 0.0, strict=True)
    if number >= 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {value!r}.")
    return number


def one_of(name: str, value: Any, options: tuple[str, ...]) -> str:
    """One of the named options."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}.")
    return value


def _check_C(C: Any, n_degrees: int) -> str | Floats:
    if isinstance(C, str):
        return one_of("C", C, C_MODES)
    values = _positive_list("C", C if np.ndim(C) else [C])
    if len(values) not in (1, n_degrees):
        raise ValueError(
            f"C must be one number or one for each of the {n_degrees} degrees; got {len(values)}."
        )
    return np.broadcast_to(values, (n_degrees,)).copy()


def _positive_list(name: str, values: Any) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a list of positive numbers; got {values!r}.") from error
    if array.ndim != 1 or not array.size or not (array > 0).all() or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a list of positive finite numbers; got {values!r}.")
    return array
