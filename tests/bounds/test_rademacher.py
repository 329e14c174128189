"""Closed forms against enumeration, Monte Carlo against its own error bar."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood import bounds


def thresholds(m, orientations):
    x = np.arange(m)
    below = np.array([x <= t for t in range(-1, m)], dtype=float)
    return below if orientations == 1 else np.vstack([below, 1 - below])


def intervals(m):
    x = np.arange(m)
    return np.array([(x >= a) & (x < b) for a in range(m + 1) for b in range(a, m + 1)], dtype=float)


@pytest.mark.parametrize("m", range(1, 13))
@pytest.mark.parametrize("orientations", [1, 2])
def test_thresholds_equal_enumeration(m, orientations):
    table = thresholds(m, orientations)
    binary = bounds.threshold_rademacher(m, orientations=orientations, values="binary")
    assert binary == pytest.approx(bounds.exact_rademacher(table), abs=1e-12)
    if orientations == 2:
        assert bounds.threshold_rademacher(m) == pytest.approx(
            bounds.exact_rademacher(2 * table - 1), abs=1e-12
        )


@pytest.mark.parametrize("m", range(1, 13))
def test_intervals_equal_enumeration(m):
    assert bounds.interval_rademacher(m) == pytest.approx(bounds.exact_rademacher(intervals(m)), abs=1e-12)
    assert bounds.interval_rademacher(m, values="signed") == pytest.approx(2 * bounds.interval_rademacher(m))


@pytest.mark.parametrize("m", [50, 301])
def test_closed_forms_agree_with_monte_carlo_at_larger_sizes(m):
    def split(signs):
        prefix = np.concatenate(([0], np.cumsum(signs)))
        return np.abs(2 * prefix - prefix[-1]).max()

    def rise(signs):
        prefix = np.concatenate(([0], np.cumsum(signs)))
        return (prefix - np.minimum.accumulate(prefix)).max()

    for supremum, value in ((split, bounds.threshold_rademacher(m)), (rise, bounds.interval_rademacher(m))):
        simulated = bounds.monte_carlo_rademacher(supremum=supremum, m=m, n_draws=4000, seed=m)
        assert abs(simulated.estimate - value) < 4 * simulated.standard_error


def test_large_samples_take_no_enumeration():
    assert bounds.threshold_rademacher(10**5) == pytest.approx(
        10**-2.5 * bounds.threshold_rademacher(100) / 0.1, rel=0.2
    )
    assert bounds.interval_rademacher(10**5) < bounds.interval_rademacher(10**4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 6))
def test_monte_carlo_covers_the_exact_value(seed, m, n_functions):
    table = np.random.default_rng(seed).normal(size=(n_functions, m))
    simulated = bounds.monte_carlo_rademacher(table, n_draws=2000, seed=seed)
    assert abs(simulated.estimate - bounds.exact_rademacher(table)) <= 6 * simulated.standard_error + 1e-12


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3))
def test_norm_bounds_hold_for_members_of_the_ball(seed, m, n):
    rng = np.random.default_rng(seed)
    X, directions = rng.normal(size=(m, n)), rng.normal(size=(60, n))
    euclidean = directions / np.linalg.norm(directions, axis=1, keepdims=True) * 2.0
    sparse = directions / np.abs(directions).sum(axis=1, keepdims=True) * 2.0
    assert bounds.exact_rademacher(euclidean @ X.T) <= bounds.linear_rademacher(X, norm=2.0) + 1e-12
    assert bounds.exact_rademacher(sparse @ X.T) <= bounds.sparse_linear_rademacher(X, norm=2.0) + 1e-12
    assert bounds.linear_rademacher(X) == pytest.approx(bounds.kernel_rademacher(np.diag(X @ X.T)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.exact_rademacher(np.zeros((1, 23))), "at most 22 columns"),
        (lambda: bounds.exact_rademacher([1.0]), "values must have 2 dimension"),
        (lambda: bounds.exact_rademacher(np.zeros((0, 2))), "values must have at least one row"),
        (lambda: bounds.monte_carlo_rademacher(), "exactly one of values and supremum"),
        (lambda: bounds.monte_carlo_rademacher([[1.0]], n_draws=1), "n_draws must be an integer >= 2, got 1"),
        (lambda: bounds.monte_carlo_rademacher(supremum=len), "m must be an integer >= 1, got None"),
        (lambda: bounds.threshold_rademacher(5, orientations=3), "orientations must be 1 or 2, got 3"),
        (lambda: bounds.threshold_rademacher(0), "m must be an integer >= 1, got 0"),
        (lambda: bounds.kernel_rademacher([-1.0]), "kernel_diagonal must be >= 0, got -1"),
        (lambda: bounds.linear_rademacher([[1.0]], norm=0), "norm must be a finite number > 0, got 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_single_function_has_no_complexity_and_never_a_negative_one():
    rng = np.random.default_rng(0)
    for m in range(1, 12):
        assert 0.0 <= bounds.exact_rademacher(rng.normal(size=(1, m))) <= 1e-15
