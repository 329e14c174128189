"""Rates per class and per group against the definition of the exact limit."""

import numpy as np
import pytest
from scipy import optimize, stats

from surewood import bounds


def upper(k, n, delta):
    """sup{p : P(Bin(n, p) <= k) >= delta} by root finding."""
    if k == n:
        return 1.0
    return optimize.brentq(lambda p: stats.binom.cdf(k, n, p) - delta, k / n, 1.0, xtol=1e-13)


def lower(k, n, delta):
    return 1.0 - upper(n - k, n, delta)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (0, 40), (7, 40), (39, 40), (40, 40), (3, 2000)])
@pytest.mark.parametrize("delta", [0.2, 0.01])
def test_each_rate_is_the_exact_binomial_limit(k, n, delta):
    assert bounds.error_limit(k, n, delta=delta) == pytest.approx(upper(k, n, delta), abs=1e-9)
    assert bounds.clopper_pearson_lower(k, n, delta=delta) == pytest.approx(lower(k, n, delta), abs=1e-9)


def test_no_row_says_nothing():
    assert bounds.error_limit(0, 0) == 1.0
    assert bounds.clopper_pearson_lower(0, 0) == bounds.f1_limit(0, 0, 0) == 0.0


def test_combined_quantities_divide_delta():
    p, r = lower(45, 60, 0.02), lower(45, 50, 0.02)
    assert bounds.f1_limit(45, 50, 60, delta=0.04) == pytest.approx(2 * p * r / (p + r))
    recalls = [lower(k, n, 0.01) for k, n in ((9, 10), (80, 100), (30, 40))]
    assert bounds.balanced_accuracy_limit([9, 80, 30], [10, 100, 40], delta=0.03) == pytest.approx(
        np.mean(recalls)
    )
    groups = bounds.worst_group_limit([1, 0, 5], [50, 10, 60], delta=0.06)
    assert groups.limits == pytest.approx([upper(1, 50, 0.02), upper(0, 10, 0.02), upper(5, 60, 0.02)])
    assert (groups.worst, groups.value) == (1, groups.limits[1])


def test_models_compared_divide_delta_too():
    lower_limit = bounds.clopper_pearson_lower
    assert lower_limit(9, 10, delta=0.1, n_models=5) == lower_limit(9, 10, delta=0.02)
    assert bounds.error_limit(1, 10, delta=0.1, n_models=5) == bounds.error_limit(1, 10, delta=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.clopper_pearson_lower(3, 2), "successes must be <= n=2, got 3"),
        (lambda: bounds.error_limit(3, 2), "errors must be <= n=2, got 3"),
        (
            lambda: bounds.worst_group_limit([1], [2, 3]),
            "errors and sizes must have the same length",
        ),
        (lambda: bounds.balanced_accuracy_limit([], []), "same length >= 1, got 0 and 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
