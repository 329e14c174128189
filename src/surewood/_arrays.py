"""Names of the array types that are used everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.int64]
Ints: TypeAlias = NDArray[np.int64]  # numbers of rows, nodes and choices
Codes: TypeAlias = NDArray[np.int32]  # class codes 0 .. n_classes - 1
Mask: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]


def check_values(
    name: str,
    value: Any,
    kinds: str,
    shape: tuple[int | None, ...],
    least: float | None = None,
    most: float | None = None,
) -> None:
    """Refuse an array from a model file that has another type or shape than it must, or values out of range.

    Parameters
    ----------
    name, value : str and ndarray
        What the message calls it, and what must be an array.
    kinds : str
        Kinds of dtypes that are accepted, as in ``dtype.kind``. Floating-point numbers must be finite.
    shape : tuple
        Length of each side; None for any.
    least, most : float, optional
        Smallest and largest value.

    Examples
    --------
    >>> check_values("weight", np.array([0.5, 2.0]), "f", (None,), 0.0, 1.0)
    Traceback (most recent call last):
    ValueError: weight must lie between 0.0 and 1.0.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds or value.ndim != len(shape):
        kind = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{name} has the wrong type: {kind}.")
    if any(side is not None and side != length for side, length in zip(shape, value.shape)):
        raise ValueError(f"{name} must have shape {shape}, got {value.shape}.")
    if value.size == 0:
        return
    low = high = 0.0
    real = value.dtype.kind == "f"
    if real or least is not None:
        low = value.min()
    if real or most is not None:
        high = value.max()
    if real and not (math.isfinite(low) and math.isfinite(high)):  # NaN where a value is NaN
        raise ValueError(f"{name} must be finite.")
    if (least is not None and low < least) or (most is not None and high > most):
        raise ValueError(f"{name} must lie between {least} and {most}.")


#: Weights of linear models beyond this are no result of a fit: their sums are no numbers.
LARGEST_WEIGHT = 1e200


def check_weights(name: str, value: AnyArray) -> None:
    """Refuse weights of a linear model that are not finite, or so large that sums of them are not.

    Examples
    --------
    >>> check_weights("coef", np.array([1.0, 1e308]))
    Traceback (most recent call last):
    ValueError: coef must lie between -1e+200 and 1e+200.
    """
    if value.size and not (float(value.min()) >= -LARGEST_WEIGHT and float(value.max()) <= LARGEST_WEIGHT):
        finite = np.isfinite(value).all()
        must = f"lie between -{LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}" if finite else "be finite"
        raise ValueError(f"{name} must {must}.")


def check_linear_part(estimator: Any) -> None:
    """Refuse a classifier of another library whose coefficients give no numbers; others are not looked at."""
    for name in ("coef_", "intercept_"):
        value = vars(estimator).get(name) if hasattr(estimator, "__dict__") else None
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            check_weights(name, value)


def check_number(name: str, value: Any, least: float, most: float, whole: bool = False) -> None:
    """Refuse a scalar from a model file that is no finite number from `least` to `most`.

    Examples
    --------
    >>> check_number("n_classes", 2.5, 1, 65535, whole=True)
    Traceback (most recent call last):
    ValueError: n_classes must be a whole number from 1 to 65535, got 2.5.
    """
    numeric = isinstance(value, int | np.integer) or (not whole and isinstance(value, float | np.floating))
    if isinstance(value, bool) or not numeric or not least <= value <= most:
        what = "a whole number" if whole else "a number"
        raise ValueError(f"{name} must be {what} from {least} to {most}, got {value!r}.")


#: Names of arrays by their dtype and number of dimensions (None for any).
ArrayTable: TypeAlias = Mapping[tuple[Any, int | None], Sequence[str]]


def check_arrays(owner: Any, table: ArrayTable) -> None:
    """Refuse an object whose arrays are not what the table says; the sentence names the first that is not."""
    for (dtype, ndim), names in table.items():
        for name in names:
            check_array(getattr(owner, name), name, dtype, ndim)


def check_array(value: Any, name: str, dtype: Any, ndim: int | None) -> None:
    """Refuse what is not a C-contiguous array of this dtype and number of dimensions."""
    if not isinstance(value, np.ndarray) or value.dtype != dtype:
        kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{name} must be an array of {np.dtype(dtype)}, got {kind}.")
    if ndim is not None and value.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got {value.ndim}.")
    if not value.flags.c_contiguous:
        raise ValueError(f"{name} must be C-contiguous.")
