import re

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from surewood.deepforest import CascadeForestClassifier


def small(**parameters):
    return CascadeForestClassifier(**{"n_estimators": 5, "max_layers": 3, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.mark.parametrize("cross_fit", ["kfold", "oob"])
@pytest.mark.parametrize("screening", [None, "auto", 0.8])
def test_learns(wine, cross_fit, screening):
    X, y = wine
    model = small(study={"cross_fit": cross_fit}, screening=screening, n_estimators=20).fit(X, y)
    assert model.score(X, y) > 0.95
    assert len(model.gates_) == model.n_layers_
    assert (model.gates_ == np.inf).all() == (screening is None)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.shape == (13,)


def test_any_number_of_threads_and_any_order_of_rows(wine):
    X, y = wine
    order = np.random.default_rng(0).permutation(len(y))
    expected = small(n_jobs=1).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(small(n_jobs=2).fit(X[order], y[order]).predict_proba(X), expected)


def test_predicting_before_a_fit_says_so(wine):
    for method in ("predict", "predict_proba", "predict_log_proba"):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(small(), method)(wine[0])


def test_many_rows_are_predicted_in_parts(wine, monkeypatch):
    X, y = wine
    for screening in (None, "auto"):
        model = small(screening=screening).fit(X, y)
        expected = model.predict_proba(X)
        monkeypatch.setattr("surewood.deepforest.model._ROWS_AT_ONCE", 50)
        np.testing.assert_array_equal(model.predict_proba(X), expected)
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"screening": "always"}, "screening must be 'auto', a number from 0 to 1 or None, got 'always'."),
        ({"screening": 1.5}, "screening must be 'auto', a number from 0 to 1 or None, got 1.5."),
        (
            {"study": {"screening_factor": 1.0}},
            "study['screening_factor'] must be a number above 1, got 1.0.",
        ),
        ({"max_depth": 0}, "max_depth must be an integer of at least 1 or None, got 0."),
        ({"forests": ()}, "forests must be a list with at least one forest, got ()."),
    ],
)
def test_bad_parameters_say_what_is_wrong(wine, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        small(**parameters).fit(*wine)


def test_auto_is_for_margin_forests(wine):
    with pytest.raises(TypeError, match="forests must be a list with at least one forest, got 'auto'"):
        small(forests="auto").fit(*wine)


def test_the_published_cascade_has_a_name(wine):
    model = CascadeForestClassifier.paper(n_estimators=2, max_layers=2, random_state=0)
    assert (len(model.forests), model.cv) == (8, 3)
    assert model.fit(*wine).layers_[0].n_trees == 8 * 2 * 3
