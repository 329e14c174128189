"""Bounds from the training sample: votes, cross-fitting, sample compression (theory.md §6.2-6.4, §11.9).

First the inverse of the binary kl divergence, which turns a bound on it into one on an error; then votes with
out-of-bag points (PAC-Bayes), averages of cross-fitted models, sample compression for SVMs, and whether a
classifier trained again on its compression set is the same one [D-40].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from surewood._arrays import Counts, Floats

from . import _arguments as check
from .holdout import binomial_tail_inverse

_SERIES = 0.1  # where log(1 + x) is summed as a series; its first term left out is below 1e-21

_LARGEST = np.finfo(np.float64).max

_KL_ERROR = 1e-14  # relative error of the computed divergence, generously


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
    start, budget = np.broadcast_arrays(check.unit(q, "q"), check.finite(epsilon, "epsilon", minimum=0.0))
    inside, outside = start.copy(), np.where(budget > 0, 1.0, start)
    budget = budget * (1.0 + _KL_ERROR)
    while True:
        middle = 0.5 * (inside + outside)
        if np.all((middle == inside) | (middle == outside)):
            # the outer end of the last interval: rounding can only widen the limit
            return float(outside) if outside.ndim == 0 else outside
        within = _kl(start, middle) <= budget
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)


_BLOCK = 1 << 14  # rows per matrix product; float32 counts stay exact up to 2^24


class OutOfBag(NamedTuple):
    """Errors of each member on the points it did not use, as counts; `rates` divides them.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds.without_holdout import OutOfBag
    >>> OutOfBag(errors=np.array([3, 4]), sizes=np.array([30, 20])).rates.tolist()
    [0.1, 0.2]
    """

    errors: Counts
    sizes: Counts

    @property
    def rates(self) -> Floats:
        """Error rate of each member."""
        return self.errors / self.sizes


@dataclass(frozen=True, eq=False)
class Tandem:
    """Counts over pairs of members: points neither used (`sizes`) and those where both err (`errors`).

    Examples
    --------
    >>> from surewood.bounds.without_holdout import tandem_counts
    >>> tandem = tandem_counts([[0, 1, 1], [1, 1, 1]], [[1, 0, 0], [0, 1, 0]], [0, 1, 0])
    >>> tandem.rates.tolist(), tandem.loss()
    ([[0.5, 1.0], [1.0, 1.0]], 0.875)
    """

    errors: Counts
    sizes: Counts

    @property
    def rates(self) -> Floats:
        """Tandem loss of each pair."""
        return self.errors / self.sizes

    def loss(self) -> float:
        """Mean tandem loss of two members drawn independently."""
        return float(self.rates.mean())


def out_of_bag_counts(predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike) -> OutOfBag:
    """Errors and sizes of every member's out-of-bag part, which may be empty.

    Parameters
    ----------
    predictions : array of shape (n_members, m)
        Label each member predicts for each training point.
    in_bag : array of shape (n_members, m)
        Nonzero where the member used the point (a mask or counts of draws).
    y : array of shape (m,)

    Examples
    --------
    >>> from surewood.bounds.without_holdout import out_of_bag_counts
    >>> result = out_of_bag_counts([[0, 1, 1], [1, 1, 0]], [[1, 0, 0], [0, 1, 0]], [0, 1, 0])
    >>> result.errors.tolist(), result.sizes.tolist()
    ([1, 1], [2, 2])
    """
    labels, used, truth = _vote_arrays(predictions, in_bag, y)
    errors = np.array([np.count_nonzero((row != truth) & ~bag) for row, bag in zip(labels, used)])
    return OutOfBag(errors.astype(np.int64), (~used).sum(axis=1).astype(np.int64))


def tandem_counts(predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike) -> Tandem:
    """Joint errors of all pairs of members on the points neither of them used; a pair may have none.

    Two products of single-precision 0/1 matrices per block of points; see :func:`out_of_bag_counts` for the
    arguments.
    """
    labels, used, truth = _vote_arrays(predictions, in_bag, y)
    members, m = labels.shape
    errors, sizes = np.zeros((members, members)), np.zeros((members, members))
    for start in range(0, m, _BLOCK):
        block = slice(start, start + _BLOCK)
        free = (~used[:, block]).astype(np.float32)
        wrong = free * (labels[:, block] != truth[block])
        sizes += free @ free.T
        errors += wrong @ wrong.T
    return Tandem(np.rint(errors).astype(np.int64), np.rint(sizes).astype(np.int64))


def _vote_arrays(
    predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[Any]]:
    labels, used, truth = np.asarray(predictions), np.asarray(in_bag), np.asarray(y)
    if labels.ndim != 2 or 0 in labels.shape:
        raise ValueError("predictions must have shape (n_members, m) with at least one member and one point")
    if used.shape != labels.shape:
        raise ValueError(f"in_bag must have the shape of predictions {labels.shape}, got {used.shape}")
    if truth.shape != labels.shape[1:]:
        raise ValueError(f"y must have shape {labels.shape[1:]}, got {truth.shape}")
    if used.dtype.kind not in "biuf" or np.any(np.isnan(used)) or used.min() < 0:
        raise ValueError("in_bag must be a mask or counts of draws >= 0")
    drawn = used.astype(bool)
    # an empty row is a mask that was never filled: every training point would pass for unseen
    if not drawn.any(axis=1).all():
        raise ValueError(
            f"in_bag must mark the points each member used; member {int(drawn.any(axis=1).argmin())} has none"
        )
    return labels, drawn, truth


def _kl_bound(
    loss: float, n: int, kl: float, delta: float, n_models: int, *, divergences: int, factor: float
) -> float:
    """What tells (6.2) from (6.3): how often the divergence counts, and the factor before the bound."""
    divergence = divergences * float(check.finite(kl, "kl", minimum=0.0))
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    K = divergence + math.log(2.0 * math.sqrt(check.count(n, "n", 1))) - log_delta
    return min(1.0, factor * float(kl_inverse(check.unit(loss, "loss"), K / n)))


def pac_bayes_bound(loss: float, n: int, *, kl: float = 0.0, delta: float = 0.05, n_models: int = 1) -> float:
    """First-order bound on the risk of the weighted hard vote (6.2), at most 1.

    Parameters
    ----------
    loss : float
        Weighted mean of the members' out-of-bag error rates.
    n : int
        Smallest out-of-bag part of a member.
    kl : float, default=0
        Divergence of weights from prior, 0 for uniform weights.
    delta : float, default=0.05
    n_models : int, default=1
        Settings compared by certificates or out-of-bag errors.

    Examples
    --------
    >>> from surewood.bounds import pac_bayes_bound
    >>> round(pac_bayes_bound(0.08, 900), 6)
    0.236891
    """
    return _kl_bound(loss, n, kl, delta, n_models, divergences=1, factor=2.0)


def pac_bayes_tandem_bound(
    loss: float, n: int, *, kl: float = 0.0, delta: float = 0.05, n_models: int = 1
) -> float:
    """Second-order bound from the tandem loss and the smallest common out-of-bag part (6.3), at most 1.

    Examples
    --------
    >>> from surewood.bounds import pac_bayes_tandem_bound
    >>> round(pac_bayes_tandem_bound(0.02, 330), 6)
    0.246149
    """
    return _kl_bound(loss, n, kl, delta, n_models, divergences=2, factor=4.0)


_SMALLEST_FOLD = 8  # the moment bound behind log(2 sqrt(n)) holds from here on


def cross_fit_bound(mean_loss: float, fold_size: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Upper limit of the expected loss of cross-fitted averages, for a convex loss (§11.9, [D-44]).

    Parameters
    ----------
    mean_loss : float
        Mean over folds of the mean held-out loss, in [0, 1], such as half the Brier score.
    fold_size : int
        Rows in the smallest fold, at least 8.
    delta : float, default=0.05
    n_models : int, default=1
        Settings compared by these held-out losses.

    Examples
    --------
    >>> from surewood.bounds import cross_fit_bound
    >>> round(cross_fit_bound(0.08, 900), 6)
    0.118446
    """
    n = check.count(fold_size, "fold_size", _SMALLEST_FOLD)
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    epsilon = (math.log(2.0 * math.sqrt(n)) - log_delta) / n
    return float(kl_inverse(check.unit(mean_loss, "mean_loss"), epsilon))


