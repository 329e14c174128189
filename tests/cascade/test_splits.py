import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surewood.cascade.splits import as_fractions, cut, near_tie, points_to_continue, settled


@given(i=st.integers(1, 10), n=st.integers(1, 5000))
def test_rounding_is_the_integer_rule_of_the_theory(i, n):
    assert points_to_continue(as_fractions([i / 10])[0], n) == (2 * i * n + 10) // 20


def test_fractional_totals_are_not_rounded():
    assert points_to_continue(Fraction(1, 2), 2.5) == 1.25


@pytest.mark.parametrize("bad", [[0.0], [-0.1], [1.1], [float("nan")], [True], ["half"], "0.5", 0.5])
def test_fractions_outside_the_unit_interval_are_refused(bad):
    with pytest.raises(
        (TypeError, ValueError), match=r"fractions must be a list of numbers in \(0, 1\], got"
    ):
        as_fractions(bad)


def test_a_fraction_of_one_is_allowed_and_repeats_are_dropped():
    assert as_fractions([1, 0.5, 0.5]) == (Fraction(1, 2), Fraction(1))


def test_ties_go_on_together_and_the_threshold_is_a_midpoint():
    distance = np.array([0.0, 1.0, 1.0, 1.0, 4.0])
    found = cut(distance, np.arange(1.0, 6.0), 2)
    assert found == (4, 2.5)
    assert cut(distance, np.arange(1.0, 6.0), 5) == (5, math.inf)
    assert cut(np.full(3, 2.0), np.arange(1.0, 4.0), 1) == (3, math.inf)
    assert cut(distance, np.arange(1.0, 6.0), 0).n_points == 0


def test_near_ties_go_on_together():
    noise = np.array([0.0, 3e-14, 5e-14])
    found = cut(np.concatenate([1.0 + noise, [2.0]]), np.arange(1.0, 5.0), 1)
    assert found == (3, pytest.approx(1.5))
    apart = cut(np.array([1.0, 1.0 + 1e-8, 2.0]), np.arange(1.0, 4.0), 1)
    assert apart.n_points == 1
    assert 1.0 < apart.threshold < 1.0 + 1e-8


@given(
    st.lists(st.floats(0.0, 1e6), min_size=2, max_size=30),
    st.floats(0.01, 0.99),
    st.integers(0, 2**32 - 1),
)
def test_rounding_errors_never_move_a_point_across_a_threshold(values, fraction, seed):
    distance = np.sort(values)
    wanted = points_to_continue(as_fractions([fraction])[0], len(distance))
    found = cut(distance, np.arange(1.0, len(distance) + 1), wanted)
    error = np.random.default_rng(seed).uniform(-1e-10, 1e-10, len(distance)) * distance.max()
    assert int((distance + error <= found.threshold).sum()) == found.n_points


def test_infinite_distances():
    assert cut(np.array([0.0, np.inf, np.inf]), np.arange(1.0, 4.0), 1) == (1, 1.0)
    assert cut(np.array([0.0, np.inf, np.inf]), np.arange(1.0, 4.0), 2) == (3, math.inf)


def test_scores_near_a_decision_boundary_are_ties():
    np.testing.assert_array_equal(
        settled(np.array([-1e-12, 1e-12, 3.0]), near_tie(np.array([3.0]))), [0, 0, 3]
    )
    scores = settled(np.array([[1.0, 1.0 + 1e-12, 0.5]]), 1e-9)
    assert scores.argmax(axis=1) == 0
    np.testing.assert_array_equal(settled(scores, 0.0), scores)


def test_weights_count_as_repeated_points():
    distance = np.array([0.0, 1.0, 2.0])
    weighted = cut(distance, np.cumsum([1.0, 3.0, 2.0]), points_to_continue(Fraction(1, 2), 6))
    repeated = cut(np.repeat(distance, [1, 3, 2]), np.arange(1.0, 7.0), points_to_continue(Fraction(1, 2), 6))
    assert weighted.threshold == repeated.threshold
