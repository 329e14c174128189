"""The knapsack of (2.10) against enumeration, and its answer where enumeration is out of reach."""

from itertools import product

import numpy as np
import pytest

from surewood.bounds import knapsack
from surewood.bounds.knapsack import cheapest_within


def random_options(rng, n_leaves, n_options):
    weights = [np.r_[0.0, np.sort(rng.uniform(0.1, 3.0, n_options))] for _ in range(n_leaves)]
    costs = [np.sort(rng.uniform(0.0, 1.0, n_options + 1))[::-1] for _ in range(n_leaves)]
    return list(zip(weights, costs))


def cheapest(options, budget):
    choice = cheapest_within(options, budget)
    weights = np.array([w[k] for (w, _), k in zip(options, choice)])
    return weights, np.array([c[k] for (_, c), k in zip(options, choice)])


def enumerated(options, budget):
    totals = [
        (sum(c[k] for (_, c), k in zip(options, choice)), sum(w[k] for (w, _), k in zip(options, choice)))
        for choice in product(*(range(len(w)) for w, _ in options))
    ]
    return min(cost for cost, weight in totals if weight <= budget)


def test_the_optimum_is_found_in_every_random_case():
    rng = np.random.default_rng(0)
    for _ in range(300):
        options = random_options(rng, rng.integers(1, 6), rng.integers(1, 5))
        budget = rng.uniform(0.05, 8.0)
        weights, costs = cheapest(options, budget)
        assert weights.sum() <= budget
        assert costs.sum() == pytest.approx(enumerated(options, budget), abs=1e-12)


def test_a_hundred_leaves_stay_between_relaxation_and_greedy():
    options = random_options(np.random.default_rng(1), 100, 40)
    weights, costs = cheapest(options, 60.0)
    price, _ = knapsack._smallest_price(options, 60.0)
    bound = knapsack._lower_bound(options, price, 60.0)
    assert weights.sum() <= 60.0
    assert bound <= costs.sum() <= bound + 0.01


def test_too_many_choices_leave_the_relaxation_and_stay_within_the_budget(monkeypatch):
    monkeypatch.setattr(knapsack, "_MAX_STATES", 0)
    options = random_options(np.random.default_rng(2), 5, 4)
    weights, costs = cheapest(options, 2.0)
    assert weights.sum() <= 2.0
    assert costs.sum() >= enumerated(options, 2.0) - 1e-12
