"""Clopper-Pearson, kl inverse, sample compression."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surewood.bounds import (
    binary_kl,
    binomial_tail_inverse,
    certificates,
    clopper_pearson,
    compression_bound,
    kl_inverse,
    kl_inverse_lower,
    svm_tree_log_codes,
)
from surewood.bounds.certificates import _log_tail_bisection


def test_worked_numbers():
    assert clopper_pearson(12, 400, delta=0.05) == pytest.approx(0.0481539, abs=1e-7)
    assert compression_bound(1000, 60, 0) == pytest.approx(0.220317, abs=1e-6)
    assert compression_bound(1000, 60, 3, n_models=54) == pytest.approx(0.236096, abs=1e-6)


@given(st.integers(1, 3000), st.data(), st.floats(1e-9, 0.5))
def test_limit_has_exactly_the_stated_tail(n, data, delta):
    k = data.draw(st.integers(0, n - 1))
    p = clopper_pearson(k, n, delta=delta)
    assert stats.binom.cdf(k, n, p) == pytest.approx(delta, rel=1e-6)
    assert k / n <= p <= 1 or delta > 0.5


def test_edges():
    assert clopper_pearson(5, 5) == 1.0
    assert clopper_pearson(0, 50, delta=0.1) == pytest.approx(1 - 0.1 ** (1 / 50))
    assert clopper_pearson(3, 50, delta=0.1, n_models=4) == pytest.approx(clopper_pearson(3, 50, delta=0.025))
    assert binomial_tail_inverse(0, 0, -1.0) == 1.0


def test_truncated_tails_err_upwards_and_hardly(monkeypatch):
    exact = binomial_tail_inverse(3000, 10_000, -400.0)
    monkeypatch.setattr(certificates, "_TAIL_TERMS", 64)
    truncated = binomial_tail_inverse(3000, 10_000, -400.0)
    assert exact <= truncated <= exact * (1 + 1e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 400), st.data(), st.floats(-30, -0.7))
def test_logarithmic_route_agrees_with_the_beta_function(n, data, log_delta):
    k = data.draw(st.integers(1, n - 1))
    assert _log_tail_bisection(k, n, log_delta) == pytest.approx(
        binomial_tail_inverse(k, n, log_delta), rel=1e-9
    )


@given(st.integers(1, 10**4), st.data(), st.floats(-5000, -1))
def test_inversion_is_a_number_for_every_tail(n, data, log_delta):
    k = data.draw(st.integers(0, n))
    assert k / n <= binomial_tail_inverse(k, n, log_delta) <= 1


def test_tails_below_the_floating_range():
    p = binomial_tail_inverse(10, 5000, -3000.0)
    i = np.arange(11)
    tail = np.logaddexp.reduce(
        [math.log(math.comb(5000, int(k))) + k * math.log(p) + (5000 - k) * math.log1p(-p) for k in i]
    )
    assert tail == pytest.approx(-3000.0, rel=1e-9)


@given(st.floats(0, 1), st.floats(0, 5))
def test_kl_inverse_inverts_on_both_sides(q, epsilon):
    upper, lower = kl_inverse(q, epsilon), kl_inverse_lower(q, epsilon)
    assert lower <= q <= upper
    if upper < 1 - 1e-6 and q > 1e-9:  # nearer to the ends one ulp of p moves the divergence visibly
        assert binary_kl(q, upper) == pytest.approx(epsilon, abs=1e-6)
    if lower > 1e-6:
        assert binary_kl(q, lower) == pytest.approx(epsilon, abs=1e-6)
    assert lower == pytest.approx(1 - kl_inverse(1 - q, epsilon), abs=1e-7)


def test_kl_works_on_arrays_and_at_the_ends():
    expected = [1 - math.exp(-0.1), 0.5 + 0.5 * math.sqrt(1 - math.exp(-0.2)), 1.0]
    assert kl_inverse([0.0, 0.5, 1.0], 0.1) == pytest.approx(expected, abs=1e-9)
    assert binary_kl([0.0, 1.0, 0.0], [0.0, 1.0, 1.0]).tolist() == [0.0, 0.0, math.inf]


@given(st.integers(1, 500), st.data(), st.floats(1e-6, 0.5))
def test_compression_is_monotone_and_never_below_the_error_rate(m, data, delta):
    d = data.draw(st.integers(0, m))
    k = data.draw(st.integers(0, m - d))
    value = compression_bound(m, d, k, delta=delta)
    assert 0 <= value <= 1
    assert compression_bound(m, d, k, delta=delta / 2) >= value - 1e-12
    assert compression_bound(m, d, k, delta=delta, n_models=3) >= value - 1e-12
    assert compression_bound(m, d, k, delta=delta, log_codes=5.0) >= value - 1e-12
    if d < m:
        assert value >= k / (m - d)
    else:
        assert value == 1.0


def test_tree_codes_written_out():
    value = svm_tree_log_codes(3, 4, 10, 9, n_compressed=50, points_per_threshold=2, leaf_codes=101)
    expected = 3 * math.log(4 * 20) + 4 * math.log(9 * 101) + 6 * math.log(50)
    assert value == pytest.approx(expected)
    assert svm_tree_log_codes(0, 1, 10, 1, n_compressed=0) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clopper_pearson(5, 4), "errors must be <= n=4, got 5"),
        (lambda: clopper_pearson(0, 0), "n must be an integer >= 1, got 0"),
        (lambda: clopper_pearson(0, 5, delta=1.0), r"delta must be in \(0, 1\), got 1.0"),
        (lambda: clopper_pearson(0, 5, n_models=0), "n_models must be an integer >= 1, got 0"),
        (lambda: clopper_pearson(-1, 5), "errors must be an integer >= 0, got -1"),
        (lambda: binomial_tail_inverse(1, 5, 0.5), "log_delta must be < 0, got 0.5"),
        (lambda: binary_kl(1.5, 0.5), r"q must be in \[0, 1\], got 1.5"),
        (lambda: kl_inverse(0.5, -1.0), "epsilon must be >= 0, got -1"),
        (lambda: compression_bound(10, 11, 0), "n_compressed must be <= m=10, got 11"),
        (lambda: compression_bound(10, 8, 3), "errors must be <= n=2, got 3"),
        (lambda: compression_bound(10, 8, 1, log_codes=-1), "log_codes must be >= 0, got -1"),
        (
            lambda: svm_tree_log_codes(3, 3, 1, 1, n_compressed=9),
            r"n_leaves must be n_questions \+ 1 = 4, got 3",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def exact_kl(q, p):
    """The divergence in sixty decimal digits."""
    with localcontext() as context:
        context.prec = 60
        a, b = Decimal(q), Decimal(p)
        first = a * (a / b).ln() if a else Decimal(0)
        return first + ((1 - a) * ((1 - a) / (1 - b)).ln() if a < 1 else 0)


@pytest.mark.parametrize("q", [0.0, 1e-12, 1e-4, 0.08, 0.5, 0.999, 1 - 1e-12])
@pytest.mark.parametrize("epsilon", [1e-30, 1e-20, 1e-15, 1e-12, 1e-10, 1e-6, 1e-2, 2.0])
def test_kl_inverse_is_never_below_the_exact_one(q, epsilon):
    p = kl_inverse(q, epsilon)
    assert p == 1.0 or exact_kl(q, p) >= Decimal(epsilon)
    assert p - q <= 1.001 * max(np.spacing(q), float(kl_inverse(q, epsilon * (1 + 1e-6)) - q))
    lower = kl_inverse_lower(q, epsilon)
    assert lower == 0.0 or (lower <= q and exact_kl(q, lower) >= Decimal(epsilon))


def test_kl_inverse_of_a_tiny_budget_is_the_square_root_law():
    for epsilon in (1e-10, 1e-14, 1e-18):
        wide = math.sqrt(2 * 0.3 * 0.7 * epsilon)
        assert kl_inverse(0.3, epsilon) - 0.3 == pytest.approx(wide, rel=1e-4)
    assert kl_inverse(0.3, 0.0) == 0.3


PROBABILITY = st.one_of(st.just(0.0), st.floats(1e-20, 1))


@given(PROBABILITY, PROBABILITY)
def test_divergence_is_exact_to_the_last_digits(q, p):
    value = binary_kl(q, p)
    if (p == 0 and q > 0) or (p == 1 and q < 1):
        assert value == math.inf
    elif 0 < p < 1:
        assert value == pytest.approx(float(exact_kl(q, p)), rel=1e-13, abs=1e-300)
