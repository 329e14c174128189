import numpy as np
import pytest

from surewood.deepforest.tree_noise import FewTrees, brier_loss, calibrated, mean_and_error, mixing_gain


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(0).integers(0, 3, 4000).astype(np.int32)


def trees(y, n_trees, seed, noise=1.0):
    """Vectors of single trees: one common opinion of each row, and noise of each tree's own."""
    rng = np.random.default_rng(7)
    common = np.eye(3)[y] + rng.normal(0.0, 0.8, (len(y), 3))
    rng = np.random.default_rng(seed)
    return [_softmax(common) + noise * rng.normal(0.0, 0.1, (len(y), 3)) for _ in range(n_trees)]


def _softmax(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


def test_the_mean_and_its_error_are_weighted():
    values, weight = np.array([0.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0])
    mean, error = mean_and_error(values, weight)
    assert mean == pytest.approx(0.5)
    assert error == pytest.approx(np.sqrt((2 * 0.5) ** 2 + 2 * 0.5**2) / 4)


def test_halves_tell_what_more_trees_would_gain(y):
    grown = trees(y, 400, seed=1)
    few = FewTrees.of_halves(np.mean(grown[:5], axis=0), np.mean(grown[5:10], axis=0), 5, 5)
    limit = brier_loss(np.mean(grown, axis=0), y).mean()
    assert few.n_trees == 10
    assert brier_loss(few.vectors, y).mean() > limit + 5 * abs(
        (brier_loss(few.vectors, y) - few.variance).mean() - limit
    )


def test_unequal_parts_estimate_the_same_variance(y):
    grown = trees(y, 12, seed=2)
    estimates = [
        FewTrees.of_halves(np.mean(grown[:k], axis=0), np.mean(grown[k:], axis=0), k, 12 - k).variance.mean()
        for k in (2, 6, 9)
    ]
    np.testing.assert_allclose(estimates, 3 * 0.1**2 / 12, rtol=0.1)


def test_trees_needed_follow_tolerance_folds_and_noise(y):
    def needed(tolerance=0.2, n_folds=5, noise=1.0):
        grown = trees(y, 10, seed=3, noise=noise)
        few = FewTrees.of_halves(np.mean(grown[:5], axis=0), np.mean(grown[5:], axis=0), 5, 5)
        return few.trees_needed(y, None, tolerance, n_folds)

    assert needed(tolerance=0.1) == pytest.approx(2 * needed(), abs=1)
    assert needed(n_folds=1) == pytest.approx(5 * needed(), abs=5)
    assert needed(noise=2.0) > 3 * needed()


def test_equal_halves_need_no_more_trees(y):
    vectors = np.mean(trees(y, 3, seed=4), axis=0)
    assert FewTrees.of_halves(vectors, vectors, 5, 5).trees_needed(y, None, 0.2, 5) == 10


@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_calibration_undoes_a_power(y, exponent):
    probability = _softmax(2.0 * np.eye(3)[y] + np.random.default_rng(5).normal(0.0, 1.0, (len(y), 3)))
    raised = probability**exponent
    raised /= raised.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(calibrated(raised, y), calibrated(probability, y), atol=0.02)
    assert brier_loss(calibrated(raised, y), y).mean() <= brier_loss(raised, y).mean()


def test_being_bolder_is_no_gain(y):
    vectors = _softmax(np.eye(3)[y] + np.random.default_rng(6).normal(0.0, 0.8, (len(y), 3)))
    sharp = vectors**3 / (vectors**3).sum(axis=1, keepdims=True)
    gain, noise = mixing_gain(vectors, sharp, y)
    assert gain < 0.05 * noise


def test_knowing_more_is_a_gain(y):
    rng = np.random.default_rng(8)
    first, second = (_softmax(np.eye(3)[y] + rng.normal(0.0, 0.8, (len(y), 3))) for _ in range(2))
    gain, noise = mixing_gain(first, second, y)
    assert gain > noise > 0.0
    assert mixing_gain(second, np.full_like(first, 1.0 / 3.0), y)[0] == pytest.approx(0.0, abs=1e-3)
