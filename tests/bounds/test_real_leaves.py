"""Bounds for leaves with real values, and their knapsack, against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.bounds import (
    cascade_theorem,
    composite_theorem,
    real_cascade_bound,
    real_composite_bound,
    real_leaves,
)
from surewood.bounds.real_leaves import (
    cheapest_within,
    real_leaf_term,
    real_leaf_terms,
    smallest_margins,
    switched_on_leaves,
)


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
    price, _ = real_leaves._smallest_price(options, 60.0)
    bound = real_leaves._lower_bound(options, price, 60.0)
    assert weights.sum() <= 60.0
    assert bound <= costs.sum() <= bound + 0.01


def test_too_many_choices_leave_the_relaxation_and_stay_within_the_budget(monkeypatch):
    monkeypatch.setattr(real_leaves, "_MAX_STATES", 0)
    options = random_options(np.random.default_rng(2), 5, 4)
    weights, costs = cheapest(options, 2.0)
    assert weights.sum() <= 2.0
    assert costs.sum() >= enumerated(options, 2.0) - 1e-12


margin_lists = st.lists(st.floats(-1, 1).map(lambda v: round(v, 2)), min_size=1, max_size=8)


def term(margins, theta, m, charge):
    return np.count_nonzero(np.asarray(margins) < theta) / m + charge / theta


@given(margin_lists, st.floats(0, 0.2))
def test_no_threshold_on_a_grid_does_better(margins, charge):
    m = 20
    best = real_leaf_term(margins, m, charge)
    grid = [term(margins, theta, m, charge) for theta in np.linspace(0.005, 1.0, 200)]
    assert best.term <= min([*grid, len(margins) / m]) + 1e-12
    if np.isfinite(best.theta):
        assert best.theta in margins
        assert best.term == pytest.approx(term(margins, best.theta, m, charge))
    else:
        assert best.term == len(margins) / m


@settings(deadline=None)
@given(st.lists(margin_lists, min_size=1, max_size=3), st.floats(0, 0.05), st.integers(1, 6))
def test_budget_is_kept_and_the_optimum_is_reached(leaves, charge, j):
    m = 40
    result = real_leaf_terms(leaves, m, [charge] * len(leaves), rho_inverse=j)
    assert (1.0 / result.thetas).sum() <= j * (1 + 1e-8)
    options = [[np.inf, *sorted({v for v in leaf if v > 0})] for leaf in leaves]
    best = min(
        sum(
            len(leaf) / m if np.isinf(theta) else min(len(leaf) / m, term(leaf, theta, m, charge))
            for leaf, theta in zip(leaves, thetas)
        )
        for thetas in product(*options)
        if sum(1 / theta for theta in thetas) <= j * (1 + 1e-9)
    )
    assert result.total == pytest.approx(best, abs=1e-12)


def test_one_hot_margins_reduce_to_the_theorem():
    leaves = [[1.0] * 30 + [-1.0] * 2, [1.0] * 25 + [-1.0] * 3, [1.0] * 40]
    result = real_leaf_terms(leaves, 100, [0.05, 0.3, 0.1], rho_inverse=2)
    assert result.terms.tolist() == pytest.approx([0.02 + 0.05, 0.28, 0.1])


def test_equal_leaves_share_a_budget_that_fits_one():
    result = real_leaf_terms([[1.0] * 5, [1.0] * 5], 10, [0.01, 0.01], rho_inverse=1)
    assert sorted(result.thetas.tolist()) == [1.0, np.inf]


def test_smallest_margins_of_leaves_without_correct_points_are_zero():
    assert smallest_margins([[0.2, 0.1], [], [-1.0, 0.0]]).tolist() == [0.1, 0.0, 0.0]


@given(st.lists(st.tuples(st.floats(-0.2, 1), st.floats(0.1, 5)), min_size=1, max_size=7), st.floats(0.1, 10))
def test_knapsack_equals_enumeration(items, capacity):
    gains, weights = map(np.array, zip(*items))
    chosen = switched_on_leaves(gains, weights, capacity)
    best = max(
        sum(gains[k] for k in range(len(gains)) if on[k])
        for on in product((0, 1), repeat=len(gains))
        if np.dot(on, weights) <= capacity * (1 + 1e-9)
    )
    assert gains[chosen].sum() == pytest.approx(max(best, 0.0), abs=1e-12)
    assert weights[chosen].sum() <= capacity * (1 + 1e-8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: real_leaf_term([0.5, 0.5], 1, 0.1), "margins must have at most m=1 entries, got 2"),
        (lambda: real_leaf_term([np.nan], 1, 0.1), "margins must be finite"),
        (
            lambda: real_leaf_terms([[0.5]], 1, [0.1, 0.1], rho_inverse=1),
            r"charge must have one entry per leaf \(1\), got 2",
        ),
        (
            lambda: real_leaf_terms([[0.5, 0.5]], 1, [0.1], rho_inverse=1),
            "margins must have at most m=1 entries in all",
        ),
        (lambda: switched_on_leaves([1] * 21, [0.1] * 21, 9.0), "at most 20 positive entries, got 21"),
        (lambda: switched_on_leaves([1], [np.nan], 9.0), "must not be NaN"),
        (lambda: switched_on_leaves([1], [1], 0.0), "capacity must be a finite number > 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


CORRECT, ERRORS, COMPLEXITY = [900, 600, 40], [50, 10, 5], [0.004, 0.003, 0.01]

SHARED = {"n_families": 12, "delta": 0.02}

LEAVES = CORRECT, ERRORS, COMPLEXITY


def signed(correct, errors, level=1.0):
    return [np.repeat([level, -level], pair) for pair in zip(correct, errors)]


@pytest.mark.parametrize("rho_inverse", [3, 2, 1])
def test_leaves_with_margins_of_one_are_the_two_valued_ones(rho_inverse):
    arguments = SHARED | {"rho_inverse": rho_inverse}
    margins = signed(CORRECT, ERRORS)
    place = {"rho_inverse": rho_inverse, "delta": 0.02}
    plain = composite_theorem(*LEAVES, n_classes=2, n_families=12).at(**place)
    real = real_composite_bound(margins, COMPLEXITY, n_classes=2, **arguments)
    assert real.decomposition() == pytest.approx(plain.decomposition())
    assert real.proved
    plain = cascade_theorem(*LEAVES, n_families=12).at(**place)
    for thresholds in ("smallest", "any"):
        real = real_cascade_bound(margins, COMPLEXITY, thresholds=thresholds, **arguments)
        assert real.decomposition() == pytest.approx(plain.decomposition())


def test_any_threshold_is_sharper_than_the_smallest_margin():
    leaf = np.concatenate([np.full(990, 0.9), np.full(10, 0.01)])  # ten doubtful points spoil the smallest
    arguments = {"n_families": 2, "rho_inverse": 200}
    smallest = real_cascade_bound([leaf], [0.001], **arguments)
    any_threshold = real_cascade_bound([leaf], [0.001], thresholds="any", **arguments)
    assert smallest.leaf_terms == pytest.approx(0.4)
    assert any_threshold.leaf_terms == pytest.approx(0.01 + 0.004 / 0.9)


def test_more_than_twenty_active_leaves_need_any_threshold():
    margins = signed([100] * 30, [1] * 30)
    with pytest.raises(ValueError, match="at most 20 positive entries"):
        real_cascade_bound(margins, [1e-4] * 30, n_families=2, rho_inverse=9)
    bound = real_cascade_bound(margins, [1e-4] * 30, n_families=2, rho_inverse=9, thresholds="any")
    assert bound.l_term == pytest.approx(21 * (100 / 3030 - 4e-4))


@pytest.mark.parametrize(
    ("margins", "complexity", "change", "message"),
    [
        ([[1.5]], [0.1], {}, r"margins must be in \[-1, 1\]"),
        ([[-1.5]], [0.1], {}, "margins must be >= -1"),
        ([[0.5], [0.5]], [0.1], {}, r"complexity must have one entry per leaf \(2\), got 1"),
        ([[]], [0.1], {}, "number of margins must be an integer >= 1"),
        ([[0.5]], [-0.1], {}, "complexity must be >= 0"),
        ([[0.5]], [0.1], {"delta": 0.0}, "delta must be in"),
        ([[0.5]], [0.1], {"rho_inverse": 0}, "rho_inverse must be a finite number > 0"),
    ],
)
def test_bad_arguments(margins, complexity, change, message):
    arguments = {"n_families": 2, "rho_inverse": 1} | change
    with pytest.raises(ValueError, match=message):
        real_composite_bound(margins, complexity, n_classes=2, **arguments)
    with pytest.raises(ValueError, match=message):
        real_cascade_bound(margins, complexity, **arguments)
