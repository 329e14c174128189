"""Leaves with real values (theory.md (2.10), §3.3): a margin threshold for each leaf under a common budget.

`real_leaf_term` is one leaf alone, `real_leaf_terms` all leaves under the budget, `smallest_margins` the
:math:`\\rho_k` of §3.3, `switched_on_leaves` the knapsack of the general case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats, Mask

from . import _arguments as check

__all__ = [
    "RealLeaf",
    "RealLeaves",
    "real_leaf_term",
    "real_leaf_terms",
    "smallest_margins",
    "switched_on_leaves",
]

_MAX_KNAPSACK = 20
_SMALLEST_THETA = 1e-300  # a smaller threshold has no finite inverse


class RealLeaf(NamedTuple):
    """Term of one leaf and the margin threshold that gives it (infinite when the leaf is capped)."""

    term: float
    theta: float


class RealLeaves(NamedTuple):
    """Terms and thresholds of all leaves; their inverse thresholds fit the budget."""

    terms: Floats
    thetas: Floats

    @property
    def total(self) -> float:
        """Sum of the terms: replaces training error, leaf terms and L-term."""
        return float(self.terms.sum())


def real_leaf_term(margins: ArrayLike, m: int, charge: float) -> RealLeaf:
    """Smallest ``#(margin < theta)/m + charge/theta`` over theta > 0, capped at the leaf's share (2.10).

    Parameters
    ----------
    margins : array
        Margins of the leaf's training points.
    m : int
        Size of the whole sample.
    charge : float
        Constant times complexity: ``8 c r_k`` for composite trees, ``4 r_k`` for cascades.

    Examples
    --------
    >>> from surewood.bounds import real_leaf_term
    >>> real_leaf_term([0.5, 0.5, 0.25, -0.5], 8, charge=0.03125)
    RealLeaf(term=0.25, theta=0.25)
    """
    values = np.sort(check.finite(margins, "margins", ndim=1))
    cost = float(check.finite(charge, "charge", minimum=0.0))
    m = check.count(m, "m", 1)
    if values.size > m:
        raise ValueError(f"margins must have at most m={m} entries, got {values.size}")
    return _best_threshold(values, m, cost)


def _best_threshold(
    sorted_margins: Floats, m: int, charge: float, multiplier: float = 0.0, smallest: float = 0.0
) -> RealLeaf:
    """Best threshold >= smallest at price charge + multiplier for 1/theta; the term omits the multiplier."""
    cap = sorted_margins.size / m
    first = int(np.searchsorted(sorted_margins, 0.0, side="right"))
    thetas = np.unique(sorted_margins[first:])
    thetas = thetas[thetas >= max(smallest, _SMALLEST_THETA)]
    if thetas.size == 0:
        return RealLeaf(cap, np.inf)
    below = np.searchsorted(sorted_margins, thetas, side="left") / m
    best = int(np.argmin(below + (charge + multiplier) / thetas))
    if below[best] + (charge + multiplier) / thetas[best] >= cap:
        return RealLeaf(cap, np.inf)
    return RealLeaf(float(below[best] + charge / thetas[best]), float(thetas[best]))


def real_leaf_terms(
    margins: Sequence[ArrayLike],
    m: int,
    charge: ArrayLike,
    *,
    rho: float | None = None,
    rho_inverse: int | None = None,
) -> RealLeaves:
    """Terms of all leaves with the inverse thresholds of uncapped leaves summing to at most 1/rho (2.10).

    Any thresholds within the budget give a valid bound. When the leaves' own minima exceed it, a common price
    on 1/theta is raised until they fit, and what is left of the budget goes to the capped leaves, largest
    first.

    Examples
    --------
    >>> from surewood.bounds import real_leaf_terms
    >>> leaves = real_leaf_terms([[0.5] * 4, [0.5] * 3], 7, [0.01, 0.01], rho_inverse=2)
    >>> leaves.thetas.tolist()
    [0.5, inf]
    """
    m = check.count(m, "m", 1)
    cost = np.atleast_1d(check.finite(charge, "charge", minimum=0.0))
    budget = check.inverse_rho(rho, rho_inverse)[0] * (1.0 + 1e-9)
    values = [np.sort(check.finite(leaf, "margins", ndim=1)) for leaf in margins]
    if len(values) != cost.size:
        raise ValueError(f"charge must have one entry a leaf ({len(values)}), got {cost.size}")
    if sum(leaf.size for leaf in values) > m:
        raise ValueError(f"margins must have at most m={m} entries in all")

    def choose(multiplier: float) -> RealLeaves:
        chosen = [_best_threshold(leaf, m, float(c), multiplier) for leaf, c in zip(values, cost)]
        return RealLeaves(np.array([leaf.term for leaf in chosen]), np.array([leaf.theta for leaf in chosen]))

    best = choose(0.0)
    if not _fits(best, budget):
        best = _fill(_cheapest_fit(choose, budget), values, m, cost, budget)
    return best


def _fits(leaves: RealLeaves, budget: float) -> bool:
    return float((1.0 / leaves.thetas).sum()) <= budget


def _cheapest_fit(choose: Callable[[float], RealLeaves], budget: float) -> RealLeaves:
    """Choice at the smallest common price on 1/theta at which the budget is kept."""
    low, high = 0.0, 1.0
    while not _fits(choose(high), budget):  # ends: a high enough price caps every leaf
        low, high = high, 2.0 * high
    best = choose(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        candidate = choose(middle)
        if _fits(candidate, budget):
            best, high = candidate, middle
        else:
            low = middle
    return best


def _fill(leaves: RealLeaves, values: list[Floats], m: int, charge: Floats, budget: float) -> RealLeaves:
    """Give capped leaves, largest first, thresholds that fit the remaining budget."""
    terms, thetas = leaves.terms.copy(), leaves.thetas.copy()
    for k in sorted(range(len(values)), key=lambda k: -values[k].size):
        left = budget - float((1.0 / thetas).sum())
        if np.isinf(thetas[k]) and left > 0:
            terms[k], thetas[k] = _best_threshold(values[k], m, float(charge[k]), smallest=1.0 / left)
    return RealLeaves(terms, thetas)


def smallest_margins(margins: Sequence[ArrayLike]) -> Floats:
    """Smallest positive margin of each leaf, 0 where none is positive (§3.3).

    Examples
    --------
    >>> from surewood.bounds import smallest_margins
    >>> smallest_margins([[0.5, 0.25, -1.0], [-0.5]]).tolist()
    [0.25, 0.0]
    """
    arrays = [check.finite(leaf, "margins", ndim=1) for leaf in margins]
    return np.array([leaf[leaf > 0].min() if (leaf > 0).any() else 0.0 for leaf in arrays])


def switched_on_leaves(gains: ArrayLike, weights: ArrayLike, capacity: float) -> Mask:
    """Subset of leaves with the largest summed gain whose weights fit the capacity, by enumeration (§3.3).

    Parameters
    ----------
    gains : array of shape (n_leaves,)
        ``m_k+/m - 4 r_k / rho_k``; leaves without positive gain are never switched on.
    weights : array of shape (n_leaves,)
        ``1 / rho_k``, infinite where no point is correct.
    capacity : float
        ``1 / rho``.

    Returns
    -------
    ndarray of bool
        At most 20 leaves may have a positive gain.

    Examples
    --------
    >>> from surewood.bounds import switched_on_leaves
    >>> switched_on_leaves([0.3, 0.2, 0.2], [3.0, 2.0, 2.0], 4.0).tolist()
    [False, True, True]
    """
    gain = np.atleast_1d(np.asarray(gains, dtype=np.float64))
    weight = np.atleast_1d(np.asarray(weights, dtype=np.float64))
    check.same_length(gains=gain, weights=weight)
    if np.isnan(gain).any() or np.isnan(weight).any() or (weight.size and weight.min() < 0):
        raise ValueError("gains and weights must not be NaN, weights must be >= 0")
    capacity = check.positive(capacity, "capacity")
    candidates: NDArray[np.intp] = np.flatnonzero((gain > 0) & (weight <= capacity * (1 + 1e-9)))
    if candidates.size > _MAX_KNAPSACK:
        raise ValueError(f"gains must have at most {_MAX_KNAPSACK} positive entries, got {candidates.size}")
    codes = np.arange(1 << candidates.size)
    subset_gain, subset_weight = np.zeros(codes.size), np.zeros(codes.size)
    for bit, leaf in enumerate(candidates):
        inside = (codes >> bit) & 1
        subset_gain += inside * gain[leaf]
        subset_weight += inside * weight[leaf]
    subset_gain[subset_weight > capacity * (1 + 1e-9)] = -np.inf
    best = int(np.argmax(subset_gain))
    chosen = np.zeros(gain.size, dtype=bool)
    chosen[candidates[(best >> np.arange(candidates.size)) & 1 == 1]] = True
    return chosen
