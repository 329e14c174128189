"""Guarantees from errors on points that a classifier did not use (theory.md §6.1, §6.2, §6.4).

`clopper_pearson` (6.1); `binary_kl`, `kl_inverse`, `kl_inverse_lower` (§6.2); `binomial_tail_inverse`, the
inversion both rest on; `compression_bound` (6.4) and `svm_tree_log_codes`, its extension to trees with SVM
leaves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, gammaln, logsumexp

from surewood._arrays import Floats

from . import _arguments as check

_LOG_SMALLEST = -36.0  # SciPy's inverse of the beta function gives NaN for smaller tails of few points
_TAIL_TERMS = 1 << 17  # terms of a binomial tail that are summed one by one
_SERIES = 0.1  # where log(1 + x) is summed as a series; its first term left out is below 1e-21
_LARGEST = np.finfo(np.float64).max
_KL_ERROR = 1e-14  # relative error of the computed divergence, generously


def clopper_pearson(errors: int, n: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Upper confidence limit of the risk from errors on `n` held-out points (6.1).

    Parameters
    ----------
    errors, n : int
        Errors and points, none of which influenced the model.
    delta : float, default=0.05
        Probability that the limit fails; one-sided.
    n_models : int, default=1
        Number of models of which the best was taken on this very sample.

    Examples
    --------
    >>> from surewood.bounds import clopper_pearson
    >>> round(clopper_pearson(12, 400), 7)
    0.0481539
    """
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    return binomial_tail_inverse(errors, check.count(n, "n", 1), log_delta)


def binomial_tail_inverse(errors: int, n: int, log_delta: float) -> float:
    """Largest p with ``Pr[Bin(n, p) <= errors] >= exp(log_delta)``; 1 if all are errors or n = 0.

    Examples
    --------
    >>> from surewood.bounds import binomial_tail_inverse
    >>> round(binomial_tail_inverse(0, 100, -2000.0), 6)
    1.0
    """
    k, n = check.count(errors, "errors"), check.count(n, "n")
    if k > n:
        raise ValueError(f"errors must be <= n={n}, got {k}")
    if not log_delta < 0:
        raise ValueError(f"log_delta must be < 0, got {log_delta!r}")
    if k == n:
        return 1.0
    if k == 0:
        return -math.expm1(log_delta / n)
    if log_delta > _LOG_SMALLEST:
        return float(betainccinv(k + 1, n - k, math.exp(log_delta)))
    return _log_tail_bisection(k, n, log_delta)


def _log_tail_bisection(k: int, n: int, log_delta: float) -> float:
    """The same inversion for tails below the floating range; returns the upper end of the last interval.

    Above k/n the terms fall at least geometrically from i = k downwards, so only the last ones are summed and
    the rest is bounded by its geometric series: the result can only become larger.
    """
    i = np.arange(max(0, k + 1 - _TAIL_TERMS), k + 1)
    log_binomial = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)
    low, high = k / n, 1.0  # the tail at k/n is about 1/2, above any delta that comes here
    while True:
        p = 0.5 * (low + high)
        if not low < p < high:
            return high
        log_terms = log_binomial + i * math.log(p) + (n - i) * math.log1p(-p)
        tail = float(logsumexp(log_terms))
        if i[0] > 0:
            ratio = i[0] * (1.0 - p) / ((n - i[0] + 1) * p)
            tail = float(np.logaddexp(tail, log_terms[0] + math.log(ratio / (1.0 - ratio))))
        low, high = (p, high) if tail >= log_delta else (low, p)


def binary_kl(q: ArrayLike, p: ArrayLike) -> Any:
    """Divergence between two coins, ``q log(q/p) + (1-q) log((1-q)/(1-p))`` (§6.2).

    Examples
    --------
    >>> from surewood.bounds import binary_kl
    >>> round(binary_kl(0.25, 0.5), 6), binary_kl(0.5, 1.0)
    (0.130812, inf)
    """
    first, second = check.unit(q, "q"), check.unit(p, "p")
    value = np.maximum(0.0, _kl(first, second))
    return float(value) if np.ndim(value) == 0 else value


def _kl(q: Floats, p: Floats) -> Floats:
    """The divergence as a sum of two non-negative parts, accurate to a few units in the last place.

    With r = p - q the linear parts of the two logarithms cancel exactly, so each logarithm is taken without
    them: ``q g(r/q) + (1-q) g(-r/(1-q))`` with ``g(x) = x - log(1+x)``.
    """
    difference = p - q
    return np.asarray(_kl_part(q, p, difference) + _kl_part(1.0 - q, 1.0 - p, -difference))


def _kl_part(q: Floats, p: Floats, difference: Floats) -> Floats:
    """``q g((p - q)/q)``: p - q where q = 0, infinite where p = 0 < q."""
    with np.errstate(all="ignore"):  # the branches not taken may divide by zero
        ratio = difference / q
        # q * inf = inf as wanted for p = 0; the minimum only keeps an overflowing quotient finite
        far = difference - q * np.log(np.minimum(p / q, _LARGEST))
        part = np.where(np.abs(ratio) <= 0.5, q * _log1p_remainder(ratio), far)
    return np.where(q > 0, part, np.maximum(difference, 0.0))


