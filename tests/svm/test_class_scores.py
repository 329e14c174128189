"""Scores of classes from pairwise decisions: scikit-learn's formula, and agreement with the votes."""

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function

from surewood.svm.class_scores import agree_with, class_scores, class_votes


def test_scores_equal_scikit_learns():
    decisions = np.random.default_rng(0).normal(size=(30, 6))
    expected = _ovr_decision_function(decisions < 0, -decisions, 4)
    np.testing.assert_allclose(class_scores(decisions, np.arange(4), 4), expected)


def test_classes_without_a_machine_come_last():
    scores = class_scores(np.array([[3.0], [-2.0]]), np.array([1, 3]), 5)
    assert scores.argmax(axis=1).tolist() == [1, 3]
    assert (scores[:, [0, 2, 4]] == -1).all()
    constant = class_scores(np.zeros((2, 0)), np.array([2]), 3)
    assert constant.argmax(axis=1).tolist() == [2, 2]


def test_zero_votes_for_the_second_class():
    assert class_votes(np.zeros((1, 3)), 3).tolist() == [[0, 1, 2]]


def test_probabilities_agree_with_the_winners():
    proba = np.array([[0.2, 0.5, 0.3], [0.5, 0.5, 0.0], [0.1, 0.1, 0.8]])
    winners = np.array([2, 1, 2])
    agreed = agree_with(proba, winners)
    assert agreed.argmax(axis=1).tolist() == winners.tolist()
    np.testing.assert_allclose(agreed.sum(axis=1), 1.0)
    np.testing.assert_allclose(agreed[0], [0.2, 0.3, 0.5])
    np.testing.assert_array_equal(proba[2], agreed[2])
