"""One option per leaf under a common budget: the multiple-choice knapsack behind (2.10).

`cheapest_within` solves it: a price on the budget (Lagrangian relaxation) gives a lower bound and a first
choice; options that cost more than the gap between the two can be dropped; the few that remain are combined
leaf by leaf, and only choices that no other one dominates are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats

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
