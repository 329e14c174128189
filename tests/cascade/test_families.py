import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier

from surewood.bounds import exact_rademacher
from surewood.cascade import (
    ConstantFamily,
    EstimatorFamily,
)
from tests.cascade.family_samples import CODES, THREE, X


@pytest.mark.parametrize("m", [1, 2, 5, 8])
def test_constants_exactly(m):
    points = np.zeros((m, 2))
    expected = exact_rademacher(np.array([np.ones(m), -np.ones(m)]))
    assert ConstantFamily().rademacher(points, 2) == pytest.approx(expected)


def test_any_classifier_with_a_complexity_of_the_users():
    family = EstimatorFamily(LogisticRegression(), complexity=0.2, split_complexity=lambda X, c: 0.1 * c)
    assert family.can_order
    assert family.rademacher(X, 2) == 0.2
    assert family.split_rademacher(X, 2) == pytest.approx(0.2)
    member = family.fit(X, CODES, np.ones(60), 2)
    assert (member.scores(X).argmax(axis=1) == CODES).mean() > 0.8
    neighbours = EstimatorFamily(KNeighborsClassifier(1)).fit(X, CODES, np.ones(60), 2)
    assert (neighbours.scores(X).argmax(axis=1) == CODES).all()
    perceptron = EstimatorFamily(Perceptron()).fit(X, THREE, np.ones(60), 3)
    assert perceptron.scores(X).shape == (60, 3)
    with pytest.raises(
        ValueError, match=r"the complexity of LogisticRegression must be at least 0, got -1\.0"
    ):
        EstimatorFamily(LogisticRegression(), complexity=-1.0).rademacher(X, 2)
