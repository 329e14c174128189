"""The search: its best point, its results, its promises."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from surewood import RandomCompositeForestClassifier as Forest
from surewood import RandomCompositeForestClassifierCV as Search
from tests.composite.composite_samples import sample

GRID = {
    "gamma_scale": (1e-5, 1e-4, 1e-3, 1.0),
    "max_depth": (0, 1, 3),
    "max_features": (2, 6),
    "n_estimators": (3, 7),
    "degrees": (1, 2, 4),
}


def test_the_best_point_is_fitted_to_all_rows():
    X, y = sample(150, seed=8)
    search = Search(**GRID, C=(0.1, 1.0), cv=3, random_state=2, calibrate=False).fit(X, y)
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])
    assert search.cv_results_["params"][search.best_index_] == search.best_params_ or (
        dict(sorted(search.cv_results_["params"][search.best_index_].items())) == search.best_params_
    )
    forest = Forest.paper(
        **search.best_params_, degrees=tuple(search.C_), C=tuple(search.C_.values()), random_state=2
    ).fit(X, y)
    assert np.array_equal(forest.predict_proba(X), search.predict_proba(X))
    assert search.ledger().equals(forest.ledger())


def test_splits_as_scikit_learn_has_them():
    X, y = sample(90, seed=10)
    search = Search(n_estimators=3, max_depth=1, C=1.0, cv=StratifiedKFold(3), random_state=0).fit(X, y)
    assert "split2_test_score" in search.cv_results_
    part = Search(n_estimators=3, max_depth=1, C=1.0, cv=0.25, random_state=0).fit(X, y)
    assert "split1_test_score" not in part.cv_results_
    assert part.cv_results_["mean_test_score"].max() <= 1.0


def test_the_papers_grid():
    search = Search.paper()
    resolved = search._grid(24)
    assert resolved.features == (1, 2, 5, 10, 20, 24)
    assert resolved.axes.depths == tuple(range(2, 9))
    assert resolved.axes.sizes == tuple(range(100, 1000, 100))
    assert resolved.degrees == tuple(range(1, 10))
    assert resolved.C_grid == (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)


def test_threads_do_not_matter():
    X, y = sample(90, seed=13)
    one = Search(n_estimators=(2, 4), max_depth=(1, 2), cv=2, random_state=0, n_jobs=1).fit(X, y)
    two = Search(n_estimators=(2, 4), max_depth=(1, 2), cv=2, random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_class_missing_from_a_training_part_is_never_predicted_there():
    X, y = sample(120)
    y = y.copy()
    y[:2] = 9
    rows, held = np.arange(2, 100), np.r_[0, 1, np.arange(100, 120)]
    search = Search(n_estimators=(2, 4), max_depth=(1, 2), cv=[(rows, held)])
    search.fit(X, y)
    assert search.classes_.tolist() == [0, 1, 2, 9]
    assert np.nanmax(search.cv_results_["mean_test_score"]) <= 1 - 2 / len(held)
