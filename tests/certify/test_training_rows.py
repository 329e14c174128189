"""What is known about training rows: from the model, from X_train, through pipelines and searches."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier
from surewood.certify.training_rows import TrainingRows, fitted_steps, inner_model

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(60, 3)), np.arange(60) % 2


def test_own_classifiers_remember():
    training = TrainingRows(BinnedForestClassifier(3, random_state=0).fit(X[:40], y[:40]))
    assert training.known
    assert training.n_rows == 40
    assert training.copies(X, 60).tolist() == [True] * 40 + [False] * 20


def test_memory_turned_off_is_not_known():
    model = BinnedForestClassifier(3, random_state=0, remember_rows=False).fit(X, y)
    assert not TrainingRows(model).known
    assert TrainingRows(model, X[:5]).copies(X, 60).sum() == 5


def test_other_models_need_x_train():
    model = RandomForestClassifier(3).fit(X, y)
    assert not TrainingRows(model).known
    assert TrainingRows(model).copies(X, 60).sum() == 0
    assert TrainingRows(model, X[:7]).copies(X, 60).sum() == 7


def test_pipelines_and_searches_are_looked_through():
    pipeline = make_pipeline(StandardScaler(), BinnedForestClassifier(3, random_state=0)).fit(X[:40], y[:40])
    assert TrainingRows(pipeline).copies(X, 60).sum() == 40
    assert fitted_steps(pipeline) == ("standardscaler",)
    search = GridSearchCV(pipeline, {"binnedforestclassifier__n_estimators": [2, 3]}, cv=2).fit(
        X[:40], y[:40]
    )
    assert inner_model(search) is search.best_estimator_[-1]
    assert TrainingRows(search).copies(X, 60).sum() == 40
    assert fitted_steps(search) == ("standardscaler",)
    assert fitted_steps(BinnedForestClassifier()) == ()


def test_repeated_training_rows_are_counted():
    model = BinnedForestClassifier(3, random_state=0).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    training = TrainingRows(model)
    assert training.too_many_copies
    assert abs(training.copied_fraction - 2 / 3) < 1e-12
    assert not TrainingRows(BinnedForestClassifier(3).fit(X, y)).too_many_copies
