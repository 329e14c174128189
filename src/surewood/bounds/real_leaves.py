r"""Bounds for leaves with real values, whose margins count (theory.md (2.10), §3.3).

A margin threshold for each leaf under a common budget: `real_leaf_term` is one leaf alone, `real_leaf_terms`
all leaves, `smallest_margins` the :math:`\rho_k` of §3.3, `switched_on_leaves` the knapsack of the general
case. `real_composite_bound` assembles (2.10) like (2.2); `real_cascade_bound` is (3.5) with the knapsack of
§3.3, or (2.10) with the constant 4. Why both hold: the ensemble bound behind Theorem 1 is uniform over the
weights :math:`\alpha`, so thresholds :math:`\theta_k=\rho/\alpha_k` may be chosen on the data as long as the
weights sum to at most 1; points with a margin below :math:`\theta_k` are its margin errors.

The file begins with the multiple-choice knapsack behind (2.10), `cheapest_within`: a price on the budget
(Lagrangian relaxation) gives a lower bound and a first choice; options that cost more than the gap between
the two can be dropped; the few that remain are combined leaf by leaf, and only choices that no other one
dominates are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats, Mask

from . import _arguments as check
from . import cascade, composite
from .risk_bound import RiskBound, confidence_term

_MAX_STATES = 100_000  # partial choices kept at once

_ROUNDING = 1e-12

Options = tuple[Floats, Floats]

Choice = NDArray[np.intp]


def cheapest_within(options: Sequence[Options], budget: float) -> Choice:
    """Position of one option per leaf, with the smallest summed cost whose weights fit the budget.

    Parameters
    ----------
    options : sequence of pairs of arrays
        Weights and costs of each leaf's options, weights rising from 0 and costs falling.
    budget : float
        Largest sum of weights.
    """
    choice = _at_price(options, 0.0)
    if _weight(options, choice) > budget:
        price, choice = _smallest_price(options, budget)
        choice = _filled(options, choice, budget)
        gap = _cost(options, choice) - _lower_bound(options, price, budget)
        choice = _combined(options, price, budget, gap + _ROUNDING, choice)
    return choice


def _at_price(options: Sequence[Options], price: float) -> Choice:
    return np.array([int(np.argmin(c + price * w)) for w, c in options], dtype=np.intp)


def _weight(options: Sequence[Options], choice: Choice) -> float:
    return float(sum(w[k] for (w, _), k in zip(options, choice)))


def _cost(options: Sequence[Options], choice: Choice) -> float:
    return float(sum(c[k] for (_, c), k in zip(options, choice)))


def _smallest_price(options: Sequence[Options], budget: float) -> tuple[float, Choice]:
    """Smallest common price on weight, to 60 halvings, at which the budget is kept, and its choice."""
    low, high = 0.0, 1.0
    while _weight(options, _at_price(options, high)) > budget:  # ends: at a high price every weight is 0
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        fits = _weight(options, _at_price(options, middle)) <= budget
        low, high = (low, middle) if fits else (middle, high)
    return high, _at_price(options, high)


def _lower_bound(options: Sequence[Options], price: float, budget: float) -> float:
    return float(sum(np.min(c + price * w) for w, c in options)) - price * budget


def _filled(options: Sequence[Options], choice: Choice, budget: float) -> Choice:
    """Spend what is left of the budget, largest saving first."""
    filled = choice.copy()
    left = budget - _weight(options, choice)
    while True:
        savings = []
        for k, (w, c) in enumerate(options):
            best = int(np.searchsorted(w, w[filled[k]] + left, side="right")) - 1
            savings.append((float(c[filled[k]] - c[best]), k, best))
        saved, k, best = max(savings)
        if saved <= 0.0:
            return filled
        left -= float(options[k][0][best] - options[k][0][filled[k]])
        filled[k] = best


class _Stage(NamedTuple):
    """Where each kept partial choice came from: its predecessor and the option taken at this leaf."""

    parent: NDArray[np.intp]
    option: NDArray[np.intp]


def _combined(
    options: Sequence[Options], price: float, budget: float, gap: float, fallback: Choice
) -> Choice:
    """Exact optimum among options whose reduced costs stay within the gap; `fallback` if that is too many.

    The reduced cost of an option is what it costs, at the price, above the leaf's cheapest one. A choice
    whose reduced costs sum to more than the gap cannot beat the one already known.
    """
    weight, cost, excess = np.zeros(1), np.zeros(1), np.zeros(1)
    stages: list[_Stage] = []
    for w, c in options:
        reduced = c + price * w
        reduced = reduced - reduced.min()
        kept = np.flatnonzero(reduced <= gap)
        if weight.size * kept.size > 50 * _MAX_STATES:
            return fallback
        total = (weight[:, None] + w[kept]).ravel()
        charged = (cost[:, None] + c[kept]).ravel()
        above = (excess[:, None] + reduced[kept]).ravel()
        order = np.lexsort((charged, total))
        order = order[(total[order] <= budget) & (above[order] <= gap)]
        running = np.minimum.accumulate(charged[order])
        order = order[np.r_[True, charged[order][1:] < running[:-1]]] if order.size else order
        if order.size == 0 or order.size > _MAX_STATES:
            return fallback
        weight, cost, excess = total[order], charged[order], above[order]
        stages.append(_Stage(order // kept.size, kept[order % kept.size]))
    state, chosen = int(np.argmin(cost)), []
    for stage in reversed(stages):
        chosen.append(int(stage.option[state]))
        state = int(stage.parent[state])
    best = np.array(chosen[::-1], dtype=np.intp)
    return best if _cost(options, best) < _cost(options, fallback) else fallback


_MAX_KNAPSACK = 20

_SMALLEST_THETA = 1e-300  # a smaller threshold has no finite inverse


class RealLeaf(NamedTuple):
    """Term of one leaf and the margin threshold that gives it (infinite when the leaf is capped).

    Examples
    --------
    >>> from surewood.bounds.real_leaves import real_leaf_term
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
    >>> from surewood.bounds.real_leaves import real_leaf_terms
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
    >>> from surewood.bounds.real_leaves import real_leaf_term
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
    >>> from surewood.bounds.real_leaves import real_leaf_terms
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
    >>> from surewood.bounds.real_leaves import smallest_margins
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
    >>> from surewood.bounds.real_leaves import switched_on_leaves
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


