"""Decisions of smallest expected cost."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import surewood
from surewood.certify import Claim, CostClassifier, certify


@pytest.fixture(scope="module")
def data():
    return make_classification(1200, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    return LogisticRegression(max_iter=1000).fit(X[:600], y[:600])


COST = np.array([[0, 1, 1], [1, 0, 2], [9, 9, 0]])


def test_the_decision_minimises_expected_cost(model, data):
    X, y = data
    p = model.predict_proba(X)
    expected = [min(range(3), key=lambda k: sum(row[c] * COST[c, k] for c in range(3))) for row in p]
    assert CostClassifier(model, COST).predict(X).tolist() == expected
    careless = COST[y[600:], model.predict(X[600:])].mean()
    assert COST[y[600:], CostClassifier(model, COST).predict(X[600:])].mean() < careless
    assert (CostClassifier(model, 1 - np.eye(3)).predict(X) == model.predict(X)).all()


def test_its_cost_can_be_certified_and_it_can_be_saved(model, data, tmp_path):
    X, y = data
    careful = CostClassifier(model, COST)
    (entry,) = certify(careful, X[600:], y[600:], X_train=X[:600], claims=Claim("cost", cost=COST)).guarantees
    assert entry.decomposition["observed"] < entry.value < 9
    again = surewood.load(surewood.save(careful, tmp_path / "m.surewood"))
    assert (again.predict(X) == careful.predict(X)).all()


def test_a_matrix_of_the_wrong_shape_is_refused(model):
    with pytest.raises(ValueError, match=r"cost must be a finite matrix of shape \(3, 3\)"):
        CostClassifier(model, [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="cost must be"):
        CostClassifier(model, np.nan * COST)


def test_costs_may_be_given_by_labels():
    X = np.linspace(0, 1, 40)[:, None]
    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0.5, "good", "bad"))
    by_labels = CostClassifier(model, {("bad", "good"): 5})
    assert by_labels.cost.tolist() == [[0, 5], [1, 0]]
    assert by_labels.predict(X).tolist() == CostClassifier(model, [[0, 5], [1, 0]]).predict(X).tolist()
    with pytest.raises(ValueError, match=r"the key \('bad', 'fine'\), which is no pair"):
        CostClassifier(model, {("bad", "fine"): 5})