def _log1p_remainder(x: Floats) -> Floats:
    """``x - log(1 + x)`` without cancellation: ``log(1 + x) = 2 artanh(s)`` with ``s = x/(2 + x)``."""
    s = x / (2.0 + x)
    square = s * s
    series = np.full_like(square, 1.0 / 15.0)
    for odd in (13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
        series = 1.0 / odd + square * series
    return np.where(np.abs(x) <= _SERIES, x * s - 2.0 * s * square * series, x - np.log1p(x))


def kl_inverse(q: ArrayLike, epsilon: ArrayLike) -> Any:
    """Largest p >= q with ``kl(q||p) <= epsilon`` (§6.2), never rounded down.

    Examples
    --------
    >>> from surewood.bounds import binary_kl, kl_inverse
    >>> p = kl_inverse(0.08, 0.01)
    >>> round(binary_kl(0.08, p), 12)
    0.01
    """
    return _kl_bisection(q, epsilon, upward=True)


def kl_inverse_lower(q: ArrayLike, epsilon: ArrayLike) -> Any:
    """Smallest p <= q with ``kl(q||p) <= epsilon`` (§6.2), never rounded up.

    Examples
    --------
    >>> from surewood.bounds import kl_inverse, kl_inverse_lower
    >>> round(kl_inverse_lower(0.08, 0.01) + kl_inverse(0.92, 0.01), 12)
    1.0
    """
    return _kl_bisection(q, epsilon, upward=False)


def _kl_bisection(q: ArrayLike, epsilon: ArrayLike, *, upward: bool) -> Any:
    """Outer end of the last interval, so that rounding can only widen the limit."""
    start, budget = np.broadcast_arrays(check.unit(q, "q"), check.finite(epsilon, "epsilon", minimum=0.0))
    inside, outside = start.copy(), np.where(budget > 0, 1.0 if upward else 0.0, start)
    budget = budget * (1.0 + _KL_ERROR)
    while True:
        middle = 0.5 * (inside + outside)
        if np.all((middle == inside) | (middle == outside)):
            return float(outside) if outside.ndim == 0 else outside
        within = _kl(start, middle) <= budget
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)


def compression_bound(
    m: int, n_compressed: int, errors: int, *, delta: float = 0.05, n_models: int = 1, log_codes: float = 0.0
) -> float:
    """Risk bound of a classifier that its own few training points reproduce, such as an SVM (6.4).

    Parameters
    ----------
    m : int
        Training points.
    n_compressed : int
        Distinct points that suffice to rebuild the classifier: support vectors of all pairwise SVMs
        together.
    errors : int
        Errors on the other ``m - n_compressed`` points.
    delta : float, default=0.05
    n_models : int, default=1
        Settings (degree, C, ...) among which the data chose.
    log_codes : float, default=0
        Log of the number of messages needed beside the points, see :func:`svm_tree_log_codes`.

    Examples
    --------
    >>> from surewood.bounds import compression_bound
    >>> round(compression_bound(1000, 60, 0), 6), round(compression_bound(1000, 60, 3, n_models=54), 6)
    (0.220317, 0.236096)
    """
    m, d = check.count(m, "m", 1), check.count(n_compressed, "n_compressed")
    if d > m:
        raise ValueError(f"n_compressed must be <= m={m}, got {d}")
    codes = float(check.finite(log_codes, "log_codes", minimum=0.0))
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1)) - codes
    log_subsets = gammaln(m + 1) - gammaln(d + 1) - gammaln(m - d + 1)
    return binomial_tail_inverse(errors, m - d, float(log_delta - math.log(m + 1) - log_subsets))


def svm_tree_log_codes(
    n_questions: int,
    n_leaves: int,
    n_features: int,
    n_degrees: int,
    *,
    n_compressed: int,
    points_per_threshold: int = 1,
    leaf_codes: int = 1,
) -> float:
    """Log of the messages that, with the compression set, rebuild a tree with SVM leaves (§6.4).

    Shape (``4^q``), feature and orientation (``(2|F|)^q``), degree at each leaf (``|G|^l``), and which member
    of the compression set defines each threshold (``d^q``, as the set itself carries no order).

    Parameters
    ----------
    n_questions, n_leaves : int
        Size of the tree.
    n_features, n_degrees : int
        Features offered to splits, degrees offered to leaves.
    n_compressed : int
        Size of the compression set: support vectors and threshold points together.
    points_per_threshold : int, default=1
        1 when a threshold is a value of one point, 2 when it lies midway between two.
    leaf_codes : int, default=1
        Anything else a leaf was free to choose; ``m + 1`` when its C depends on the number of its points.

    Examples
    --------
    >>> from surewood.bounds import svm_tree_log_codes
    >>> round(svm_tree_log_codes(3, 4, 10, 9, n_compressed=50), 6)
    33.671047
    """
    q, leaves = check.count(n_questions, "n_questions"), check.count(n_leaves, "n_leaves", 1)
    if leaves != q + 1:
        raise ValueError(f"n_leaves must be n_questions + 1 = {q + 1}, got {leaves}")
    thresholds = q * check.count(points_per_threshold, "points_per_threshold", 1)
    d = check.count(n_compressed, "n_compressed", 1 if q else 0)
    shape = q * math.log(4) + q * math.log(2 * check.count(n_features, "n_features", 1))
    degrees = check.count(n_degrees, "n_degrees", 1) * check.count(leaf_codes, "leaf_codes", 1)
    return shape + leaves * math.log(degrees) + thresholds * math.log(max(d, 1))
