"""Rates per class and per group, two models, rows needed: against the definition of the exact limit."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from surewood import bounds
from surewood.bounds import (
    betting_upper_limit,
    calibration_limit,
    clopper_pearson,
    error_difference,
    mcc_limit,
    mcnemar_test,
    rows_needed,
)


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
    assert bounds.clopper_pearson(k, n, delta=delta) == pytest.approx(upper(k, n, delta), abs=1e-9)
    assert bounds.clopper_pearson_lower(k, n, delta=delta) == pytest.approx(lower(k, n, delta), abs=1e-9)


def test_no_row_says_nothing():
    assert bounds.clopper_pearson(0, 0) == 1.0
    assert bounds.clopper_pearson_lower(0, 0) == 0.0


def test_mcc_is_the_coefficient_at_four_lower_limits():
    assert bounds.mcc_limit(0, 0, 0, 0) == -1.0
    r, s, p, q = (lower(k, n, 0.01) for k, n in ((45, 50), (90, 100), (45, 55), (90, 95)))
    expected = np.sqrt(r * s * p * q) - np.sqrt((1 - r) * (1 - s) * (1 - p) * (1 - q))
    assert bounds.mcc_limit(45, 5, 10, 90, delta=0.04) == pytest.approx(expected)
    # with many rows the limit comes near the coefficient itself
    true = (45 * 90 - 5 * 10) / np.sqrt(50 * 100 * 55 * 95)
    assert bounds.mcc_limit(45_000_000, 5_000_000, 10_000_000, 90_000_000) == pytest.approx(true, abs=1e-3)


def test_models_compared_divide_delta_too():
    lower_limit = bounds.clopper_pearson_lower
    assert lower_limit(9, 10, delta=0.1, n_models=5) == lower_limit(9, 10, delta=0.02)
    assert bounds.clopper_pearson(1, 10, delta=0.1, n_models=5) == bounds.clopper_pearson(1, 10, delta=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.clopper_pearson_lower(3, 2), "successes must be <= n=2, got 3"),
        (lambda: bounds.clopper_pearson(3, 2), "errors must be <= n=2, got 3"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_p_value_is_that_of_mcnemar():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    a, b = (np.where(rng.random(300) < rate, 1 - y, y) for rate in (0.2, 0.1))
    first, second = int(((a != y) & (b == y)).sum()), int(((a == y) & (b != y)).sum())
    result = error_difference(first, second, 300)
    assert result.p_value == pytest.approx(mcnemar_test(a, b, y).p_value)
    assert result.difference == pytest.approx((a != y).mean() - (b != y).mean())
    assert result.lower <= result.difference <= result.upper


def test_limits_mirror_when_the_models_change_places():
    one, other = error_difference(17, 5, 120), error_difference(5, 17, 120)
    assert (one.lower, one.upper) == pytest.approx((-other.upper, -other.lower))


def test_each_part_gets_a_quarter_of_delta():
    share = 0.05 / 4
    most, high = clopper_pearson(22, 120, delta=share), clopper_pearson(17, 22, delta=share)
    assert error_difference(17, 5, 120).upper == pytest.approx(most * (2 * high - 1))


def test_limits_hold_together_as_often_as_they_say():
    rng = np.random.default_rng(1)
    p = [0.06, 0.02, 0.92]  # only first wrong, only second wrong, the rest
    draws = rng.multinomial(150, p, size=600)
    results = [error_difference(a, b, 150, delta=0.2) for a, b, _ in draws]
    failures = sum(not r.lower <= 0.04 <= r.upper for r in results)
    assert failures <= stats.binom.isf(1e-4, 600, 0.2)


def test_no_disagreement_and_bad_counts():
    result = error_difference(0, 0, 50)
    assert result.p_value == 1.0
    assert result.lower == pytest.approx(-result.upper)
    with pytest.raises(ValueError, match="must be at most n=5, got 6"):
        error_difference(3, 3, 5)


CEILING = math.log(1000)


def slow(rate, goal, delta):
    n = 1
    while clopper_pearson(math.floor(rate * n), n, delta=delta) > goal:
        n += 1
    return n


CASES = [
    (0.03, 0.05),
    (0.0, 0.01),
    (0.2, 0.25),
    (0.1, 0.35),
    (1 / 3, 0.5),
    (0.07, 0.09),
    (0.45, 0.55),
    (0.01, 0.9),
]


@pytest.mark.parametrize(("rate", "goal"), CASES)
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_is_the_smallest_number(rate, goal, delta):
    assert rows_needed(rate, goal, delta=delta) == slow(rate, goal, delta)


def test_parts_and_several_models_need_more_rows():
    assert rows_needed(0.03, 0.05, fraction=0.1) == 10 * rows_needed(0.03, 0.05)
    assert rows_needed(0.03, 0.05, n_models=5) == rows_needed(0.03, 0.05, delta=0.01)


@pytest.mark.parametrize("quantity", ["accuracy", "recall", "specificity", "precision", "npv"])
def test_rates_from_below_are_mirrored(quantity):
    assert rows_needed(0.95, 0.9, quantity=quantity) == rows_needed(1 - 0.95, 1 - 0.9)


def spread(mean, n):
    """Zeros and ones with this mean, evenly spread."""
    return [math.floor(mean * (i + 1) + 1e-9) - math.floor(mean * i + 1e-9) for i in range(n)]


BY_TRIAL = {
    "brier": (0.3, 0.4, lambda n: 2 * betting_upper_limit(spread(0.15, n)) <= 0.4),
    "log_loss": (0.6, 1.0, lambda n: betting_upper_limit(spread(0.6 / CEILING, n)) * CEILING <= 1.0),
    "cost": (0.1, 0.2, lambda n: betting_upper_limit(spread(0.1, n)) <= 0.2),
    "calibration": (
        0.02,
        0.1,
        lambda n: calibration_limit([0.52] * n, [i % 2 == 1 for i in range(n)]) <= 0.1,
    ),
    "auc": (0.9, 0.8, lambda n: betting_upper_limit(spread(0.1, n // 2)) <= 0.2),
    # recall and specificity of 0.8 with equal classes
    "mcc": (
        0.6,
        0.4,
        lambda n: mcc_limit(*(math.floor(0.8 * k) if hit else k - math.floor(0.8 * k) for k, hit in (
            (round(n / 2), True), (round(n / 2), False), (n - round(n / 2), False), (n - round(n / 2), True)
        ))) >= 0.4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("quantity", BY_TRIAL)
def test_other_quantities_need_as_many_rows_as_their_limit_takes(quantity):
    expected, limit, suffices = BY_TRIAL[quantity]
    n = rows_needed(expected, limit, quantity=quantity)
    assert suffices(n)
    assert not suffices(math.floor(0.95 * n))


def test_rare_classes_need_more_rows():
    balanced = rows_needed(0.9, 0.8, quantity="auc", fraction=0.5)
    assert rows_needed(0.9, 0.8, quantity="auc", fraction=0.05) == 10 * balanced
    assert rows_needed(0.9, 0.8, quantity="auc", fraction=0.95) == 10 * balanced
    assert rows_needed(0.6, 0.4, quantity="mcc", fraction=0.05) > 2 * rows_needed(0.6, 0.4, quantity="mcc")
    assert rows_needed(1, 2, quantity="cost", ceiling=10) == rows_needed(0.1, 0.2, quantity="cost")


def test_close_limits_need_many_rows_and_little_time():
    n = rows_needed(0.1, 0.1005)
    assert clopper_pearson(math.floor(0.1 * n), n) <= 0.1005
    assert n > 900_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rows_needed(0.1, 0.1), "limit must be above expected=0.1, got 0.1"),
        (lambda: rows_needed(0.9, 0.95, quantity="recall"), "limit must be below expected=0.9, got 0.95"),
        (lambda: rows_needed(0.1, 0.2, quantity="sharpness"), "quantity must be one of accuracy, auc"),
        (lambda: rows_needed(0.1, 0.2, fraction=0), "fraction must be > 0, got 0"),
    ],
)
def test_rows_needed_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rates_that_no_number_of_rows_can_tell_apart_are_refused():
    with pytest.raises(ValueError, match="limit must differ more from expected"):
        rows_needed(0.5, 0.5 + 1e-12)