def real_composite_bound(
    margins: Sequence[ArrayLike],
    complexity: ArrayLike,
    *,
    n_classes: int,
    n_families: int,
    rho_inverse: float,
    delta: float = 0.05,
) -> RiskBound:
    """Bound for leaves with values in [0, 1] that sum to 1 over classes, rho fixed in advance (2.10).

    An extension of Theorem 1 by the same proof. The part `l_term` is what the budget on thresholds costs.

    Parameters
    ----------
    margins : sequence of arrays
        Margin of the training points of each leaf: score of the true class minus the best other, in [-1, 1].
    complexity : array of shape (n_leaves,)
        Bounds of the leaves' complexities for real values, such as :func:`product_rademacher` with
        ``values="binary_unit"``; the half root of one-hot leaves is not valid here.
    n_classes, n_families : int
        See :func:`composite_ensemble_term`; count the zero function as a family unless one contains it (any
        with a split does).
    rho_inverse, delta
        1/rho, and the probability that the bound fails.

    Examples
    --------
    >>> from surewood.bounds import real_composite_bound
    >>> leaves = [[0.5] * 900_000 + [0.01] * 10_000, [1.0] * 90_000]
    >>> bound = real_composite_bound(leaves, [1e-4, 1e-4], n_classes=2, n_families=6, rho_inverse=3)
    >>> round(bound.leaf_terms, 6), bound.l_term
    (0.0148, 0.0)
    """
    leaves, m = _leaf_margins(margins)
    c, charge = composite.leaf_charge(complexity, n_classes)
    inverse = check.inverse_rho(rho_inverse)[0]
    ensemble = composite.ensemble_terms(np.array([inverse]), m, n_families, c)
    return _threshold_bound(leaves, charge, m, inverse, float(ensemble[0]), delta, 2.0)


