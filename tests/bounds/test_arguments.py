"""Arguments that are refused, and arguments at the ends of their ranges."""

import math

import numpy as np
import pytest

from surewood import bounds as b
from surewood.bounds import _arguments as check
from surewood.bounds.real_leaves import real_leaf_term


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


@pytest.mark.parametrize("vc", [2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, [1, 2**63], [2**63, 1], 1e300])
def test_huge_dimensions_count_every_labeling(vc):
    largest = np.max(b.log_growth(vc, 100))
    assert largest == pytest.approx(100 * math.log(2))


def test_counts_beyond_int64_are_refused_not_wrapped():
    for value in (2**63, 1e300):
        with pytest.raises(ValueError, match=r"correct must be below 2\*\*63"):
            b.composite_theorem([value], [0], [0.1], n_classes=2, n_families=2)


@pytest.mark.parametrize("m", [1, 10**9])
@pytest.mark.parametrize("delta", [0.999, 1e-300, 1e-307])
def test_bounds_are_finite_at_every_size_and_delta(m, delta):
    for theorem in (
        b.composite_theorem([m], [0], [1e-5], n_classes=1000, n_families=10**400),
        b.cascade_theorem([m], [0], [1e-5], n_families=10**400),
    ):
        for bound in (
            theorem.at(rho_inverse=3, delta=delta),
            theorem.simple(delta=delta),
            theorem.uniform(max_rho_inverse=10**9, delta=delta),
        ):
            assert math.isfinite(bound.total)
            assert 0 < bound.value <= 1
    for value in (
        b.pac_bayes_bound(0.1, m, delta=delta, n_models=1000),
        b.pac_bayes_tandem_bound(0.1, m, delta=delta, n_models=1000),
        b.clopper_pearson(0, m, delta=delta, n_models=1000),
        b.clopper_pearson(m // 10, m, delta=delta, n_models=1000),
        b.compression_bound(m, m // 10**4, m // 100, delta=delta, n_models=1000),
    ):
        assert 0 < value <= 1


@pytest.mark.parametrize("rho", [1e-200, 1e200])
def test_ensemble_terms_do_not_overflow(rho):
    assert b.composite_ensemble_term(10**6, 10, rho, 3) > 0
    assert b.cascade_ensemble_term(10**6, 10, rho) > 0


def test_a_hundred_thousand_leaves_and_a_thousand_classes():
    correct, errors = np.full(100_000, 9), np.ones(100_000, dtype=int)
    growth = b.leaf_log_growth(np.arange(100_000) % 10, 180, 10**6, 1000, svm="ovo")
    r = b.composite_complexity(17, growth, 20.0, 10**6, form="half_root")
    theorem = b.composite_theorem(correct, errors, r, n_classes=1000, n_families=180)
    bound = theorem.uniform(max_rho_inverse=2**17)
    assert bound.leaf_terms + bound.training_error == pytest.approx(1.0)
    assert bound.l_term == 0.0


def test_margins_without_a_finite_inverse():
    leaves = [[1e-320, 0.5, 0.5]]
    assert real_leaf_term(leaves[0], 3, 0.0).theta == 0.5
    bounds = [
        b.real_cascade_bound(leaves, [0.0], n_families=2, rho_inverse=2, thresholds=t)
        for t in ("smallest", "any")
    ]
    assert bounds[0].l_term == pytest.approx(1.0)
    assert bounds[1].leaf_terms == pytest.approx(1 / 3)


def test_margin_theorem_with_vanishing_margins():
    assert b.margin_theorem([1e-300, 1e-300, 0.5], 1e6).value == 1.0
    assert b.margin_theorem([1.0], 1.0).value == 1.0


@pytest.mark.parametrize("form", [b.threshold_rademacher, b.interval_rademacher])
def test_closed_forms_approach_their_limits(form):
    near, far = (form(m) * math.sqrt(m) for m in (10**4, 10**6))
    assert near < far < near * 1.02
