"""The search: its best point, its results, its promises."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

from surewood import RandomCompositeForestClassifier as Forest
from surewood import RandomCompositeForestClassifierCV as Search
from tests.composite.composite_samples import GRID, sample


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


def copied(seed=3):
    """Rows of which many are repeated, some with another label."""
    X, y = sample(70, seed=seed)
    repeats = np.arange(70) % 3 + 1
    X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    y[::11] = (y[::11] + 1) % 3
    return X, y


SMALL = {"n_estimators": (3, 6), "max_depth": (1, 2), "gamma_scale": (1e-4, 1e-2), "random_state": 0}


@pytest.mark.parametrize("cv", [3, 0.3, StratifiedKFold(3)])
def test_the_order_of_the_rows_does_not_matter(cv):
    X, y = copied()
    order = np.random.default_rng(0).permutation(len(y))
    one = Search(**SMALL, cv=cv).fit(X, y)
    other = Search(**SMALL, cv=cv).fit(X[order], y[order])
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert np.array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert one.best_params_ == other.best_params_


def test_weight_two_is_the_row_twice():
    X, y = sample(90, seed=4)
    weight = np.arange(90) % 3
    weighted = Search(**SMALL).fit(X, y, sample_weight=weight)
    repeated = Search(**SMALL).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    assert np.array_equal(weighted.cv_results_["mean_test_score"], repeated.cv_results_["mean_test_score"])


def test_copies_do_not_make_noise_look_predictable():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    X, y = np.repeat(X, 5, axis=0), np.repeat(y, 5)
    search = Search(max_depth=(3, 6), n_estimators=10, degrees=9, C=100.0, random_state=0).fit(X, y)
    assert search.score(X, y) > 0.95  # learned by heart
    assert search.best_score_ < 0.7  # but not on held-out contents


def test_without_a_refit_there_are_results_and_no_model():
    X, y = sample(90, seed=5)
    full = Search(**SMALL).fit(X, y)
    found = Search(**SMALL, refit=False).fit(X, y)
    assert found.best_params_ == full.best_params_
    assert np.array_equal(found.cv_results_["mean_test_score"], full.cv_results_["mean_test_score"])
    for use in (found.predict, found.apply, found.explain):
        with pytest.raises(NotFittedError, match="fitted with refit=False and has no model"):
            use(X)
    full.set_params(refit=False).fit(X, y)
    with pytest.raises(NotFittedError):
        full.predict(X)


def test_everything_that_was_offered_is_recorded():
    X, y = sample(90, seed=6)
    search = Search(
        max_depth=(1, 4), n_estimators=(2, 3), gamma_scale=(1e-4, 1e-2, 1.0), degrees=(1, 2), C=(0.1, 1.0),
        random_state=0,
    ).fit(X, y)  # fmt: skip
    searched = search.model_.searched
    assert searched.max_depth == 4  # whatever depth was chosen
    assert searched.n_degrees == 2
    assert searched.n_settings == 2 * 2 * 3 * 2**2
    evidence = list(search.__certificate_evidence__())
    assert {tree.max_depth for tree in evidence[0].trees} == {4}
    assert evidence[-1].used_for_selection


def test_equal_rows_give_the_majority_class_and_no_scores():
    search = Search(**SMALL).fit(np.ones((30, 2)), np.array([0] * 20 + [1] * 10))
    assert search.predict(np.ones((1, 2))).tolist() == [0]
    assert np.isnan(search.best_score_)
    assert search.cut_ == ["nothing was measured: all rows are equal"]
