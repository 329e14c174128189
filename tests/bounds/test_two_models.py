"""The difference of two errors on one holdout."""

import numpy as np
import pytest
from scipy import stats

from surewood.bounds import clopper_pearson, error_difference, mcnemar_test


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
