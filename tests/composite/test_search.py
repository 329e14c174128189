"""The search over splits: ties, C of every degree, the time limit."""

import time

import numpy as np

from surewood import RandomCompositeForestClassifierCV as Search
from surewood.composite import grid
from surewood.composite import search as search_module
from surewood.composite.search import best_point
from surewood.estimators.time_limit import TimeLimit
from tests.composite.composite_samples import sample


def test_ties_go_to_the_simplest_point():
    errors = np.zeros((1, 2, 3, 4, 2))
    assert best_point(errors) == (0, 0, 3, 0)
    errors[:, :, 0] = 0.1
    assert best_point(errors) == (0, 1, 3, 0)
    errors[0, 0, 1, 3, 0] = np.nan
    assert best_point(errors) == (0, 1, 3, 1)


def test_the_C_of_a_degree_is_the_best_over_all_splits():
    X, y = sample(150, seed=9)
    search = Search(n_estimators=2, max_depth=1, degrees=(1, 3), C=(1e-3, 1.0), cv=2, random_state=0).fit(
        X, y
    )
    assert set(search.C_) == {1, 3}
    assert search.C_[1] == 1.0  # a C this small cannot tell three classes apart


def test_a_time_limit_says_what_it_cut(monkeypatch):
    X, y = sample(120, seed=11)
    clock = iter(np.arange(0.0, 10_000.0, 5.0))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(search_module, "TimeLimit", lambda seconds: TimeLimit(seconds, time.monotonic()))
    monkeypatch.setattr(grid, "TREES_PER_BATCH", 2)
    search = Search(
        max_features=(2, 3),
        n_estimators=(2, 4, 50),
        max_depth=(1, 2),
        C=1.0,
        cv=2,
        time_limit=30.0,
        random_state=0,
    ).fit(X, y)
    assert any("was not measured" in sentence for sentence in search.cut_)
    assert any("was measured up to" in sentence for sentence in search.cut_)
    assert all("time_limit=30.0" in sentence for sentence in search.cut_)
    scores = search.cv_results_["mean_test_score"]
    assert np.isnan(scores).any()
    assert not np.isnan(scores[search.best_index_])
    assert search.best_params_["n_estimators"] < 50


def test_a_complete_grid_cuts_nothing():
    X, y = sample(90, seed=12)
    search = Search(n_estimators=2, max_depth=1, C=1.0, time_limit=600.0, random_state=0).fit(X, y)
    assert search.cut_ == []
