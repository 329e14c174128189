"""Leaves with real values (theory.md (2.10), §3.3): a margin threshold for each leaf under a common budget.

`real_leaf_term` is one leaf alone, `real_leaf_terms` all leaves under the budget, `smallest_margins` the
:math:`\\rho_k` of §3.3, `switched_on_leaves` the knapsack of the general case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats, Mask

from . import _arguments as check
from .knapsack import cheapest_within

_MAX_KNAPSACK = 20
_SMALLEST_THETA = 1e-300  # a smaller threshold has no finite inverse


class RealLeaf(NamedTuple):
    """Term of one leaf and the margin threshold that gives it (infinite when the leaf is capped).

    Examples
    --------
    >>> from surewood.bounds import real_leaf_term
    >>> leaf = real_leaf_term([0.5, 0.5, 0.25, -0.5], 8, charge=0.03125)
    >>> leaf.term, leaf.theta
    (0.25, 0.25)
    """

    term: float
    theta: float


class RealLeaves(NamedTuple):
    """Terms and thresholds of all leaves; their inverse thresholds fit the budget.

    Examples
    --------
    >>> from surewood.bounds import real_leaf_terms
    >>> leaves = real_leaf_terms([[0.5] * 4, [0.5] * 3], 7, [0.01, 0.01], rho_inverse=2)
    >>> leaves.terms.round(3).tolist(), round(leaves.total, 3)
    ([0.02, 0.429], 0.449)
    """

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


def _best_threshold(sorted_margins: Floats, m: int, charge: float) -> RealLeaf:
    """The cheapest of the options of one leaf, the largest threshold among equals."""
    thetas, terms = _options(sorted_margins, m, charge)
    best = int(np.argmin(terms))
    return RealLeaf(float(terms[best]), float(thetas[best]))


def _options(sorted_margins: Floats, m: int, charge: float) -> tuple[Floats, Floats]:
    """Thresholds worth having and their terms: the cap (infinite threshold) first, then falling terms."""
    first = int(np.searchsorted(sorted_margins, 0.0, side="right"))
    thetas = np.unique(sorted_margins[first:])[::-1]
    thetas = thetas[thetas >= _SMALLEST_THETA]
    below = np.searchsorted(sorted_margins, thetas, side="left") / m
    terms = np.r_[sorted_margins.size / m, below + charge / thetas]
    better = np.r_[True, terms[1:] < np.minimum.accumulate(terms)[:-1]]
    return np.r_[np.inf, thetas][better], terms[better]


def real_leaf_terms(
    margins: Sequence[ArrayLike],
    m: int,
    charge: ArrayLike,
    *,
    rho_inverse: float,
) -> RealLeaves:
    """Terms of all leaves with the inverse thresholds of uncapped leaves summing to at most 1/rho (2.10).

    The smallest total: a multiple-choice knapsack, solved exactly from its Lagrangian relaxation. Any
    thresholds within the budget give a valid bound, so where more than a hundred thousand partial choices
    would have to be kept the relaxation's own solution is returned.

    Examples
    --------
    >>> from surewood.bounds import real_leaf_terms
    >>> leaves = real_leaf_terms([[0.5] * 4, [0.5] * 3], 7, [0.01, 0.01], rho_inverse=2)
    >>> leaves.thetas.tolist()
    [0.5, inf]
    """
    m = check.count(m, "m", 1)
    cost = np.atleast_1d(check.finite(charge, "charge", minimum=0.0))
    budget = check.inverse_rho(rho_inverse)[0] * (1.0 + 1e-9)
    values = [np.sort(check.finite(leaf, "margins", ndim=1)) for leaf in margins]
    if len(values) != cost.size:
        raise ValueError(f"charge must have one entry per leaf ({len(values)}), got {cost.size}")
    if sum(leaf.size for leaf in values) > m:
        raise ValueError(f"margins must have at most m={m} entries in all")
    options = [_options(leaf, m, float(c)) for leaf, c in zip(values, cost)]
    chosen = cheapest_within([(1.0 / thetas, terms) for thetas, terms in options], budget)
    best = np.array([(terms[k], thetas[k]) for (thetas, terms), k in zip(options, chosen)]).reshape(-1, 2)
    return RealLeaves(best[:, 0], best[:, 1])


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
