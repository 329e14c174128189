"""Tests and ranks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surewood.bounds import average_ranks, corrected_paired_t_test, mcnemar_test, paired_t_test

A, B = [0.22, 0.25, 0.21, 0.24, 0.23], [0.20, 0.22, 0.20, 0.21, 0.22]


def test_worked_numbers():
    plain = paired_t_test(A, B)
    assert plain.t == pytest.approx(4.4721, abs=1e-4)
    assert plain.p_value == pytest.approx(0.005528, abs=1e-6)
    corrected = corrected_paired_t_test(A, B, n_train=300, n_test=100)
    assert corrected.t == pytest.approx(2.7386, abs=1e-4)
    assert corrected.p_value == pytest.approx(0.02599, abs=1e-5)


@given(st.integers(0, 10**6))
def test_agrees_with_scipy(seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 6))
    reference = stats.ttest_rel(a, b, alternative="greater")
    result = paired_t_test(a, b)
    assert result.t == pytest.approx(reference.statistic)
    assert result.p_value == pytest.approx(reference.pvalue)
    assert paired_t_test(b, a).p_value == pytest.approx(1 - result.p_value)


def test_equal_differences():
    assert paired_t_test([0.3] * 5, [0.2] * 5) == (math.inf, 0.0, 4)
    assert paired_t_test([0.2] * 5, [0.3] * 5) == (-math.inf, 1.0, 4)
    assert paired_t_test(A, A) == (0.0, 0.5, 4)
    assert paired_t_test([0.3, 0.1], [0.2, 0.0]).t == math.inf  # equal up to rounding


def test_exact_mcnemar():
    rng = np.random.default_rng(1)
    y, first, second = rng.integers(0, 3, (3, 200))
    result = mcnemar_test(first, second, y)
    a, b = first == y, second == y
    assert result.differing == (first != second).sum() > (a != b).sum()
    assert result.p_value == pytest.approx(stats.binomtest(int((a & ~b).sum()), int((a != b).sum())).pvalue)
    assert mcnemar_test(first, first, y)[2:] == (0, 1.0)
    words = np.array(["no", "yes", "maybe"])
    assert mcnemar_test(words[first], words[second], words[y]) == result


def test_average_ranks_of_a_published_table():
    table = [
        [80.597, 85.818, 85.904, 86.276, 86.560],
        [59.641, 61.886, 59.161, 63.004, 63.340],
        [96.025, 96.575, 95.850, 97.375, 97.500],
        [68.660, 68.071, 71.214, 71.009, 71.247],
        [94.231, 92.569, 93.112, 94.224, 94.600],
        [78.957, 80.133, 81.874, 82.334, 82.534],
        [91.125, 91.200, 90.450, 91.700, 91.750],
        [98.621, 96.831, 97.730, 98.252, 98.734],
    ]
    assert average_ranks(table).tolist() == [3.75, 4.0, 3.875, 2.375, 1.0]
    assert average_ranks(-np.array(table), higher_is_better=False).tolist() == [3.75, 4.0, 3.875, 2.375, 1.0]


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_ranks_sum_to_their_fixed_total_with_ties(table):
    assert average_ranks(table).sum() == pytest.approx(10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t_test([0.1], [0.2]), "same length >= 2, got 1 and 1"),
        (lambda: paired_t_test([0.1, 0.2], [0.2]), "same length >= 2, got 2 and 1"),
        (
            lambda: corrected_paired_t_test(A, B, n_train=0, n_test=1),
            "n_train must be an integer >= 1, got 0",
        ),
        (lambda: mcnemar_test([1], [1, 0], [1]), "must be of one length"),
        (lambda: average_ranks([[]]), "scores must have at least one row"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
