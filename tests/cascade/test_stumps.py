import itertools

import numpy as np
import pytest

from surewood.cascade.stumps import best_stump, largest_stump_correlation
from tests.cascade.family_samples import RNG, stump_values


def test_the_supremum_over_stumps_is_exact_also_with_ties():
    points = RNG.integers(0, 3, size=(8, 2)).astype(float)
    order = np.argsort(points, axis=0, kind="stable")
    values = stump_values(points)
    for signs in itertools.islice(itertools.product([-1.0, 1.0], repeat=8), 0, 256, 7):
        expected = (values @ np.array(signs)).max()
        assert largest_stump_correlation(points, order, np.array(signs)) == pytest.approx(expected)


def test_the_best_stump_is_the_best():
    points = RNG.integers(0, 5, size=(25, 3)).astype(float)
    codes, weight = RNG.integers(0, 3, 25).astype(np.int32), RNG.random(25)
    feature, threshold, low, high = best_stump(points, codes, weight, 3, range(3))
    error = weight[np.where(points[:, feature] <= threshold, low, high) != codes].sum()
    tried = [
        weight[np.where(points[:, j] <= t, a, b) != codes].sum()
        for j in range(3)
        for t in [-1.0, 0.5, 1.5, 2.5, 3.5]
        for a in range(3)
        for b in range(3)
    ]
    assert error == pytest.approx(min(tried))
    assert best_stump(np.zeros((4, 1)), np.array([0, 1, 1, 1], np.int32), np.ones(4), 2, [0])[2:] == (1, 1)
