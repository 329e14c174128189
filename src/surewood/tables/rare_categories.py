"""Which categories are too rare to say anything on their own: identifiers, above all.

A category seen in fewer than 10 rows shares a bin (trees) or an indicator (SVMs) with all others like it, so
a column of identifiers is one constant. Columns with at most 10 categories are left alone: a small table may
have few rows of each, and so few categories cannot memorise much.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats

MIN_ROWS = 10  # of a category that stands alone
FEW_CATEGORIES = 10  # of a column in which all stand alone
LARGEST_MEAN_COUNT = 64  # whole weights of a larger mean are no counts of rows


def stands_alone(mass: Floats, row_weight: float = 1.0) -> NDArray[np.bool_]:
    """Which categories stay separate, from the weight of each.

    Examples
    --------
    >>> stands_alone(np.array([12.0, 3.0] + [1.0] * 9)).sum(), stands_alone(np.array([12.0, 3.0])).sum()
    (np.int64(1), np.int64(2))
    """
    if len(mass) <= FEW_CATEGORIES:
        return np.ones(len(mass), dtype=bool)
    return np.asarray(mass >= MIN_ROWS * row_weight)


def row_weight(weights: NDArray[Any] | None) -> float:
    """What one row weighs, where a rule counts rows.

    Whole weights are counts of rows, up to a common factor and up to 64 on average; other weights are one row
    on average.

    Examples
    --------
    >>> row_weight(None), row_weight(np.array([1, 3, 2])), row_weight(np.array([2.0, 6.0, 4.0]))
    (1.0, 1.0, 2.0)
    >>> row_weight(np.array([0.5, 1.75])), row_weight(np.array([700, 1301]))
    (1.125, 1000.5)
    """
    if weights is None or len(weights) == 0:
        return 1.0
    mean = float(np.mean(weights))
    whole = np.rint(weights).astype(np.int64)
    if (whole != weights).any():
        return mean
    factor = float(np.gcd.reduce(whole))
    return factor if mean <= LARGEST_MEAN_COUNT * factor else mean
