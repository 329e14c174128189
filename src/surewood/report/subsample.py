"""A random part of the rows, always the same one (`subsample`), and rows of any table (`take`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["subsample", "take"]


def subsample(n: int, limit: int, seed: int = 0) -> NDArray[np.int64]:
    """Sorted row numbers, at most `limit` of `n`.

    Examples
    --------
    >>> subsample(3, 10).tolist(), len(subsample(100, 7))
    ([0, 1, 2], 7)
    """
    if n <= limit:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, limit, replace=False))


def take(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of a frame (pandas or polars), an array, a sparse matrix or nested lists."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X, dtype=object)[rows]