def real_cascade_bound(
    margins: Sequence[ArrayLike],
    complexity: ArrayLike,
    *,
    n_families: int,
    rho_inverse: float,
    delta: float = 0.05,
    thresholds: str = "smallest",
) -> RiskBound:
    """Bound for leaves with values in [-1, 1] and a rho fixed in advance (3.5), with the knapsack of §3.3.

    Parameters
    ----------
    margins : sequence of arrays
        ``y h_k(x)`` in [-1, 1] of the training points of each leaf.
    complexity : array of shape (n_leaves,)
        Bounds of the leaves' complexities, products counted with factor 2 (§1.3).
    n_families, rho_inverse, delta
        See :func:`cascade_theorem` and :meth:`LeafTheorem.at`.
    thresholds : {"smallest", "any"}
        ``smallest``: the smallest positive margin of each leaf, as printed; at most 20 active leaves.
        ``any``: the best threshold of each leaf, (2.10) with the constant 4.

    Examples
    --------
    >>> from surewood.bounds import real_cascade_bound
    >>> bound = real_cascade_bound([[0.5] * 900, [1.0] * 100], [0.01, 0.01], n_families=1, rho_inverse=3)
    >>> round(bound.leaf_terms, 6), bound.l_term
    (0.12, 0.0)
    """
    check.choice(thresholds, "thresholds", ("smallest", "any"))
    leaves, m = _leaf_margins(margins)
    charge = cascade.leaf_charge(complexity)
    _one_a_leaf(charge, leaves)
    inverse = check.inverse_rho(rho_inverse)[0]
    ensemble = float(cascade.ensemble_terms(np.array([inverse]), m, n_families, "theorem")[0])
    if thresholds == "any":
        return _threshold_bound(leaves, charge, m, inverse, ensemble, delta, 4.0)
    plus = np.array([np.count_nonzero(leaf > 0) for leaf in leaves]) / m
    smallest = smallest_margins(leaves)
    with np.errstate(divide="ignore", over="ignore"):  # theory.md [D-21]: 4 r_k / 0 is infinite
        weight = 1.0 / smallest
        scaled = np.where(smallest > 0, charge, np.inf) / np.where(smallest > 0, smallest, 1.0)
    gain = np.maximum(plus - scaled, 0.0)
    chosen = switched_on_leaves(gain, weight, inverse)
    return RiskBound(
        training_error=_training_error(leaves, m),
        leaf_terms=float(np.minimum(scaled, plus).sum()),
        l_term=float(gain[~chosen].sum()),
        ensemble_term=ensemble,
        confidence=confidence_term(m, check.confidence(delta), 4.0),
        rho_inverse=inverse,
        delta=delta,
    )


def _threshold_bound(
    leaves: list[Floats], charge: Floats, m: int, inverse: float, ensemble: float, delta: float, factor: float
) -> RiskBound:
    # theory.md (2.10): each leaf at its best threshold, then what the common budget 1/rho takes back
    _one_a_leaf(charge, leaves)
    free = sum(real_leaf_term(leaf, m, float(cost)).term for leaf, cost in zip(leaves, charge))
    shared = real_leaf_terms(leaves, m, charge, rho_inverse=inverse).total
    wrong = _training_error(leaves, m)
    return RiskBound(
        training_error=wrong,
        leaf_terms=max(0.0, free - wrong),
        l_term=max(0.0, shared - free),
        ensemble_term=ensemble,
        confidence=confidence_term(m, check.confidence(delta), factor),
        rho_inverse=inverse,
        delta=delta,
    )


def _training_error(leaves: list[Floats], m: int) -> float:
    return sum(int(np.count_nonzero(leaf <= 0)) for leaf in leaves) / m


def _leaf_margins(margins: Sequence[ArrayLike]) -> tuple[list[Floats], int]:
    leaves = [check.finite(leaf, "margins", minimum=-1.0, ndim=1) for leaf in margins]
    if any(leaf.size and leaf.max() > 1 for leaf in leaves):
        raise ValueError("margins must be in [-1, 1]")
    return leaves, check.count(sum(leaf.size for leaf in leaves), "number of margins", 1)


def _one_a_leaf(charge: Floats, leaves: list[Floats]) -> None:
    if charge.size != len(leaves):
        raise ValueError(f"complexity must have one entry per leaf ({len(leaves)}), got {charge.size}")
