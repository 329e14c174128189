"""Margin thresholds of real-valued leaves, against grids and enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.bounds import real_leaf_term, real_leaf_terms, smallest_margins, switched_on_leaves

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
