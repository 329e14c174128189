"""`DeepCascadeSVMClassifierCV`: the candidates, their comparison, folds of the user's own."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import PredefinedSplit

from surewood import DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV
from surewood.base.parameters import checked_parameters
from surewood.cascade.data import merge_within_folds
from surewood.cascade.model_selection import Candidate, FoldScores, choose, compare
from surewood.cascade.plan import make_selection_plan
from surewood.tables import begin_fit
from tests.cascade.conftest import small_problem


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.3, random_state=1)


def small(**changes):
    settings = {"max_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2), "cv": 3, "random_state": 0}
    return DeepCascadeSVMClassifierCV(**{**settings, **changes})


@pytest.fixture(scope="module")
def fitted(moons):
    return small().fit(*moons)


def test_candidates_and_choice(fitted):
    model = fitted
    table = pd.DataFrame(model.cv_results_)
    assert set(table["kind"]) == {"plain", "path", "leaves"}
    assert table["degree"][:2].tolist() == [1, 2]
    chosen = table.loc[model.best_index_]
    base = table[table["kind"] == "plain"]["error"].min()
    assert chosen["error"] <= base
    if chosen["kind"] == "plain":
        assert model.cascades_[0].n_leaves == 1
        assert model.gamma_scale_ is None
    assert model.search_[0].path.n_leaves == model.cascades_[0].n_leaves


def test_a_cascade_is_taken_when_it_is_better():
    # Far from the line through the middle everything is easy; near it the classes form a chequerboard that
    # one SVM of low degree cannot follow while it also gets the rest right.
    rng = np.random.default_rng(3)
    X = np.c_[rng.uniform(-4, 4, 900), rng.uniform(-1, 1, 900)]
    near = np.abs(X[:, 0]) < 1
    y = np.where(near, (X[:, 0] * X[:, 1] > 0), X[:, 0] > 0).astype(int)
    settings = {"max_leaves": 2, "degrees": (1, 2), "gamma_min": 1e-3, "random_state": 0}
    model = DeepCascadeSVMClassifierCV(cv=3, study={"max_svms": 500}, **settings).fit(X[:600], y[:600])
    assert model.cascades_[0].n_leaves == 2
    plain = DeepCascadeSVMClassifier(max_leaves=1, degrees=(1, 2), gamma_scale=0.0, random_state=0)
    assert model.score(X[600:], y[600:]) > plain.fit(X[:600], y[:600]).score(X[600:], y[600:]) + 0.03


def test_one_given_split_without_refit(moons):
    X, y = moons
    fold = np.where(np.arange(120) < 80, -1, 0)
    model = small(cv=PredefinedSplit(fold), refit=False).fit(X, y)
    assert model.search_[0].total == 80
    held_out = (model.predict(X[80:]) != y[80:]).mean()
    assert held_out == pytest.approx(model.cv_results_["error"][model.best_index_])
    assert len(model.out_of_fold_.codes) == 40
    again = small(cv=[(np.arange(80), np.arange(80, 120))], refit=False).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    # The held-out rows do not touch the model: neither scaling nor SVMs.
    moved = X.copy()
    moved[80:] *= 5
    same_C = small(C=1.0, cv=PredefinedSplit(fold), refit=False, study={"standard_errors": 1e9}, degrees=(2,))
    np.testing.assert_array_equal(
        same_C.fit(X, y).decision_function(X[:80]), same_C.fit(moved, y).decision_function(X[:80])
    )


@pytest.mark.parametrize(("cv", "n_folds"), [(5, 5), (0.2, 1)])
def test_folds_that_the_user_does_not_give_are_dealt(cv, n_folds):
    _, sample = small_problem()
    plan = make_selection_plan(checked_parameters(small(cv=cv)), sample, 0)
    assert [len(held_out) for _, held_out in plan.folds] == [18] * n_folds


@pytest.mark.parametrize(("n_rows", "n_svms"), [(100, 2000), (600, 2000), (1200, 500), (9000, 30)])
def test_fewer_svms_are_trained_on_more_rows(n_rows, n_svms):
    rng = np.random.default_rng(0)
    _, sample = small_problem(rng.normal(size=(n_rows, 2)), np.arange(n_rows) % 2)
    assert make_selection_plan(checked_parameters(small()), sample, 0).max_svms == n_svms
    given = make_selection_plan(checked_parameters(small(study={"max_svms": 7})), sample, 0)
    assert given.max_svms == 7


def test_refit_false_needs_one_split(moons):
    with pytest.raises(ValueError, match="refit=False keeps the model of the training part"):
        small(refit=False).fit(*moons)


def test_infinitely_many_standard_errors_take_a_single_svm(moons):
    model = small(C=1.0, study={"standard_errors": np.inf}).fit(*moons)
    assert model.cv_results_["kind"][model.best_index_] == "plain"
    assert model.best_params_["max_leaves"] == 1
    assert model.gamma_scale_ is None
    assert model.cascades_[0].n_leaves == 1


def test_a_time_limit_of_zero_still_gives_a_model(moons):
    assert small(C=1.0, time_limit=0.0).fit(*moons).predict_proba(moons[0]).shape == (120, 2)


def test_several_classes(iris):
    X, y = iris
    for multiclass in ("one_vs_rest", "native"):
        model = small(multiclass=multiclass, max_leaves=2, cv=2).fit(X, y)
        assert model.score(X, y) > 0.93
        np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cv": []}, "cv has no split"),
        ({"cv": [(np.arange(5), np.array([], dtype=int))]}, "cv has a split without"),
        ({"cv": [(np.arange(5), np.arange(5, 9)), (np.arange(5), [])]}, "cv has a split without training or"),
        ({"leaf_gammas": (0.0,)}, "leaf_gammas must be a list of numbers above 0, which may be empty, got"),
    ],
)
def test_bad_settings_are_named(moons, changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes).fit(*moons)


def test_weight_two_is_the_row_twice_with_given_folds(moons):
    X, y = moons
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    group = np.arange(120) % 2
    folds = [(np.flatnonzero(group == 0), np.flatnonzero(group == 1))]
    weighted = small(cv=folds).fit(X, y, sample_weight=weight).decision_function(X)
    wide = np.repeat(group, weight)
    folds = [(np.flatnonzero(wide == 0), np.flatnonzero(wide == 1))]
    repeated = small(cv=folds).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).decision_function(X)
    np.testing.assert_array_equal(weighted, repeated)


def test_equal_rows_are_merged_only_on_the_same_side():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 0, 1, 1])
    inputs = begin_fit(DeepCascadeSVMClassifierCV(), X, y, merge=False)
    merged, folds = merge_within_folds(inputs, [([0, 1, 3], [2, 4])])
    assert len(merged.y) == 4  # the two zeros of the training part are one row
    ((train, held_out),) = folds
    weight = np.ones(4) if merged.weight is None else merged.weight
    assert sorted(weight[train].tolist()) == [1.0, 2.0]
    assert weight[held_out].tolist() == [1.0, 1.0]
    assert not set(train) & set(held_out)


# --- the comparison ----------------------------------------------------------------------------------------


def table_of(rows):
    return pd.DataFrame(rows, columns=["kind", "n_leaves", "error", "gain", "standard_error"])


def test_a_cascade_must_beat_the_best_single_svm_clearly():
    table = table_of(
        [("plain", 1, 0.20, -0.05, 0.01), ("plain", 1, 0.15, 0.0, 0.0), ("path", 3, 0.14, 0.01, 0.02)]
    )
    assert choose(table, 1.0) == 1
    assert choose(table, 0.0) == 2
    assert choose(table.assign(standard_error=0.0), np.inf) == 1
    table.loc[2, "standard_error"] = 0.005
    assert choose(table, 1.0) == 2


def test_ties_go_to_fewer_leaves_then_to_the_earlier_row():
    table = table_of(
        [
            ("plain", 1, 0.2, 0.0, 0.0),
            ("path", 3, 0.1, 0.1, 0.01),
            ("leaves", 2, 0.1, 0.1, 0.01),
            ("leaves", 2, 0.1, 0.1, 0.01),
        ]
    )
    assert choose(table, 1.0) == 2


def test_an_equal_cascade_is_not_better():
    table = table_of([("plain", 1, 0.2, 0.0, 0.0), ("path", 1, 0.2, 0.0, 0.0)])
    assert choose(table, 0.0) == 0


def test_the_noise_is_that_of_paired_differences():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 200).astype(np.int32)
    answers = [np.where(rng.random(200) < p, codes, 1 - codes) for p in (0.7, 0.8, 0.85)]
    scores = [np.eye(2)[a] for a in answers]
    folds = [FoldScores(np.arange(200, dtype=np.int32), scores, np.array([1.0, 1.0, 2.0]))]
    candidates = [Candidate(choice=0), Candidate(choice=1), Candidate(0.01, 2)]
    table = compare(candidates, folds, codes, np.ones(200), [1, 2])
    wrong = [a != codes for a in answers]
    np.testing.assert_allclose(table["error"], [w.mean() for w in wrong])
    difference = wrong[1].astype(float) - wrong[2]
    assert math.isclose(table["gain"][2], difference.mean())
    assert math.isclose(table["standard_error"][2], difference.std() / math.sqrt(200))
    assert table["kind"].tolist() == ["plain", "plain", "leaves"]


def test_the_papers_rule_takes_the_gamma_of_smallest_validation_error():
    X, y = make_moons(120, noise=0.3, random_state=1)
    model = DeepCascadeSVMClassifierCV.paper(max_leaves=2, random_state=0).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    cascades = table[table["kind"] == "path"]
    assert cascades["gamma_scale"].tolist() == [1.0, 0.1, 0.01]
    errors = cascades["error"].to_numpy()
    assert model.gamma_scale_ == cascades["gamma_scale"].to_numpy()[errors.argmin()]  # the larger on ties
    direct = DeepCascadeSVMClassifier(
        gamma_scale=model.gamma_scale_, max_leaves=2, C=model.C_[0], calibrate=False, random_state=0
    ).fit(X, y)
    assert (model.predict(X) == direct.predict(X)).all()


def test_candidates_that_some_fold_could_not_score_are_not_compared():
    codes = np.array([0, 1, 0, 1], dtype=np.int32)
    right, wrong = np.eye(2)[codes], np.eye(2)[1 - codes]
    first = FoldScores(np.array([0, 1]), [right[:2], wrong[:2], right[:2]], np.array([1.0, 1.0, 2.0]))
    second = FoldScores(np.array([2, 3]), [right[2:], right[2:]], np.array([1.0, 1.0]))
    candidates = [Candidate(choice=0), Candidate(choice=1)]
    table = compare(candidates, [first, second], codes, np.ones(4), [1, 2])
    assert table["error"].tolist() == [0.0, 0.5]
    assert table["n_leaves"].tolist() == [1.0, 1.0]
