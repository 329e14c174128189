"""The cascade criterion in counts and the bound that prunes its search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.bounds import (
    cascade_completion_bound,
    cascade_complexity,
    cascade_criterion,
    cascade_criterion_counts,
    cascade_is_inert,
    leaf_log_growth,
)


def test_worked_number():
    a = cascade_complexity(leaf_log_growth([2, 1], 12, 500), 500)
    assert cascade_criterion([380, 60], [20, 40], a, gamma_scale=0.02) == pytest.approx(0.316172, abs=1e-6)


def test_inert_scales_quoted_for_the_papers_sets():
    for n, m, expected in (
        (10, 409, 1.41),
        (24, 600, 1.67),
        (60, 600, 2.31),
        (34, 210, 2.72),
        (123, 600, 2.92),
    ):
        a = cascade_complexity(leaf_log_growth([1], n, m), m)
        assert 4 * a[0] == pytest.approx(expected, abs=0.02)
        assert cascade_is_inert(a[0], 1.0)
        assert not cascade_is_inert(a[0], 0.1)


@given(st.integers(0, 10**6), st.floats(1e-6, 1), st.floats(1, 10))
def test_criterion_is_exact_when_inert_rises_with_gamma_and_stays_below_one(seed, gamma, factor):
    rng = np.random.default_rng(seed)
    correct, errors = rng.integers(0, 50, 3), rng.integers(1, 20, 3)
    a = rng.uniform(0.0, 1, 3)
    low, high = (cascade_criterion(correct, errors, a, gamma_scale=g) for g in (gamma, gamma * factor))
    assert low <= high + 1e-12
    assert high <= 1.0
    assert cascade_criterion(correct, errors, a + 1, gamma_scale=1.0) == 1.0


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-4, 0.3))
def test_no_completion_beats_the_pruning_bound(seed, gamma):
    """Random cascades of up to four leaves: every prefix bounds the score of the whole."""
    rng = np.random.default_rng(seed)
    degrees = rng.integers(0, 3, size=rng.integers(1, 5))
    growths = np.array([4.0, 9.0, 20.0])
    n_leaves, m = degrees.size, 200
    sizes = rng.multinomial(m, rng.dirichlet(np.ones(n_leaves)))
    errors = np.array([rng.integers(0, size + 1) for size in sizes])
    a = cascade_complexity(growths[degrees], m)
    T = cascade_criterion_counts(sizes - errors, errors, a, m=m, gamma_scale=gamma)
    question = np.sqrt(growths[degrees] / m)
    for k in range(n_leaves):
        bound = cascade_completion_bound(
            T[:k].sum(),
            sizes[k:].sum(),
            question[:k].sum(),
            np.sqrt(growths.min() / m),
            m=m,
            gamma_scale=gamma,
        )
        assert bound <= T.sum() + 1e-9


@given(st.integers(0, 10**6), st.floats(1e-4, 1.0))
def test_dropping_a_node_that_passes_everything_on_never_raises_the_score(seed, gamma):
    rng = np.random.default_rng(seed)
    growth, m = rng.uniform(1, 30, 3), 100
    correct, errors = np.array([0, 40, 30]), np.array([0, 20, 10])  # node 1 keeps nothing
    long = cascade_criterion(correct, errors, cascade_complexity(growth, m), gamma_scale=gamma)
    short = cascade_criterion(correct[1:], errors[1:], cascade_complexity(growth[1:], m), gamma_scale=gamma)
    assert short <= long + 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cascade_criterion([1], [0], [0.1], gamma_scale=-1),
            "gamma_scale must be a finite number > 0",
        ),
        (lambda: cascade_criterion([0], [0], [0.1], gamma_scale=1), "m must be a finite number > 0"),
        (lambda: cascade_is_inert(-0.1, 1.0), "smallest_complexity must be >= 0"),
        (
            lambda: cascade_completion_bound(-1, 1, 0.1, 0.1, m=10, gamma_scale=1),
            "partial must be >= 0, got -1",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
