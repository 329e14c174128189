"""Importances of every public classifier: by shuffling for all, by impurity only where trees split."""

import numpy as np
import pytest

from surewood.inspect import permutation_importances
from tests.contract.estimators import classifiers, deterministic


@pytest.mark.parametrize("cls", classifiers(), ids=lambda c: c.__name__)
def test_the_column_that_matters_is_found_by_shuffling(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = X[:, 1] > 0
    model = deterministic(cls).fit(X[:120], y[:120])
    found = permutation_importances(model, X[120:], y[120:], 2)
    assert found.mean.argmax() == 1
    assert found.low[1] > 0
    assert np.isfinite([found.low, found.mean, found.high]).all()


@pytest.mark.parametrize("cls", classifiers(), ids=lambda c: c.__name__)
def test_impurity_importances_are_0_where_no_tree_splits(cls):
    X, y = np.ones((60, 3)), np.arange(60) % 2
    model = deterministic(cls).fit(X, y)
    if not hasattr(model, "feature_importances_"):
        pytest.skip("no trees")
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    assert not permutation_importances(model, X, y, 1).mean.any()


@pytest.mark.parametrize("name", ["CompositeTreeClassifier", "RandomCompositeForestClassifier"])
def test_composite_trees_without_a_split_have_none(name):
    (cls,) = (one for one in classifiers() if one.__name__ == name)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    options = {"max_depth": 0, **({} if name == "CompositeTreeClassifier" else {"plain_weight": 0.0})}
    model = deterministic(cls, **options).fit(X, X[:, 0] > 0)
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    assert permutation_importances(model, X, X[:, 0] > 0).mean[0] > 0
