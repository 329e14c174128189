"""Permutation importances, and SHAP values of our probabilities."""

import numpy as np
import pytest
from sklearn import inspection
from sklearn.metrics import log_loss

from surewood import BinnedForestClassifier
from surewood.inspect import permutation_importances


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


@pytest.fixture(scope="module")
def held_out():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(900, 3)), rng.integers(0, 2, 900)])
    y = X[:, 0] + 0.3 * X[:, 1] > 0
    model = BinnedForestClassifier(40, min_samples_leaf=5, random_state=0).fit(X[:500], y[:500])
    return model, X[500:], y[500:]


def test_intervals_tell_columns_that_matter_from_idle_ones(held_out):
    model, X, y = held_out
    found = permutation_importances(model, X, y)
    assert found.columns == ["x0", "x1", "x2", "x3"]
    assert found.low[0] > found.high[1] > found.low[1] > 0
    assert (found.high[2:] < 0.05 * found.mean[0]).all()
    assert found.baseline == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert found.frame()["column"].tolist()[:2] == ["x0", "x1"]
    assert "log_loss" in repr(found)


@pytest.mark.parametrize("metric", ["error", "log_loss"])
def test_they_estimate_what_scikit_learn_estimates(held_out, metric):
    model, X, y = held_out
    ours = permutation_importances(model, X, y, 30, metric).mean
    scoring = {"error": "accuracy", "log_loss": "neg_log_loss"}[metric]
    theirs = inspection.permutation_importance(model, X, y, scoring=scoring, n_repeats=30, random_state=1)
    error = np.hypot(theirs.importances_std, theirs.importances_std) / np.sqrt(30)
    assert (np.abs(ours - theirs.importances_mean) < 4 * error + 1e-12).all()


def test_the_interval_covers_the_importance_on_many_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(41_000, 2))
    y = X[:, 0] + rng.normal(size=len(X)) > 0
    model = BinnedForestClassifier(20, max_depth=3, random_state=0).fit(X[:1000], y[:1000])
    truth = permutation_importances(model, X[21_000:], y[21_000:], 5).mean
    inside = []
    for part in range(100):
        rows = slice(1000 + 200 * part, 1200 + 200 * part)
        found = permutation_importances(model, X[rows], y[rows], 5, random_state=part)
        inside.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(inside, axis=0).min() >= 0.87


def test_columns_of_a_group_are_shuffled_together(held_out):
    model, X, y = held_out
    found = permutation_importances(model, X, y, groups={"both": ["x0", "x1"]})
    assert found.columns == ["both", "x2", "x3"]
    assert found.mean[0] > permutation_importances(model, X, y).mean[0]


def test_bad_input_is_one_sentence(held_out):
    model, X, y = held_out
    with pytest.raises(ValueError, match=r"^metric must be one of log_loss, brier, error, got 'auc'\.$"):
        permutation_importances(model, X, y, metric="auc")
    with pytest.raises(ValueError, match=r"^n_repeats must be >= 1, got 0\.$"):
        permutation_importances(model, X, y, 0)
    with pytest.raises(ValueError, match="y has labels that the model was not trained on, such as 7"):
        permutation_importances(model, X, np.full(len(X), 7))
    with pytest.raises(ValueError, match=r"^X has 400 rows and y has 3 labels\.$"):
        permutation_importances(model, X, y[:3])
    with pytest.raises(ValueError, match=r"^confidence must lie between 0 and 1, got 1\.$"):
        permutation_importances(model, X, y, confidence=1)
