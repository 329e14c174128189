"""The stated theorem, evaluated but never promised."""

import math

import numpy as np
import pytest

from surewood.bounds import (
    Status,
    log_forest_count,
    log_mixture_count,
    log_tree_count,
    margin_gap,
    margin_ratio,
    margin_theorem,
)


def test_written_out_at_one_threshold():
    z, log_count, delta = np.full(10**5, 0.9), math.log(50), 0.1
    result = margin_theorem(z, log_count, delta=delta)
    m, r = z.size, result.threshold
    mu = math.log(m) * (math.log(2) + log_count) / r**2 + math.log(2 / delta)
    d = 2 / (1 - 0.81 + r / 9)
    value = m**-d + 3 * math.sqrt(mu) / m**1.5 + 7 * mu / (3 * m) + margin_ratio(z) * math.sqrt(3 * mu / m)
    assert result.value == pytest.approx(value + (r > 0.9), rel=1e-9)
    assert r == pytest.approx(0.9)


def test_is_heuristic_and_vacuous_for_forests_of_realistic_size():
    log_count = log_mixture_count([0.5, 0.5], [log_forest_count(400, 16, 561, 7352, 6)] * 2)
    assert log_count > 1e6
    rng = np.random.default_rng(0)
    result = margin_theorem(rng.uniform(0.2, 1, 7352), log_count)
    assert result.value == 1.0
    assert result.status is Status.HEURISTIC


def test_negative_mean_margin_gives_one_without_a_warning():
    assert margin_theorem([-0.5, 0.1, -0.2], 1.0).value == 1.0
    assert margin_theorem([0.5], 0.0).value == 1.0


def test_counts():
    assert log_tree_count(0, 10, 100, 3) == pytest.approx(math.log(3))
    deep = log_tree_count(60, 10, 100, 2)
    assert deep == pytest.approx(99 * math.log(4000) + 100 * math.log(2))
    assert log_forest_count(7, 3, 5, 50, 2) == pytest.approx(7 * log_tree_count(3, 5, 50, 2))
    assert log_mixture_count([0.25, 0.75], [math.log(8), math.log(4)]) == pytest.approx(math.log(5))


def test_simplified_gap():
    u = 12.0 * math.log(1000) / (0.25 * 1000)
    assert margin_gap(0.3, 0.5, 1000, 12.0) == pytest.approx(u + 0.3 * math.sqrt(u))
    assert margin_gap(math.inf, 0.5, 1000, 12.0) == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_theorem([1.5], 1.0), r"z must be in \[-1, 1\]"),
        (lambda: margin_theorem([0.5], -3.0), "log_count must be >= -log 2, got -3.0"),
        (lambda: margin_theorem([0.5], 1.0, delta=2), r"delta must be in \(0, 1\), got 2"),
        (lambda: log_mixture_count([0.0], [1.0]), "alphas must have a positive sum"),
        (lambda: margin_gap(0.5, 1.0, 10, 1.0), r"threshold must be in \(0, 1\), got 1.0"),
        (lambda: margin_gap(-0.5, 0.5, 10, 1.0), "ratio must be >= 0, got -0.5"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
