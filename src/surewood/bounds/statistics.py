"""Tests and ranks for comparing classifiers (theory.md §7).

`paired_t_test`, `corrected_paired_t_test` (Nadeau-Bengio), `mcnemar_test` (exact binomial), `average_ranks`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from surewood._arrays import Floats

from . import _arguments as check


class TTest(NamedTuple):
    """Statistic and one-sided p-value of "the first method has the larger error".

    Examples
    --------
    >>> from surewood.bounds import paired_t_test
    >>> round(paired_t_test([0.3, 0.2, 0.4], [0.2, 0.1, 0.2]).p_value, 3)
    0.029
    """

    t: float
    p_value: float
    degrees_of_freedom: int


class McNemar(NamedTuple):
    """Points only one of two methods gets right, points they label differently, exact two-sided p-value.

    Examples
    --------
    >>> from surewood.bounds import mcnemar_test
    >>> round(mcnemar_test([0, 1, 1, 0], [0, 1, 0, 1], [0, 1, 1, 1]).p_value, 3)
    1.0
    """

    only_first_correct: int
    only_second_correct: int
    differing: int
    p_value: float


def paired_t_test(errors_a: ArrayLike, errors_b: ArrayLike) -> TTest:
    """One-sided paired t-test over repeats: is A's error larger than B's?

    Random repartitions share data, so this test is too optimistic; report :func:`corrected_paired_t_test`
    beside it.

    Examples
    --------
    >>> from surewood.bounds import paired_t_test
    >>> result = paired_t_test([.22, .25, .21, .24, .23], [.20, .22, .20, .21, .22])
    >>> round(result.t, 4), round(result.p_value, 6)
    (4.4721, 0.005528)
    """
    difference = _differences(errors_a, errors_b)
    return _t_test(difference, 1.0 / difference.size)


def corrected_paired_t_test(errors_a: ArrayLike, errors_b: ArrayLike, *, n_train: int, n_test: int) -> TTest:
    """The paired test with the variance inflated by ``n_test / n_train`` (Nadeau-Bengio).

    Examples
    --------
    >>> from surewood.bounds import corrected_paired_t_test
    >>> result = corrected_paired_t_test(
    ...     [.22, .25, .21, .24, .23], [.20, .22, .20, .21, .22], n_train=300, n_test=100
    ... )
    >>> round(result.t, 4), round(result.p_value, 5)
    (2.7386, 0.02599)
    """
    difference = _differences(errors_a, errors_b)
    overlap = check.count(n_test, "n_test", 1) / check.count(n_train, "n_train", 1)
    return _t_test(difference, 1.0 / difference.size + overlap)


def _differences(errors_a: ArrayLike, errors_b: ArrayLike) -> Floats:
    a, b = check.finite(errors_a, "errors_a", ndim=1), check.finite(errors_b, "errors_b", ndim=1)
    if a.size != b.size or a.size < 2:
        raise ValueError(f"errors_a and errors_b must have the same length >= 2, got {a.size} and {b.size}")
    return a - b


def _t_test(difference: Floats, variance_factor: float) -> TTest:
    freedom = difference.size - 1
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    # differences of equal decimals leave rounding noise; it is not a spread
    if spread <= 1e-12 * max(1e-300, float(np.abs(difference).max())):
        if mean == 0:
            return TTest(0.0, 0.5, freedom)
        return TTest(math.copysign(math.inf, mean), 0.0 if mean > 0 else 1.0, freedom)
    t = mean / (spread * math.sqrt(variance_factor))
    return TTest(t, float(stats.t.sf(t, freedom)), freedom)


def mcnemar_test(predictions_a: ArrayLike, predictions_b: ArrayLike, y: ArrayLike) -> McNemar:
    """Exact binomial test that two methods err equally often on one test set.

    Parameters
    ----------
    predictions_a, predictions_b : array of shape (n_points,)
        Labels each method predicts.
    y : array of shape (n_points,)
        True labels.

    Examples
    --------
    >>> from surewood.bounds import mcnemar_test
    >>> result = mcnemar_test([1, 1, 1, 1, 1, 3], [0, 0, 0, 0, 0, 2], [1, 1, 1, 1, 1, 1])
    >>> result.only_first_correct, result.differing, result.p_value
    (5, 6, 0.0625)
    """
    # as objects: NumPy refuses to compare text with numbers, Python calls them different
    a, b, truth = (np.asarray(labels, dtype=object) for labels in (predictions_a, predictions_b, y))
    if truth.ndim != 1 or a.shape != truth.shape or b.shape != truth.shape:
        raise ValueError(
            "predictions_a, predictions_b and y must be of one length, "
            f"got shapes {a.shape}, {b.shape} and {truth.shape}"
        )
    right_a, right_b = a == truth, b == truth
    first, second = int(np.count_nonzero(right_a & ~right_b)), int(np.count_nonzero(~right_a & right_b))
    n = first + second
    p = 1.0 if n == 0 else min(1.0, 2.0 * float(stats.binom.cdf(min(first, second), n, 0.5)))
    return McNemar(first, second, int(np.count_nonzero(a != b)), p)


def average_ranks(scores: ArrayLike, *, higher_is_better: bool = True) -> Floats:
    """Mean rank of each method over data sets, 1 for the best, ties averaged; ranks sum to K(K+1)/2.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_methods)
    higher_is_better : bool, default=True
        False for errors.

    Examples
    --------
    >>> from surewood.bounds import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.9, 0.6]]).tolist()
    [1.5, 1.75, 2.75]
    """
    table = check.finite(scores, "scores", ndim=2)
    if 0 in table.shape:
        raise ValueError(f"scores must have at least one row and one column, got shape {table.shape}")
    ranks = stats.rankdata(-table if higher_is_better else table, axis=1)
    return np.asarray(ranks.mean(axis=0))
