"""Models that are fitted again, changed or replaced are noticed; ones that are only used are not."""

import copy

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surewood
from surewood.certify import CostClassifier
from surewood.certify.model_parts import FittedState

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)


def forest(**settings):
    return surewood.BinnedForestClassifier(**{"n_estimators": 5, "random_state": 0, **settings}).fit(X, Y)


def models():
    return {
        "forest": forest(),
        "mixture": surewood.SurewoodClassifier(n_estimators=4, random_state=0).fit(X, Y),
        "foreign": LogisticRegression().fit(X, Y),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y),
        "frozen": FrozenEstimator(forest()),
        "by cost": CostClassifier(forest(), [[0, 1], [2, 0]]),
    }


@pytest.mark.parametrize("name", models())
def test_use_changes_nothing(name):
    model = models()[name]
    state = FittedState(model)
    model.predict(X), model.predict_proba(X), model.score(X, Y), repr(model), copy.deepcopy(model)
    assert state.is_of(model)
    assert not state.is_of(copy.deepcopy(model))  # another object may go its own way


def refit(model):
    return model.set_params(max_depth=1).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("forest", refit),
        ("forest", lambda model: model.set_params(random_state=1).fit(X, Y)),
        ("forest", lambda model: model.set_params(warm_start=True, n_estimators=6).fit(X, Y)),
        ("mixture", lambda model: model.set_params(random_state=1).fit(X, Y)),
        ("foreign", lambda model: model.set_params(C=0.01).fit(X, Y)),
        ("pipeline", lambda model: model[0].fit(3 * X)),
        ("pipeline", lambda model: model.set_params(logisticregression=LogisticRegression(C=9).fit(X, Y))),
        ("frozen", lambda model: refit(model.estimator)),
        ("by cost", lambda model: refit(model.model)),
    ],
)
def test_other_settings_for_the_same_rows(name, change):
    model = models()[name]
    state = FittedState(model)
    change(model)
    assert not state.is_of(model)


def test_the_same_fit_again_is_the_same_model():
    model = forest()
    state = FittedState(model)
    assert state.is_of(model.fit(X, Y))


def test_a_parameter_that_is_read_at_prediction():
    model = KNeighborsClassifier(3).fit(X, Y)
    state = FittedState(model)
    assert state.is_of(model.set_params(n_jobs=1))
    assert not state.is_of(model.set_params(n_neighbors=40))
