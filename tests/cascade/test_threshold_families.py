import numpy as np
import pytest

from surewood.bounds import exact_rademacher
from surewood.cascade import (
    StumpFamily,
    ThresholdFamily,
)
from tests.cascade.family_samples import RNG, stump_values


def test_thresholds_and_intervals_on_one_feature_exactly():
    points = RNG.normal(size=(7, 1))
    assert ThresholdFamily().rademacher(points, 2) == pytest.approx(exact_rademacher(stump_values(points)))
    order = np.argsort(points[:, 0])
    below = np.array([np.isin(np.arange(7), order[:k]) for k in range(8)], dtype=float)
    assert ThresholdFamily().split_rademacher(points, 2) == pytest.approx(exact_rademacher(below))
    inside = [np.isin(np.arange(7), order[a:b]) for a in range(8) for b in range(a, 8)]
    expected = exact_rademacher(np.array(inside, dtype=float))
    assert StumpFamily().split_rademacher(points, 2) == pytest.approx(expected)


def test_bounds_by_counting_are_above_the_exact_value():
    points = RNG.normal(size=(9, 2))
    exact = exact_rademacher(stump_values(points))
    assert StumpFamily().rademacher(points, 2) >= exact
    drawn = StumpFamily("monte_carlo", n_draws=3000).rademacher(points, 2)
    assert drawn == pytest.approx(exact, abs=0.03)
