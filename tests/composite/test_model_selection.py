"""The search: its splits, every point of its grid, its best point, its time limit."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, StratifiedKFold

from surewood import RandomCompositeForestClassifier as Forest
from surewood import RandomCompositeForestClassifierCV as Search
from surewood.base import parameters as base_parameters
from surewood.base.time_limit import TimeLimit
from surewood.composite import grid, leaves
from surewood.composite.data import part_of_inputs
from surewood.composite.grid import best_point, feature_grid
from surewood.composite.model_selection import contents, make_splits
from surewood.svm import penalty
from surewood.tables import begin_fit
from tests.composite.composite_samples import sample

#: A small grid of a search.
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
    forest = Forest.exact(
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
    resolved = search._grid(search._parameters(), 24)
    assert resolved.features == (1, 2, 5, 10, 20, 24)
    assert resolved.depths == tuple(range(2, 9))
    assert resolved.sizes == tuple(range(100, 1000, 100))
    assert resolved.setting.degrees == tuple(range(1, 10))
    assert sorted(resolved.choices) == [1e-3, 1e-2, 1e-1, 1.0]
    assert resolved.setting.selection == "random_sequences"
    assert Search.exact().selection == "exact"
    assert resolved.C_grid == (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)


def test_a_class_missing_from_a_training_part_is_never_predicted_there():
    X, y = sample(120)
    y = y.copy()
    y[:2] = 9
    rows, held = np.arange(2, 100), np.r_[0, 1, np.arange(100, 120)]
    search = Search(n_estimators=(2, 4), max_depth=(1, 2), cv=[(rows, held)])
    search.fit(X, y)
    assert search.classes_.tolist() == [0, 1, 2, 9]
    assert np.nanmax(search.cv_results_["mean_test_score"]) <= 1 - 2 / len(held)


def test_the_papers_values_of_r():
    assert feature_grid(18) == (1, 2, 4, 8, 17, 18)
    assert feature_grid(1) == (1,)
    assert feature_grid(180)[-1] == 180


def copied(seed=3):
    """Rows of which many are repeated, some with another label."""
    X, y = sample(70, seed=seed)
    repeats = np.arange(70) % 3 + 1
    X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    y[::11] = (y[::11] + 1) % 3
    return X, y


SMALL = {"n_estimators": (3, 6), "max_depth": (1, 2), "gamma_scale": (1e-4, 1e-2), "random_state": 0}


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
    monkeypatch.setattr(base_parameters, "TimeLimit", lambda seconds: TimeLimit(seconds, time.monotonic()))
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


@pytest.mark.parametrize(("seconds", "most"), [(50, 1000), (100, 1000), (12, 100)])
def test_a_time_limit_holds_for_the_whole_fit(monkeypatch, seconds, most):
    """The clock stands still but while SVMs are trained: one second on all rows. A whole search takes 430.

    Splits of more rows than `most` have as many as the time allows.
    """
    X, y = sample(400, seed=11)
    monkeypatch.setattr(grid, "_TIMED_ROWS", most)
    now, solve = [0.0], leaves.solve_many

    def solve_many(gram, groups, codes, degrees, C, **options):
        per_group = np.size(degrees) * (len(C) if np.ndim(C) == 1 else 1)
        now[0] += sum((len(group) / len(y)) ** 2 for group in groups) * per_group
        return solve(gram, groups, codes, degrees, C, **options)

    for module in (leaves, penalty):
        monkeypatch.setattr(module, "solve_many", solve_many)
    monkeypatch.setattr("surewood.base.time_limit.time", SimpleNamespace(monotonic=lambda: now[0]))
    search = Search(max_features=(1, 2), time_limit=seconds, n_jobs=1, random_state=0).fit(X, y)
    assert 0.5 * seconds < now[0] <= 1.2 * seconds + 1
    n_splits = sum(name.endswith("_test_score") and name.startswith("split") for name in search.cv_results_)
    cut = [f"{n_splits} of 3 splits were measured: time_limit={seconds} was reached"] if n_splits < 3 else []
    fewer_rows = f"training rows: time_limit={seconds} was too short for more"
    assert all(sentence in search.cut_ for sentence in cut)
    assert any(fewer_rows in sentence for sentence in search.cut_) == (most < 400)
    assert search.score(X, y) > 0.8


def test_a_complete_grid_cuts_nothing():
    X, y = sample(90, seed=12)
    search = Search(n_estimators=2, max_depth=1, C=1.0, time_limit=600.0, random_state=0).fit(X, y)
    assert search.cut_ == []


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
    forest = Forest.exact(
        **params,
        selection="exact" if search.selection == "common_degree" else search.selection,
        study={"constant_leaves": bool((search.study or {}).get("constant_leaves"))},
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
        {"study": {"constant_leaves": True}},
        {"selection": "random_sequences"},
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


def test_weights_enter_counts_svms_and_errors():
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
    monkeypatch.setattr(grid, "TREES_PER_BATCH", 2)
    assert np.array_equal(search.fit(X, y).cv_results_["mean_test_score"], whole)


def splits_of(cv, X, y, sample_weight=None, seed=7):
    given = begin_fit(DummyClassifier(), X, y, sample_weight, merge=False)
    return make_splits(cv, given, part_of_inputs(given, np.arange(len(y))), seed)


def values_of(inputs):
    return inputs.table.columns(0, inputs.table.n_columns)


def held_contents(cv, X, y, sample_weight=None):
    """The held-out contents of every split, as sets of rows' values."""
    inputs, splits = splits_of(cv, X, y, sample_weight)
    values = values_of(inputs)
    return [{tuple(values[row]) for row in held} for _, held in splits]


