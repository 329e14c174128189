"""Families of the generic algorithm: their members, and their complexities against exact values."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from surewood.cascade import (
    ConstantFamily,
    EstimatorFamily,
    LinearFamily,
    StumpFamily,
    ThresholdFamily,
    TreeFamily,
)
from surewood.families import NAMED, as_families, best_stump
from tests.bounds.rademacher_reference import exact_rademacher

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
CODES = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=60) > 0).astype(np.int32)
THREE = np.digitize(X[:, 0], [-0.5, 0.5]).astype(np.int32)


def stump_values(points):
    """Value vectors of all stumps with values ±1, constants included."""
    rows = {tuple([1.0] * len(points)), tuple([-1.0] * len(points))}
    for column in points.T:
        for t in column:
            side = np.where(column <= t, 1.0, -1.0)
            rows |= {tuple(side), tuple(-side)}
    return np.array(sorted(rows))


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(("codes", "n_classes"), [(CODES, 2), (THREE, 3)])
def test_every_family_fits_scores_orders_and_knows_its_complexity(name, codes, n_classes):
    family = as_families("leaves", name)[0]
    member = family.fit(X, codes, np.ones(60), n_classes)
    scores = member.scores(X)
    assert scores.shape == (60, n_classes)
    accuracy = (scores.argmax(axis=1) == codes).mean()
    assert accuracy >= np.bincount(codes).max() / 60
    assert 0 <= family.rademacher(X, n_classes) <= math.sqrt(2 * math.log(2)) + 1e-12
    if family.can_order:
        assert member.order(X).shape == (60,)
        assert 0 <= family.split_rademacher(X, n_classes) <= math.sqrt(math.log(2) / 2) + 1e-12


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: ThresholdFamily(9).fit(X, CODES, np.ones(60), 2), r"feature=9\): the sample has 3 columns"),
        (lambda: LinearFamily("square").fit(X, CODES, np.ones(60), 2), "loss must be 'logistic' or 'hinge'"),
        (
            lambda: EstimatorFamily(LogisticRegression(), complexity=-1.0).rademacher(X, 2),
            r"the complexity of LogisticRegression must be at least 0, got -1\.0",
        ),
    ],
)
def test_bad_families_are_named(refused, message):
    with pytest.raises(ValueError, match=message):
        refused()


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


def test_linear_svms_are_linear():
    member = LinearFamily("hinge", C=1.0).fit(X, CODES, np.ones(60), 2)
    values = member.scores(np.array([[0.0] * 3, [1.0] * 3, [2.0] * 3]))[:, 1]
    assert values[2] - values[1] == pytest.approx(values[1] - values[0], abs=1e-4)


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


def test_trees_as_splits_count_leaves_that_go_on():
    assert TreeFamily(1).split_log_growth(50, 3, 5) == pytest.approx(math.log(150) + 2 * math.log(2))


def test_a_tree_as_arrays_predicts_as_the_tree():
    weight = RNG.random(60)
    peer = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, THREE, sample_weight=weight)
    member = TreeFamily(3).fit(X, THREE, weight, 4)
    new = RNG.normal(size=(200, 3))
    np.testing.assert_allclose(member.scores(new)[:, :3], peer.predict_proba(new))
    np.testing.assert_array_equal(member.scores(new).argmax(axis=1), peer.predict(new))
