"""[D-44]: ways to get a false Brier guarantee from an average of fold models."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood.certify import CrossFittedClassifier, certify
from tests.promises.population import draw, says_nothing_of_groups_or_time


def average():
    return CrossFittedClassifier(KNeighborsClassifier(1))


def test_labels_that_are_coins():
    rng = np.random.default_rng(0)
    model = average().fit(rng.normal(size=(300, 2)), rng.integers(0, 2, 300))
    assert all(entry.value >= 0.5 for entry in certify(model).guarantees)


def test_groups_and_time():
    assert says_nothing_of_groups_or_time(average().fit(*draw(300, 0)), 300)


def test_a_scaler_outside_the_folds():
    assert certify(make_pipeline(StandardScaler(), average()).fit(*draw(300, 0))).guarantees == ()


def test_copied_rows():
    X, y = draw(100, 0)
    assert certify(average().fit(np.tile(X, (4, 1)), np.tile(y, 4))).guarantees == ()


def test_changed_parameters_and_searches():
    X, y = draw(200, 0)
    model = average().fit(X, y)
    before = certify(model).to_json()
    model.set_params(n_folds=2, estimator=KNeighborsClassifier(50))
    assert certify(model).to_json() == before
    search = GridSearchCV(average(), {"n_folds": [2, 3, 5]}, cv=2).fit(X, y)
    assert certify(search).guarantees[0].n_models == 3