@pytest.fixture
def copies():
    """60 contents, some of them several times, some with two labels."""
    X, y = sample(60)
    repeats = np.arange(60) % 4 + 1
    X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    y[::7] = (y[::7] + 1) % 3
    return X, y


CVS = [3, 0.25, KFold(3), StratifiedKFold(3, shuffle=True, random_state=0)]


@pytest.mark.parametrize("cv", CVS)
def test_no_content_is_on_both_sides(copies, cv):
    inputs, splits = splits_of(cv, *copies)
    content = contents(inputs)
    for train, held in splits:
        assert not set(content[train]) & set(content[held])
        assert len(train)
        assert len(held)


@pytest.mark.parametrize("cv", CVS)
def test_splits_do_not_depend_on_the_order_of_the_rows(copies, cv):
    X, y = copies
    order = np.random.default_rng(1).permutation(len(y))
    assert held_contents(cv, X, y) == held_contents(cv, X[order], y[order])


@pytest.mark.parametrize("cv", CVS)
def test_weights_are_copies(cv):
    X, y = sample(60)
    weight = np.arange(60) % 3
    repeated = held_contents(cv, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert held_contents(cv, X, y, weight) == repeated


def test_pairs_of_row_numbers_are_followed_row_by_row():
    X, y = sample(20)
    X[15] = X[0]  # a copy that the user puts on the other side
    weight = np.where(np.arange(20) == 3, 0.0, 2.0)
    inputs, [(train, held)] = splits_of([(np.arange(15), np.arange(15, 20))], X, y, weight)
    assert np.array_equal(values_of(inputs)[held], X[15:])
    assert train.tolist() == [row for row in range(15) if row != 3]  # no row of weight 0


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        ([([0, 1], [2]), ([], [1])], "split 1 of cv has no training row or no held-out row of positive"),
        ([([0, 1], [20])], "split 0 of cv has row numbers outside 0 to 19."),
        ([([-1, 1], [2])], "split 0 of cv has row numbers outside 0 to 19."),
    ],
)
def test_impossible_pairs(cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        splits_of(cv, *sample(20))


def test_a_splitter_cannot_put_copies_on_both_sides():
    X = np.repeat(np.arange(2.0), 2)[:, None]
    labels = np.array([0, 1, 0, 1])  # two contents, both with both labels

    class Both:
        def split(self, X, y):
            yield np.arange(len(y)), np.arange(len(y))

        def get_n_splits(self):
            return 1

    with pytest.raises(ValueError, match="no held-out row that differs from all of them"):
        splits_of(Both(), X, labels)


def test_equal_rows_cannot_be_split():
    assert splits_of(3, np.ones((9, 2)), np.arange(9) % 2)[1] == []
    with pytest.raises(ValueError, match="1 sample cannot be split; give at least 2 rows"):
        splits_of(3, np.ones((1, 2)), np.array([0]))
