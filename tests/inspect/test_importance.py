"""Permutation importances, and SHAP values of our probabilities."""

import numpy as np
import pytest
from sklearn import inspection

from surewood.inspect import permutation_importance


@pytest.mark.parametrize("name", ["tree", "cascade"])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_they_agree_with_scikit_learn(name, scoring, moons, request):
    model = request.getfixturevalue(name)
    options = {"n_repeats": 3, "random_state": 7, "scoring": scoring}
    ours = permutation_importance(model, *moons, **options)
    theirs = inspection.permutation_importance(model, *moons, **options)
    assert np.array_equal(ours.importances, theirs.importances)
    assert ours.importances_mean.max() > 0.05


@pytest.mark.parametrize("name", ["forest", "cascade", "margin_forest"])
def test_shap_explains_predict_proba(name, moons, three_classes, request):
    shap = pytest.importorskip("shap")
    model = request.getfixturevalue(name)
    X, _ = three_classes if name == "margin_forest" else moons
    explainer = shap.PermutationExplainer(model.predict_proba, X[:12], seed=0)
    found = explainer(X[20:23], silent=True)
    assert found.values.shape == (3, X.shape[1], len(model.classes_))
    total = found.base_values + found.values.sum(axis=1)
    assert np.allclose(total, model.predict_proba(X[20:23]), atol=1e-9)
