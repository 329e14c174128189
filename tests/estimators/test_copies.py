"""Which contents occur more than once."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from surewood.estimators.copies import copied_contents
from surewood.tables import begin_fit

X = np.arange(8.0).reshape(8, 1)
Y = np.array([0, 1] * 4)


def copied_values(X, y, weight=None, class_weight=None):
    inputs = begin_fit(DummyClassifier(), X, y, weight, class_weight=class_weight)
    return sorted(inputs.table.column(0)[copied_contents(inputs)].tolist())


def test_rows_that_came_twice_and_weight_two_are_the_same():
    twice = np.r_[X, X[:2]], np.r_[Y, Y[:2]]
    assert copied_values(*twice) == [0.0, 1.0]
    assert copied_values(X, Y, np.r_[2.0, 2.0, np.ones(6)]) == [0.0, 1.0]
    assert copied_values(*twice, class_weight="balanced") == [0.0, 1.0]


def test_a_content_with_two_labels_occurs_twice():
    assert copied_values(np.r_[X, X[:1]], np.r_[Y, 1 - Y[:1]]) == [0.0, 0.0]


@pytest.mark.parametrize(
    "weight", [None, np.full(8, 3.0), np.linspace(0.3, 1.7, 8), np.arange(2.0, 10.0)], ids=str
)
def test_scales_and_importances_are_no_copies(weight):
    assert copied_values(X, Y, weight) == []
