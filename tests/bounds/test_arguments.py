"""Checks of arguments: one sentence that names the argument and its condition."""

import numpy as np
import pytest

from surewood.bounds import _arguments as check


def test_whole_numbers_are_counts_in_any_type():
    assert check.count(np.float64(3.0), "n", 1) == 3
    for wrong in (True, 2.5, "3", 0):
        with pytest.raises(ValueError, match="n must be an integer >= 1, got"):
            check.count(wrong, "n", 1)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, float("nan"), "0.5"])
def test_a_failure_probability_is_strictly_between_0_and_1(wrong):
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\), got"):
        check.confidence(wrong)


@pytest.mark.parametrize("wrong", [0, -1, float("inf"), float("nan")])
def test_positive_numbers_are_finite(wrong):
    with pytest.raises(ValueError, match="rho must be a finite number > 0"):
        check.positive(wrong, "rho")


def test_options_are_listed():
    with pytest.raises(ValueError, match="mode must be one of a, b, got 'c'"):
        check.choice("c", "mode", {"b", "a"})


def test_arrays_have_their_range_and_dimension():
    assert check.unit([0, 1], "p").dtype == np.float64
    with pytest.raises(ValueError, match=r"p must be in \[0, 1\], got 1.5"):
        check.unit([0.5, 1.5], "p")
    with pytest.raises(ValueError, match="p must be finite"):
        check.unit([np.nan], "p")
    with pytest.raises(ValueError, match=r"p must have 1 dimension\(s\), got 2"):
        check.unit([[0.5]], "p", ndim=1)


@pytest.mark.parametrize("wrong", [[1.5], [-1], [True], ["a"], [2.0**63], [[1, 2]]])
def test_counts_are_integers_that_fit(wrong):
    with pytest.raises(ValueError, match="m must"):
        check.counts(wrong, "m")


def test_weights_sum_to_one_even_if_their_sum_overflows():
    np.testing.assert_allclose(check.weights([1e308, 1e308, 0], 3, "w"), [0.5, 0.5, 0])
    np.testing.assert_allclose(check.weights(None, 4, "w"), 0.25)
    for wrong in ([0, 0], [1], [1, -1]):
        with pytest.raises(ValueError, match="w must"):
            check.weights(wrong, 2, "w")


def test_the_inverse_of_rho_is_exact_at_integers():
    """theory.md §2.2: a quotient just below 49 in floating point is meant to be 49."""
    assert check.inverse_rho(49 * (1 - 2**-50))[1] == 49
    assert check.inverse_rho(7) == (7.0, 7)
    assert check.inverse_of(0.25) == 4.0
    with pytest.raises(ValueError, match="1/rho to be finite"):
        check.inverse_of(1e-320)
