"""Votes counted, leaves calibrated, plain trees mixed in."""

import numpy as np
import pytest

from surewood.composite.votes import LeafReliability, blend, vote_fractions
from surewood.svm import vote_counts


def test_masked_votes():
    labels = np.array([[0, 1, 1], [-1, 2, -1], [-1, -1, -1]], dtype=np.int32)
    assert vote_counts(labels, 3).tolist() == [[1, 2, 0], [0, 0, 1], [0, 0, 0]]
    fractions = vote_fractions(labels, 3)
    assert fractions[0].tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert np.isnan(fractions[2]).all()


def test_a_blend_leaves_unknown_rows_to_the_other_side():
    a = np.array([[1.0, 0.0], [np.nan, np.nan]])
    b = np.array([[0.0, 1.0], [0.3, 0.7]])
    assert blend(a, b, 0.25).tolist() == [[0.75, 0.25], [0.3, 0.7]]


def test_the_accuracy_of_a_leaf_is_shrunk_to_the_mean():
    leaf = np.array([[0], [0], [1], [1]])
    labels = np.array([[0], [0], [1], [1]])
    y = np.array([0, 0, 0, 1])
    measured = LeafReliability.measure(leaf, labels, y, None, n_leaves=2, n_classes=2)
    doubled = LeafReliability.measure(leaf, labels, y, np.full(4, 2.0), n_leaves=2, n_classes=2)
    assert doubled.accuracy[0] > measured.accuracy[0]  # twice the rows, less shrinkage
    mean = 4 / 6
    assert measured.accuracy.tolist() == pytest.approx([(2 + 10 * mean) / 12, (1 + 10 * mean) / 12])
    assert measured.error_classes.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    scores = measured.mean_scores(leaf, labels)
    assert scores.sum(axis=1) == pytest.approx(1.0)
    assert scores[0, 0] == pytest.approx(measured.accuracy[0])