def compression_bound(
    m: int, n_compressed: int, errors: int, *, delta: float = 0.05, n_models: int = 1
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

    Examples
    --------
    >>> from surewood.bounds import compression_bound
    >>> round(compression_bound(1000, 60, 0), 6), round(compression_bound(1000, 60, 3, n_models=54), 6)
    (0.220317, 0.236096)
    """
    m, d = check.count(m, "m", 1), check.count(n_compressed, "n_compressed")
    if d > m:
        raise ValueError(f"n_compressed must be <= m={m}, got {d}")
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    log_subsets = gammaln(m + 1) - gammaln(d + 1) - gammaln(m - d + 1)
    return binomial_tail_inverse(errors, m - d, float(log_delta - math.log(m + 1) - log_subsets))


_PROBES, _JITTER = 1000, 0.1  # probe points, and their distance from training rows in standard deviations


def probe_points(X: ArrayLike) -> Floats:
    """Training rows moved by a tenth of each column's standard deviation, to compare classifiers on ([D-40]).

    Examples
    --------
    >>> from surewood.bounds.without_holdout import probe_points
    >>> probe_points([[0.0, 1.0], [2.0, 3.0]]).shape
    (1000, 2)
    """
    rows = check.finite(X, "X", ndim=2)
    check.count(rows.shape[0], "number of rows", 1)
    rng = np.random.default_rng(0)
    chosen = rng.integers(rows.shape[0], size=_PROBES)
    noise = rng.normal(size=(chosen.size, rows.shape[1]))
    return np.asarray(rows[chosen] + _JITTER * rows.std(axis=0) * noise)


def rebuilt_alike(
    before: tuple[ArrayLike, ArrayLike, ArrayLike],
    after: tuple[ArrayLike, ArrayLike, ArrayLike],
    *,
    tolerance: float,
) -> bool:
    """Whether two classifiers are the same one for the purpose of sample compression ([D-40]).

    Parameters
    ----------
    before, after : triples of arrays
        Labels on every training row, labels on the :func:`probe_points`, and duals (the rebuilt
        classifier's put in the place of the points it was trained on).
    tolerance : float
        Largest difference of two duals. However large it is, every label must still agree.

    Examples
    --------
    >>> from surewood.bounds.without_holdout import rebuilt_alike
    >>> rebuilt_alike(([0, 1], [1, 1], [0.5, 0.5]), ([0, 1], [1, 1], [0.5, 0.5001]), tolerance=1e-3)
    True
    >>> rebuilt_alike(([0, 1], [1, 1], [0.5, 0.5]), ([0, 1], [1, 0], [0.5, 0.5]), tolerance=5.0)
    False
    """
    for first, second in zip(before[:2], after[:2]):
        if not np.array_equal(np.asarray(first), np.asarray(second)):
            return False
    duals, again = (np.asarray(triple[2], dtype=np.float64) for triple in (before, after))
    if duals.shape != again.shape:
        return False
    return bool(np.all(np.isfinite(again)) and np.abs(duals - again).max(initial=0.0) <= tolerance)
