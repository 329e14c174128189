import numpy as np

from surewood.cascade.leaf_calibration import LeafCalibrator


def test_leaves_of_different_reliability_get_different_probabilities():
    rng = np.random.default_rng(0)
    codes, leaf = rng.integers(0, 2, 400), np.repeat([0, 1], 200)
    sure = np.where(codes == 1, 1.0, -1.0)
    luck = np.where(rng.random(400) < 0.6, sure, -sure)
    decision = np.where(leaf == 0, sure, luck)
    scores = np.column_stack([-decision, decision]) / 2
    calibrator = LeafCalibrator().fit(scores, codes, np.ones(400), leaf)
    proba = calibrator.transform(scores, leaf)
    np.testing.assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))
    assert proba[leaf == 0].max(axis=1).mean() > 0.9
    assert 0.5 < proba[leaf == 1].max(axis=1).mean() < 0.75


def test_leaves_with_few_points_share_a_calibrator():
    rng = np.random.default_rng(0)
    scores, leaf = rng.normal(size=(50, 3)), np.r_[np.zeros(45, dtype=int), np.ones(5, dtype=int)]
    calibrator = LeafCalibrator().fit(scores, rng.integers(0, 3, 50), np.ones(50), leaf)
    assert list(calibrator.by_leaf_) == [0]
    new = calibrator.transform(scores, np.full(50, 7))
    np.testing.assert_allclose(new.sum(axis=1), 1.0)
