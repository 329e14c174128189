"""Equal rows of one class, joined into one row that carries their weights.

A row of weight 2 and the same row twice are the same problem to an SVM, but a solver that stops at a
tolerance would end at two slightly different points. Joining equal rows and putting the rest in an order of
their own makes them one problem, bit for bit; it also makes a fit independent of the order of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_rows"]


def distinct_rows(
    matrix: NDArray[Any], codes: NDArray[Any], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """One representative of each distinct (row, class) of positive weight, and its total weight.

    Returns the numbers of the representatives (the first of each) in an order that depends on the values
    only, and their weights, or None when all are 1. Missing values are equal to each other.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2.0], [1.0], [2.0], [2.0]])
    >>> distinct_rows(X, np.array([0, 0, 0, 1]), None)
    (array([1, 0, 3]), array([1., 2., 1.]))
    """
    kept = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
    # Columns of big-endian words: bytes then compare as the class and the values of the row do.
    keys = np.empty((len(kept), 1 + matrix.shape[1]), dtype=">f8")
    keys[:, 0] = codes[kept]
    keys[:, 1:] = matrix[kept]
    keys += 0.0  # -0.0 becomes 0.0
    keys[np.isnan(keys)] = np.nan
    rows = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    total = np.bincount(inverse.ravel(), weights=None if weight is None else weight[kept]).astype(np.float64)
    return kept[first], None if (total == 1.0).all() else total
