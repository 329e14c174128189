"""The grid in one pass: bit for bit what fitting every point alone gives."""

import time

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from surewood import RandomCompositeForestClassifier as Forest
from surewood import RandomCompositeForestClassifierCV as Search
from surewood.composite import grid
from surewood.composite.search import best_point
from tests.composite.composite_samples import sample

GRID = {
    "gamma_scale": (1e-5, 1e-4, 1e-3, 1.0),
    "max_depth": (0, 1, 3),
    "max_features": (2, 6),
    "n_estimators": (3, 7),
    "degrees": (1, 2, 4),
}


def holdout(n, seed=0):
    order = np.random.default_rng(seed).permutation(n)
    return [(np.sort(order[n // 3 :]), np.sort(order[: n // 3]))]


def alone(search, X, y, rows, held, params, weight=None):
    """Held-out accuracy of one point of the grid, fitted by itself."""
    params = dict(params)
    if "degree" in params:
        degree = params.pop("degree")
        params |= {"degrees": degree, "C": search.C_[degree]}
    else:
        params |= {"degrees": tuple(search.C_), "C": tuple(search.C_.values())}
    forest = Forest.paper(
        **params,
        selection="exact" if search.selection == "common_degree" else search.selection,
        constant_leaves=search.constant_leaves,
        class_weight=search.class_weight,
        random_state=search.random_state,
    )
    forest.fit(X[rows], y[rows], None if weight is None else weight[rows])
    right = forest.predict(X[held]) == y[held]
    return np.average(right, weights=None if weight is None else weight[held])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"constant_leaves": True},
        {"selection": "random_sequences", "n_sequences": 10},
        {"selection": "common_degree"},
        {"selection": "random_degree"},
    ],
)
def test_every_point_equals_its_own_fit(changes):
    X, y = sample(150, seed=4)
    splits = holdout(150)
    search = Search(**GRID, C=(0.1, 1.0, 10.0), cv=splits, random_state=5, calibrate=False, **changes).fit(
        X, y
    )
    results = search.cv_results_
    for k, params in enumerate(results["params"]):
        assert results["mean_test_score"][k] == pytest.approx(
            alone(search, X, y, *splits[0], params), abs=1e-12
        )


def test_weights_enter_counts_machines_and_errors():
    X, y = sample(120, seed=6)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(y))
    splits = holdout(120)
    small = GRID | {"max_features": (2,), "max_depth": (1, 2)}
    search = Search(**small, C=1.0, cv=splits, random_state=5, calibrate=False).fit(
        X, y, sample_weight=weight
    )
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        assert score == pytest.approx(alone(search, X, y, *splits[0], params, weight))


def test_batches_of_trees_change_nothing(monkeypatch):
    X, y = sample(120, seed=7)
    search = Search(**GRID, C=1.0, cv=3, random_state=1, calibrate=False)
    whole = search.fit(X, y).cv_results_["mean_test_score"]
    monkeypatch.setattr(grid, "TREES_A_BATCH", 2)
    assert np.array_equal(search.fit(X, y).cv_results_["mean_test_score"], whole)


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


def test_ties_go_to_the_simplest_point():
    errors = np.zeros((1, 2, 3, 4, 2))
    assert best_point(errors) == (0, 0, 3, 0)
    errors[:, :, 0] = 0.1
    assert best_point(errors) == (0, 1, 3, 0)
    errors[0, 0, 1, 3, 0] = np.nan
    assert best_point(errors) == (0, 1, 3, 1)


def test_the_box_of_a_degree_is_the_best_over_all_splits():
    X, y = sample(150, seed=9)
    search = Search(n_estimators=2, max_depth=1, degrees=(1, 3), C=(1e-3, 1.0), cv=2, random_state=0).fit(
        X, y
    )
    assert set(search.C_) == {1, 3}
    assert search.C_[1] == 1.0  # a box this small cannot tell three classes apart


def test_splits_as_scikit_learn_has_them():
    X, y = sample(90, seed=10)
    search = Search(n_estimators=3, max_depth=1, C=1.0, cv=StratifiedKFold(3), random_state=0).fit(X, y)
    assert "split2_test_score" in search.cv_results_
    part = Search(n_estimators=3, max_depth=1, C=1.0, cv=0.25, random_state=0).fit(X, y)
    assert "split1_test_score" not in part.cv_results_
    assert part.cv_results_["mean_test_score"].max() <= 1.0


def test_a_time_budget_says_what_it_cut(monkeypatch):
    X, y = sample(120, seed=11)
    clock = iter(np.arange(0.0, 10_000.0, 5.0))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(grid, "TREES_A_BATCH", 2)
    search = Search(
        max_features=(2, 3),
        n_estimators=(2, 4, 50),
        max_depth=(1, 2),
        C=1.0,
        cv=2,
        max_seconds=30.0,
        random_state=0,
    ).fit(X, y)
    assert any("was not measured" in sentence for sentence in search.cut_)
    assert any("was measured up to" in sentence for sentence in search.cut_)
    assert all("max_seconds=30.0" in sentence for sentence in search.cut_)
    scores = search.cv_results_["mean_test_score"]
    assert np.isnan(scores).any()
    assert not np.isnan(scores[search.best_index_])
    assert search.best_params_["n_estimators"] < 50


def test_a_complete_grid_cuts_nothing():
    X, y = sample(90, seed=12)
    search = Search(n_estimators=2, max_depth=1, C=1.0, max_seconds=600.0, random_state=0).fit(X, y)
    assert search.cut_ == []


def test_the_papers_grid():
    search = Search.paper()
    resolved = search._resolved_grid(24)
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
