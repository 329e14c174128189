import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surewood.cascade.questions import as_fractions, cut, points_to_continue


@given(i=st.integers(1, 10), n=st.integers(1, 5000))
def test_rounding_is_the_integer_rule_of_the_theory(i, n):
    assert points_to_continue(as_fractions([i / 10])[0], n) == (2 * i * n + 10) // 20


def test_fractional_totals_are_not_rounded():
    assert points_to_continue(Fraction(1, 2), 2.5) == 1.25


@pytest.mark.parametrize("bad", [[0.0], [-0.1], [1.1], [float("nan")], [True], ["half"], "0.5", 0.5])
def test_shares_outside_the_unit_interval_are_refused(bad):
    with pytest.raises(ValueError, match=r"fractions must"):
        as_fractions(bad)


def test_a_share_of_one_is_allowed_and_repeats_are_dropped():
    assert as_fractions([1, 0.5, 0.5]) == (Fraction(1, 2), Fraction(1))


def test_ties_go_on_together_and_the_threshold_is_a_midpoint():
    distance = np.array([0.0, 1.0, 1.0, 1.0, 4.0])
    found = cut(distance, np.arange(1.0, 6.0), 2)
    assert found == (4, 2.5)
    assert cut(distance, np.arange(1.0, 6.0), 5) == (5, math.inf)
    assert cut(np.full(3, 2.0), np.arange(1.0, 4.0), 1) == (3, math.inf)
    assert cut(distance, np.arange(1.0, 6.0), 0).count == 0


def test_the_midpoint_of_neighbouring_floats_keeps_the_next_point_back():
    low = 1.0
    high = np.nextafter(low, 2.0)
    found = cut(np.array([low, high]), np.array([1.0, 2.0]), 1)
    assert found.count == 1
    assert low <= found.threshold < high


def test_weights_count_as_repeated_points():
    distance = np.array([0.0, 1.0, 2.0])
    weighted = cut(distance, np.cumsum([1.0, 3.0, 2.0]), points_to_continue(Fraction(1, 2), 6))
    repeated = cut(np.repeat(distance, [1, 3, 2]), np.arange(1.0, 7.0), points_to_continue(Fraction(1, 2), 6))
    assert weighted.threshold == repeated.threshold
