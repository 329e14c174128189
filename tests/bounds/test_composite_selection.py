"""The criterion in counts: exact ties, leafwise minima, monotone in the scale."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.bounds import (
    composite_complexity,
    composite_criterion,
    composite_criterion_counts,
    largest_active_gamma,
    leaf_log_growth,
    select_degrees,
    split_log_growth,
)

tables = st.integers(0, 10**6)


def random_table(seed, n_leaves=3, n_degrees=3):
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 60, size=n_leaves)
    errors = rng.integers(0, points[:, None] + 1, size=(n_leaves, n_degrees))
    return (
        points[:, None] - errors,
        errors,
        np.sort(rng.uniform(0, 2, (n_leaves, n_degrees)), axis=1),
        points.sum(),
    )


@settings(deadline=None)
@given(tables, st.sampled_from([1e-4, 1e-3, 1e-2, 0.1]))
def test_leafwise_selection_equals_the_minimum_over_all_sequences(seed, gamma):
    correct, errors, A, m = random_table(seed)
    T = composite_criterion_counts(correct, errors, A, m=m, n_classes=3, gamma_scale=gamma)
    rows = np.arange(3)
    chosen = T[rows, select_degrees(T)].sum()
    sequences = [T[rows, list(sequence)].sum() for sequence in product(range(3), repeat=3)]
    assert chosen == pytest.approx(min(sequences), abs=1e-9)
    picks = np.random.default_rng(seed).integers(0, 27, size=10)
    assert min(np.array(sequences)[picks]) >= chosen - 1e-9


@given(tables)
def test_inert_criterion_is_exactly_one_and_ties_go_to_the_smallest_degree(seed):
    correct, errors, A, m = random_table(seed)
    T = composite_criterion_counts(correct, errors, A + 1.0, m=m, n_classes=2, gamma_scale=1.0)
    assert ((correct + errors) == T).all()
    assert (select_degrees(T) == 0).all()
    assert composite_criterion(correct[:, 0], errors[:, 0], A[:, 0] + 1, n_classes=2, gamma_scale=1.0) == 1.0


@given(tables, st.floats(1e-6, 1.0), st.floats(1.0, 10.0))
def test_criterion_rises_with_gamma_and_never_exceeds_one(seed, gamma, factor):
    correct, errors, A, _ = random_table(seed)
    low, high = (
        composite_criterion(correct[:, 0], errors[:, 0], A[:, 0], n_classes=2, gamma_scale=g)
        for g in (gamma, gamma * factor)
    )
    assert errors[:, 0].sum() / (correct[:, 0].sum() + errors[:, 0].sum()) <= low + 1e-12
    assert low <= high + 1e-12
    assert high <= 1.0


def test_fractional_counts_of_weighted_samples_are_taken():
    T = composite_criterion_counts([1.5], [0.25], [0.0], m=1.75, n_classes=2, gamma_scale=1.0)
    assert T.tolist() == [0.25]


@pytest.mark.parametrize(
    ("m", "n", "c", "r", "expected", "gamma"),
    [
        (508, 18, 4, 4, (30.3, 49.8, 49.8), 0.0083),
        (4496, 16, 10, 4, (28.5, 54.4, 104.9), 0.0088),
        (600, 24, 2, 5, (15.5, 24.9, 24.9), 0.0161),
        (90, 4, 3, 2, (31.2, 38.6, 43.7), 0.0080),
        (125, 60, 2, 8, (35.0, 35.0, 35.0), 0.0072),
    ],
)
def test_published_scales_are_inert_as_tabulated(m, n, c, r, expected, gamma):
    growth = leaf_log_growth([1, 2, 9], n, m, c)
    A = composite_complexity(2, growth, split_log_growth(m, r, n), m)
    assert 8 * c * A == pytest.approx(expected, abs=0.06)
    assert largest_active_gamma(0.25, A[0], n_classes=c) == pytest.approx(gamma, abs=6e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: select_degrees([1.0]), "criterion_counts must have 2 dimension"),
        (lambda: select_degrees(np.zeros((2, 0))), "criterion_counts must have at least one column"),
        (
            lambda: composite_criterion([1], [0], [0.1], n_classes=2, gamma_scale=0),
            "gamma_scale must be a finite",
        ),
        (
            lambda: composite_criterion([0], [0], [0.1], n_classes=2, gamma_scale=1),
            "m must be a finite number > 0",
        ),
        (lambda: largest_active_gamma(0.5, 0.0, n_classes=2), "complexity must be > 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
