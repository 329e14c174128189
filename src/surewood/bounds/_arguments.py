"""Checks of arguments shared by every formula: one sentence that names the argument and its condition."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Counts, Floats


def count(value: Any, name: str, minimum: int = 0) -> int:
    """Return an integer of at least `minimum`; a float is accepted when it is a whole number."""
    whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if isinstance(value, bool | np.bool_) or not whole or int(value) < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}, got {value!r}")
    return int(value)


def positive(value: float, name: str) -> float:
    """Return a finite number above 0."""
    if not (isinstance(value, Real) and math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return float(value)


def open_unit(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    if not (isinstance(value, Real) and 0 < value < 1):
        raise ValueError(f"{name} must be in (0, 1), got {value!r}")
    return float(value)


def confidence(delta: float) -> float:
    """Return the failure probability of a bound, strictly between 0 and 1."""
    return open_unit(delta, "delta")


def choice(value: str, name: str, options: Collection[str]) -> str:
    """Return one of the named options."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(sorted(options))}, got {value!r}")
    return value


def finite(values: ArrayLike, name: str, *, minimum: float = -math.inf, ndim: int | None = None) -> Floats:
    """Return a float array without NaN or infinity and with no entry below `minimum`."""
    array = np.asarray(values, dtype=np.float64)
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got {array.ndim}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    if array.size and array.min() < minimum:
        raise ValueError(f"{name} must be >= {minimum:g}, got {array.min():g}")
    return array


def unit(values: ArrayLike, name: str, *, ndim: int | None = None) -> Floats:
    """Return a float array with entries in [0, 1]."""
    array = finite(values, name, minimum=0.0, ndim=ndim)
    if array.size and array.max() > 1:
        raise ValueError(f"{name} must be in [0, 1], got {array.max():g}")
    return array


def counts(values: ArrayLike, name: str) -> Counts:
    """Return a one-dimensional array of integer counts >= 0."""
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1:
        raise ValueError(f"{name} must have 1 dimension, got {array.ndim}")
    if array.dtype == bool or not np.issubdtype(array.dtype, np.number):
        raise ValueError(f"{name} must be integers >= 0")
    if not np.issubdtype(array.dtype, np.integer) and not (
        np.isfinite(array).all() and np.array_equal(array, np.floor(array))
    ):
        raise ValueError(f"{name} must be integers >= 0")
    if array.size and array.min() < 0:
        raise ValueError(f"{name} must be integers >= 0, got {array.min()}")
    if array.size and array.max() >= 2**63:  # a cast would wrap around to a small or negative count
        raise ValueError(f"{name} must be below 2**63, got {array.max()}")
    return array.astype(np.int64)


def weights(values: ArrayLike | None, n: int, name: str) -> Floats:
    """Return weights >= 0 that sum to one; None means uniform."""
    if values is None:
        return np.full(n, 1.0 / n)
    array = finite(values, name, minimum=0.0, ndim=1)
    if array.size != n:
        raise ValueError(f"{name} must have {n} entries, got {array.size}")
    largest = float(array.max(initial=0.0))
    if largest <= 0:
        raise ValueError(f"{name} must have a positive sum")
    scaled = array / largest  # the plain sum of finite weights may overflow
    return np.asarray(scaled / scaled.sum())


def same_length(**arrays: NDArray[Any]) -> int:
    """Return the common length of the named arrays."""
    sizes = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"arrays over leaves must have the same length: {listing}")
    return int(next(iter(sizes.values())))


def inverse_rho(rho_inverse: float) -> tuple[float, int]:
    """Return 1/rho and its integer part; a float just below an integer is that integer (theory.md §2.2)."""
    value = positive(rho_inverse, "rho_inverse")
    return value, math.floor(value + 1e-9)


def inverse_of(rho: float) -> float:
    """Return 1/rho."""
    value = 1.0 / positive(rho, "rho")
    if not math.isfinite(value):
        raise ValueError(f"rho must be large enough for 1/rho to be finite, got {rho!r}")
    return value
