"""Probabilities from pairs: a logistic curve through zero for two classes, calibrated on held-out points."""

import numpy as np

from surewood.svm.coupling import PairCoupling, own_margins


def test_two_classes_are_one_logistic_curve():
    decisions = np.linspace(-3, 3, 13)[:, None]
    proba = PairCoupling(slope=1.5, sharpness=0.8).probabilities(decisions, np.array([0, 1]), 2)
    np.testing.assert_allclose(proba[:, 0], 1 / (1 + np.exp(-1.2 * decisions[:, 0])))


def test_the_slope_of_simulated_decisions_is_found():
    rng = np.random.default_rng(0)
    decisions = rng.normal(size=(4000, 1))
    codes = (rng.random(4000) > 1 / (1 + np.exp(-2.0 * decisions[:, 0]))).astype(int)
    held_out = [(np.arange(4000), np.array([0, 1]), decisions)]
    coupling = PairCoupling.fit(held_out, codes, np.ones(4000), 2)
    assert abs(coupling.slope * coupling.sharpness - 2.0) < 0.25


def test_margins_are_those_of_the_own_class():
    decisions = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    expected = [[1, 2], [-1, 3], [-2, -3]]
    np.testing.assert_array_equal(own_margins(decisions, np.array([0, 1, 2])), expected)


def test_nothing_to_learn_from_leaves_the_start():
    assert PairCoupling.fit([], np.array([0]), np.ones(1), 2) == PairCoupling()
    one = PairCoupling().probabilities(np.zeros((2, 0)), np.array([1]), 3)
    assert one.argmax(axis=1).tolist() == [1, 1]
    np.testing.assert_allclose(one.sum(axis=1), 1.0)
