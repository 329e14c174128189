"""The best threshold on one feature, for weighted classes and for random signs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats


def best_stump(
    X: Floats, codes: NDArray[np.int32], weight: Floats, n_classes: int, features: Iterable[int]
) -> tuple[int, float, int, int]:
    """Feature, threshold and the classes below and above it of smallest weighted error.

    Ties go to the first feature, then to the smallest threshold. A constant is the stump that puts all points
    on one side.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> best_stump(X, np.array([0, 0, 1, 1], dtype=np.int32), np.ones(4), 2, [0])
    (0, 2.5, 0, 1)
    """
    by_class = (codes[:, None] == np.arange(n_classes)) * weight[:, None]
    total = by_class.sum(axis=0)
    majority = int(total.argmax())
    best, best_right = (0, np.inf, majority, majority), float(total.max())
    for feature in features:
        order = np.argsort(X[:, feature], kind="stable")
        value = X[order, feature]
        below = np.cumsum(by_class[order], axis=0)[:-1]
        right = below.max(axis=1) + (total - below).max(axis=1)
        right[value[1:] <= value[:-1]] = -np.inf
        if not len(right):
            continue
        at = int(right.argmax())
        if right[at] > best_right * (1 + 1e-12):
            middle = value[at] + (value[at + 1] - value[at]) / 2.0
            threshold = float(middle if middle < value[at + 1] else value[at])
            best_right = float(right[at])
            best = (int(feature), threshold, int(below[at].argmax()), int((total - below[at]).argmax()))
    return best


def largest_stump_correlation(X: Floats, order: NDArray[np.int64], signs: Floats) -> float:
    """Largest Σ σᵢ g(xᵢ) over all stumps g with values ±1; `order` sorts every column."""
    running = np.cumsum(signs[order], axis=0)
    total = float(signs.sum())
    split = np.abs(2.0 * running - total)
    value = np.take_along_axis(X, order, axis=0)
    split[:-1][value[1:] <= value[:-1]] = 0.0  # equal values cannot be divided
    return float(max(split.max(initial=0.0), abs(total)))
