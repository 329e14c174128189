"""[D-43]: ways to get a false guarantee from a forest that needs no holdout, binned or composite."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier, RandomCompositeForestClassifier
from surewood.certify import certify
from tests.promises.population import draw, is_true

KINDS = {
    "binned": (BinnedForestClassifier, {"n_estimators": 30}, {"min_samples_leaf": 20}),
    "composite": (RandomCompositeForestClassifier, {"n_estimators": 8}, {"max_depth": 1}),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def forest(kind):
    """Makes a certifiable forest."""
    family, size, _ = kind
    return lambda **options: family(**{**size, "certifiable": True, "random_state": 0, **options})


def test_a_clean_fit_is_guaranteed_and_true(forest, kind):
    certificate = certify(forest(**kind[2]).fit(*draw(2500, 0)))
    assert len(certificate.guarantees) == 2
    assert is_true(certificate)


@pytest.mark.parametrize("hard", [0.0, 0.5])
def test_rows_that_are_hard_weigh_little_or_nothing(forest, hard):
    X, y = draw(600, 0)
    weight = np.where(y == (X[:, 0] > 0), 1.0, hard)
    assert certify(forest().fit(X, y, sample_weight=weight)).guarantees == ()


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 0.0}, "balanced"])
def test_classes_with_weights(forest, weights):
    assert certify(forest(class_weight=weights).fit(*draw(500, 0))).guarantees == ()


def test_a_table_copied_four_times(forest):
    X, y = draw(200, 0)
    assert certify(forest().fit(np.tile(X, (4, 1)), np.tile(y, 4))).guarantees == ()


def test_ten_rows_many_times(forest):
    X, y = draw(10, 0)
    y[:2] = 0, 1
    assert certify(forest().fit(np.tile(X, (100, 1)), np.tile(y, 100))).guarantees == ()


def test_parameters_changed_after_the_fit(forest, kind):
    model = forest().fit(*draw(400, 0))
    before = certify(model).to_json()
    model.set_params(certifiable=False, n_estimators=1, max_depth=1)
    assert certify(model).to_json() == before
    family, size, _ = kind
    ordinary = family(**size, random_state=0).fit(*draw(400, 0))
    assert certify(ordinary.set_params(certifiable=True)).guarantees == ()


def test_a_scaler_fitted_before_the_forest(forest):
    pipeline = make_pipeline(StandardScaler(), forest()).fit(*draw(400, 0))
    assert certify(pipeline).guarantees == ()
    assert certify(pipeline, fixed_features=True).guarantees == ()


def test_rows_in_groups_or_in_time(forest):
    model = forest().fit(*draw(400, 0))
    assert certify(model, groups=np.arange(400) // 4).guarantees == ()
    assert certify(model, time=np.arange(400)).guarantees == ()


def test_every_setting_of_a_search_is_paid_for(forest):
    X, y = draw(300, 0)
    search = GridSearchCV(forest(n_estimators=4), {"max_depth": [1, 2, 3]}, cv=2).fit(X, y)
    entries = certify(search).guarantees
    assert [entry.n_models for entry in entries] == [3, 3]
    alone = certify(search.best_estimator_).guarantees
    assert all(a.value <= b.value for a, b in zip(alone, entries))


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_are_coins(forest, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    assert is_true(certify(forest().fit(X, y)), least=0.5)


def test_training_rows_as_a_holdout(forest):
    X, y = draw(400, 0)
    certificate = certify(forest().fit(X, y), X, y)
    assert all(entry.sample == "out-of-bag" for entry in certificate.guarantees)
    assert is_true(certificate)
