"""[D-43]: ways to get a false guarantee from a forest that needs no holdout."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier
from surewood.certify import certify
from tests.promises.population import draw, is_true, says_nothing_of_groups_or_time


def forest(**options):
    return BinnedForestClassifier(30, certifiable=True, random_state=0, **options)


def test_a_clean_fit_is_guaranteed_and_true():
    certificate = certify(forest(min_samples_leaf=20).fit(*draw(3000, 0)))
    assert len(certificate.guarantees) == 2
    assert is_true(certificate)


def test_rows_of_weight_zero():
    X, y = draw(1000, 0)
    weight = np.where(y == (X[:, 0] > 0), 1.0, 0.0)  # only the rows that are easy
    assert certify(forest().fit(X, y, sample_weight=weight)).guarantees == ()


def test_a_class_of_weight_zero():
    X, y = draw(1000, 0)
    assert certify(forest(class_weight={0: 1.0, 1: 0.0}).fit(X, y)).guarantees == ()


def test_a_table_copied_four_times():
    X, y = draw(250, 0)
    assert certify(forest().fit(np.tile(X, (4, 1)), np.tile(y, 4))).guarantees == ()


def test_ten_rows_many_times():
    X, y = draw(10, 0)
    y[:2] = 0, 1
    assert certify(forest().fit(np.tile(X, (200, 1)), np.tile(y, 200))).guarantees == ()


def test_parameters_changed_after_the_fit():
    model = forest().fit(*draw(600, 0))
    before = certify(model).to_json()
    model.set_params(certifiable=False, n_estimators=1, bootstrap=False)
    assert certify(model).to_json() == before
    ordinary = BinnedForestClassifier(30, random_state=0).fit(*draw(600, 0))
    assert certify(ordinary.set_params(certifiable=True)).guarantees == ()


def test_a_scaler_fitted_before_the_forest():
    pipeline = make_pipeline(StandardScaler(), forest()).fit(*draw(600, 0))
    assert certify(pipeline).guarantees == ()
    assert certify(pipeline, fixed_features=True).guarantees == ()


def test_rows_in_groups_or_in_time():
    assert says_nothing_of_groups_or_time(forest().fit(*draw(600, 0)), 600)


def test_every_setting_of_a_search_is_paid_for():
    X, y = draw(400, 0)
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
    search = GridSearchCV(forest(), grid, cv=2).fit(X, y)
    entries = certify(search).guarantees
    assert [entry.n_models for entry in entries] == [6, 6]
    alone = certify(search.best_estimator_).guarantees
    assert all(a.value <= b.value for a, b in zip(alone, entries))


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_are_coins(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 2, 500)
    assert is_true(certify(forest().fit(X, y)), least=0.5)
