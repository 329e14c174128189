"""Scores of classes from pairwise decisions; scikit-learn's formula."""

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function

from surewood.svm.class_scores import class_scores, class_votes


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


def test_confidence_and_votes_are_summed_pair_by_pair():
    decisions = np.random.default_rng(1).normal(size=(9, 66))
    confidence, votes = np.zeros((9, 12)), np.zeros((9, 12))
    for pair, (a, b) in enumerate(zip(*np.triu_indices(12, 1))):
        confidence[:, a] += decisions[:, pair]
        confidence[:, b] -= decisions[:, pair]
        votes[:, a] += decisions[:, pair] > 0
        votes[:, b] += decisions[:, pair] <= 0
    assert (class_votes(decisions, 12) == votes).all()
    squeezed = confidence / (3.0 * (np.abs(confidence) + 1.0))
    assert (class_scores(decisions, np.arange(12), 12) == votes + squeezed).all()  # to the bit
