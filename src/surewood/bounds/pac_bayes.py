"""PAC-Bayes bounds for votes, from the points each member did not see (theory.md §6.3).

Statistics: `out_of_bag_errors`, `tandem_losses`, from predictions and in-bag masks, in blocks of matrix
products. Bounds: `pac_bayes_bound` (6.2), `pac_bayes_tandem_bound` (6.3), their lambda forms,
`optimise_posterior`, `posterior_kl`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from surewood._arrays import Counts, Floats

from . import _arguments as check
from .certificates import kl_inverse

_BLOCK = 1 << 14  # rows per matrix product; float32 counts stay exact up to 2^24


class OutOfBag(NamedTuple):
    """Errors of each member on the points it did not use, as counts; `rates` divides them.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import OutOfBag
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
    >>> from surewood.bounds import tandem_losses
    >>> tandem = tandem_losses([[0, 1, 1], [1, 1, 1]], [[1, 0, 0], [0, 1, 0]], [0, 1, 0])
    >>> tandem.rates.tolist(), tandem.loss()
    ([[0.5, 1.0], [1.0, 1.0]], 0.875)
    """

    errors: Counts
    sizes: Counts

    @property
    def rates(self) -> Floats:
        """Tandem loss of each pair."""
        return self.errors / self.sizes

    def loss(self, weights: ArrayLike | None = None) -> float:
        """Mean tandem loss of two members drawn independently (uniformly by default)."""
        share = check.weights(weights, self.sizes.shape[0], "weights")
        return float(share @ self.rates @ share)


class Posterior(NamedTuple):
    """Optimised weights, the bound they attain, and the final lambda.

    Examples
    --------
    >>> from surewood.bounds import optimise_posterior
    >>> best = optimise_posterior([0.1, 0.12, 0.4], 1000)
    >>> best.weights.argmax().item(), best.bound < 0.5
    (0, True)
    """

    weights: Floats
    bound: float
    lam: float


def out_of_bag_errors(predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike) -> OutOfBag:
    """Errors and sizes of every member's out-of-bag part.

    Parameters
    ----------
    predictions : array of shape (n_members, m)
        Label each member predicts for each training point.
    in_bag : array of shape (n_members, m)
        Nonzero where the member used the point (a mask or counts of draws).
    y : array of shape (m,)

    Examples
    --------
    >>> from surewood.bounds import out_of_bag_errors
    >>> result = out_of_bag_errors([[0, 1, 1], [1, 1, 0]], [[1, 0, 0], [0, 1, 0]], [0, 1, 0])
    >>> result.errors.tolist(), result.sizes.tolist()
    ([1, 1], [2, 2])
    """
    counts = out_of_bag_counts(predictions, in_bag, y)
    if counts.sizes.min() < 1:
        member = int(counts.sizes.argmin())
        raise ValueError(f"in_bag must leave every member a point; member {member} used them all")
    return counts


def out_of_bag_counts(predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike) -> OutOfBag:
    """The same, also where a member used every point."""
    labels, used, truth = _vote_arrays(predictions, in_bag, y)
    errors = np.array([np.count_nonzero((row != truth) & ~bag) for row, bag in zip(labels, used)])
    return OutOfBag(errors.astype(np.int64), (~used).sum(axis=1).astype(np.int64))


def tandem_losses(predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike) -> Tandem:
    """Joint errors of all pairs of members on the points neither of them used.

    Two products of single-precision 0/1 matrices per block of points; see :func:`out_of_bag_errors` for the
    arguments.

    Examples
    --------
    >>> from surewood.bounds import tandem_losses
    >>> tandem_losses([[0, 1, 1], [1, 1, 1]], [[1, 0, 0], [0, 1, 0]], [0, 1, 0]).errors.tolist()
    [[1, 1], [1, 2]]
    """
    counts = tandem_counts(predictions, in_bag, y)
    if counts.sizes.min() < 1:
        first, second = np.unravel_index(int(counts.sizes.argmin()), counts.sizes.shape)
        raise ValueError(
            f"in_bag must leave every pair a common point; members {first} and {second} have none"
        )
    return counts


def tandem_counts(predictions: ArrayLike, in_bag: ArrayLike, y: ArrayLike) -> Tandem:
    """The same, also where a pair has no common point."""
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


def posterior_kl(posterior: ArrayLike, prior: ArrayLike | None = None) -> float:
    """Divergence of the vote's weights from the prior (uniform by default).

    Examples
    --------
    >>> from surewood.bounds import posterior_kl
    >>> posterior_kl([1, 1, 1]), round(posterior_kl([1, 0]), 6)
    (0.0, 0.693147)
    """
    weights = check.finite(posterior, "posterior", minimum=0.0, ndim=1)
    after = check.weights(weights, check.count(weights.size, "number of members", 1), "posterior")
    before = check.weights(prior, after.size, "prior")
    if np.any((before == 0) & (after > 0)):
        return math.inf
    safe = np.where(before > 0, before, 1.0)
    return max(0.0, float(xlogy(after, after / safe).sum()))


class _Order(NamedTuple):
    """What tells (6.2) from (6.3): how often the divergence counts, and the factor before the bound."""

    divergences: float
    factor: float


_FIRST, _TANDEM = _Order(1.0, 2.0), _Order(2.0, 4.0)


def _complexity(order: _Order, kl: float, n: int, delta: float, n_models: int) -> float:
    """``KL (twice for pairs) + log(2 sqrt(n) n_models / delta)``."""
    divergence = float(check.finite(kl, "kl", minimum=0.0))
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    return order.divergences * divergence + math.log(2.0 * math.sqrt(check.count(n, "n", 1))) - log_delta


def _kl_bound(order: _Order, loss: float, n: int, kl: float, delta: float, n_models: int) -> float:
    K = _complexity(order, kl, n, delta, n_models)
    return min(1.0, order.factor * float(kl_inverse(check.unit(loss, "loss"), K / n)))


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
    return _kl_bound(_FIRST, loss, n, kl, delta, n_models)


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
    return _kl_bound(_TANDEM, loss, n, kl, delta, n_models)


def lambda_form(loss: float, n: int, complexity: float, lam: float | None = None) -> tuple[float, float]:
    """``loss/(1-lam/2) + K/(lam (1-lam/2) n)`` and the lambda used, by default the optimal one (§6.3).

    Examples
    --------
    >>> from surewood.bounds import lambda_form
    >>> value, lam = lambda_form(0.1, 1000, 5.0)
    >>> round(value, 6), round(lam, 6)
    (0.137016, 0.270156)
    """
    K, n = float(check.finite(complexity, "complexity", minimum=0.0)), check.count(n, "n", 1)
    rate = float(check.unit(loss, "loss"))
    if lam is None:
        lam = 2.0 / (math.sqrt(2.0 * n * rate / K + 1.0) + 1.0) if K > 0 else 1.0
    if not 0 < lam < 2:
        raise ValueError(f"lam must be in (0, 2), got {lam!r}")
    return rate / (1.0 - lam / 2.0) + K / (lam * (1.0 - lam / 2.0) * n), lam


def pac_bayes_lambda_bound(
    loss: float,
    n: int,
    *,
    kl: float = 0.0,
    delta: float = 0.05,
    n_models: int = 1,
    lam: float | None = None,
    tandem: bool = False,
) -> float:
    """Lambda form of (6.2): looser than the kl form, differentiable in the weights; at most 1.

    With `tandem` that of (6.3): `loss` and `n` are those of pairs of members.

    Examples
    --------
    >>> from surewood.bounds import pac_bayes_bound, pac_bayes_lambda_bound
    >>> pac_bayes_bound(0.08, 900) <= pac_bayes_lambda_bound(0.08, 900)
    True
    """
    order = _TANDEM if tandem else _FIRST
    K = _complexity(order, kl, n, delta, n_models)
    return min(1.0, order.factor * lambda_form(loss, n, K, lam)[0])


def optimise_posterior(
    losses: ArrayLike,
    n: int,
    *,
    prior: ArrayLike | None = None,
    delta: float = 0.05,
    tolerance: float = 1e-9,
    max_iterations: int = 500,
) -> Posterior:
    """Weights that minimise the first-order lambda bound, alternating with lambda (§6.3).

    They tend to concentrate on few members and may cost accuracy; the bound reported is the tighter kl form.

    Parameters
    ----------
    losses : array of shape (n_members,)
        Out-of-bag error rates.
    n : int
        Smallest out-of-bag part.
    prior : array, optional
        Fixed in advance; uniform by default.
    delta : float, default=0.05
    tolerance : float, default=1e-9
        Stop when the bound falls by less.
    max_iterations : int, default=500

    Examples
    --------
    >>> from surewood.bounds import optimise_posterior
    >>> result = optimise_posterior([0.1, 0.1, 0.4], 1000)
    >>> bool(result.weights[2] < 1e-3)
    True
    """
    rates = check.unit(losses, "losses", ndim=1)
    before = check.weights(prior, check.count(rates.size, "number of members", 1), "prior")
    smallest = rates[before > 0].min()  # a member without prior weight stays out
    weights, previous, lam = before.copy(), math.inf, 1.0
    for _ in range(check.count(max_iterations, "max_iterations", 1)):
        K = _complexity(_FIRST, posterior_kl(weights, before), n, delta, 1)
        value, lam = lambda_form(min(1.0, float(weights @ rates)), n, K)
        if previous - value < tolerance:
            break
        previous = value
        weights = before * np.exp(-lam * n * np.maximum(rates - smallest, 0.0))
        weights /= weights.sum()
    loss = min(1.0, float(weights @ rates))
    return Posterior(weights, pac_bayes_bound(loss, n, kl=posterior_kl(weights, before), delta=delta), lam)
