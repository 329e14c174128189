"""What the parameters of `PolySVC` may be; every message names the parameter, the rule and the value."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from surewood.svm.dual import MAX_DEGREE

__all__ = ["check_parameters"]


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError for the first parameter of `estimator` that is out of its range."""
    for name, (rule, holds) in _RULES.items():
        value = getattr(estimator, name)
        if not holds(value):
            raise ValueError(f"{name} must be {rule}, got {value!r}")


def _positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and float(value) > 0


def _finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def _count(value: Any, smallest: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= smallest


def _one_of(*names: str) -> Any:
    return lambda value: isinstance(value, str) and value in names


_RULES: dict[str, tuple[str, Any]] = {
    "C": ("a positive number (it may be infinite)", _positive),
    "kernel": ("'poly', 'rbf' or 'linear'", _one_of("poly", "rbf", "linear")),
    "degree": (f"an integer from 0 to {MAX_DEGREE}", lambda v: _count(v, 0) and v <= MAX_DEGREE),
    "gamma": (
        "'scale', 'auto' or a positive number",
        lambda v: _one_of("scale", "auto")(v) or (_positive(v) and _finite(v)),
    ),
    "coef0": ("a finite number", _finite),
    "tol": ("a positive number", _positive),
    "max_iter": ("-1 or a number of iterations", lambda v: _count(v, -1)),
    "decision_function_shape": ("'ovr' or 'ovo'", _one_of("ovr", "ovo")),
    "max_memory": ("None or a number of bytes", lambda v: v is None or _count(v, 0)),
    "cache_size": ("a positive number of MB", lambda v: _positive(v) and _finite(v)),
}
