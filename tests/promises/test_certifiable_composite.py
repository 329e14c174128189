"""[D-43]: ways to get a false guarantee from a composite forest that needs no holdout."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import RandomCompositeForestClassifier
from surewood.certify import certify
from tests.promises.population import draw, is_true


def forest(n_estimators=8, **options):
    return RandomCompositeForestClassifier(n_estimators, certifiable=True, random_state=0, **options)


def test_a_clean_fit_is_guaranteed_and_true():
    certificate = certify(forest(max_depth=1).fit(*draw(2000, 0)))
    assert len(certificate.guarantees) == 2
    assert is_true(certificate)


@pytest.mark.parametrize("selection", ["auto", "exact"])
@pytest.mark.parametrize("seed", range(3))
def test_labels_that_are_coins(seed, selection):
    """Deep trees with a large C know their bags by heart, and the pilot compares on noise."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    model = forest(selection=selection, max_depth=8, C=100.0).fit(X, y)
    assert is_true(certify(model), least=0.5)


def test_rows_of_weight_zero_and_weighted_rows():
    X, y = draw(600, 0)
    easy = y == (X[:, 0] > 0)
    assert certify(forest().fit(X, y, sample_weight=np.where(easy, 1.0, 0.0))).guarantees == ()
    assert certify(forest().fit(X, y, sample_weight=np.where(easy, 2.0, 1.0))).guarantees == ()


def test_a_class_of_weight_zero():
    assert certify(forest(class_weight={0: 1.0, 1: 0.0}).fit(*draw(400, 0))).guarantees == ()
    assert certify(forest(class_weight="balanced").fit(*draw(400, 0))).guarantees == ()


def test_a_table_copied_four_times():
    X, y = draw(150, 0)
    assert certify(forest().fit(np.tile(X, (4, 1)), np.tile(y, 4))).guarantees == ()


def test_ten_rows_many_times():
    X, y = draw(10, 0)
    y[:2] = 0, 1
    assert certify(forest().fit(np.tile(X, (100, 1)), np.tile(y, 100))).guarantees == ()


def test_parameters_changed_after_the_fit():
    model = forest().fit(*draw(400, 0))
    before = certify(model).to_json()
    model.set_params(certifiable=False, n_estimators=1, plain_weight=0.9, selection="exact")
    assert certify(model).to_json() == before
    ordinary = RandomCompositeForestClassifier(8, random_state=0).fit(*draw(400, 0))
    assert certify(ordinary.set_params(certifiable=True)).guarantees == ()


def test_a_scaler_fitted_before_the_forest():
    pipeline = make_pipeline(StandardScaler(), forest()).fit(*draw(400, 0))
    assert certify(pipeline).guarantees == ()
    assert certify(pipeline, fixed_features=True).guarantees == ()


def test_rows_in_groups_or_in_time():
    model = forest().fit(*draw(400, 0))
    assert certify(model, groups=np.arange(400) // 4).guarantees == ()
    assert certify(model, time=np.arange(400)).guarantees == ()


def test_every_setting_of_a_search_is_paid_for():
    X, y = draw(300, 0)
    search = GridSearchCV(forest(4, selection="exact", C=1.0), {"max_depth": [1, 2, 3]}, cv=2).fit(X, y)
    entries = certify(search).guarantees
    assert [entry.n_models for entry in entries] == [3, 3]
    alone = certify(search.best_estimator_).guarantees
    assert all(a.value <= b.value for a, b in zip(alone, entries))


def test_training_rows_as_a_holdout():
    X, y = draw(400, 0)
    model = forest(max_depth=8).fit(X, y)
    certificate = certify(model, X, y)
    assert all(entry.sample == "out-of-bag" for entry in certificate.guarantees)
    assert is_true(certificate)


def test_a_column_that_only_rows_outside_the_bag_have_values_in():
    """What is missing in a bag says nothing to its tree."""
    X, y = draw(400, 0)
    rng = np.random.default_rng(1)
    X[:, 3] = np.where(rng.random(400) < 0.9, np.nan, y)
    assert is_true(certify(forest().fit(X, y)), least=0.2)
