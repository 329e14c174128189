"""BinnedForestClassifier: plan, training, model, explanations and what a page shows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

from surewood import BinnedForestClassifier
from surewood.base.parameters import checked_parameters
from surewood.tables import begin_fit
from surewood.trees.forest_plan import check_together, make_plan

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def test_as_accurate_as_the_peer():
    X, y = load_breast_cancer(return_X_y=True)
    ours = cross_val_score(BinnedForestClassifier(100, random_state=0), X, y, cv=5).mean()
    peer = cross_val_score(RandomForestClassifier(100, random_state=0), X, y, cv=5).mean()
    assert ours > peer - 0.015


@pytest.mark.parametrize("splitter", ["best", "random", "completely_random"])
def test_results_do_not_depend_on_threads(splitter):
    X, y = make_classification(2000, 10, n_informative=6, n_classes=3, random_state=0)
    one, two = (
        BinnedForestClassifier(30, splitter=splitter, oob_score=True, random_state=1, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)
    np.testing.assert_array_equal(one.oob_decision_function_, two.oob_decision_function_)


def test_out_of_bag_estimates_the_accuracy():
    X, y = make_classification(1500, 8, n_informative=5, random_state=0)
    forest = BinnedForestClassifier(60, oob_score=True, random_state=0).fit(X[:1000], y[:1000])
    assert forest.oob_score_ == pytest.approx(forest.score(X[1000:], y[1000:]), abs=0.04)
    halves = BinnedForestClassifier(
        60, study={"bootstrap": False, "max_samples": 0.5}, oob_score=True, random_state=0
    )
    halves.fit(X[:1000], y[:1000])
    np.testing.assert_allclose(halves.oob_decision_function_.sum(axis=1), 1.0)


def test_a_row_that_every_tree_saw_has_no_out_of_bag_vector():
    forest = BinnedForestClassifier(1, oob_score=True, random_state=0).fit(X_IRIS, Y_IRIS)
    seen = np.isnan(forest.oob_decision_function_).any(axis=1)
    assert 0.5 < seen.mean() < 0.75


def test_importances_find_the_feature_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    forest = BinnedForestClassifier(30, random_state=0).fit(X, X[:, 2] > 0)
    assert forest.feature_importances_.argmax() == 2
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


def test_importances_agree_with_the_peer_on_all_features():
    weight = np.random.default_rng(0).integers(1, 1000, len(Y_IRIS)).astype(float)
    settings = {
        "n_estimators": 1,
        "max_features": None,
        "random_state": 0,
        "max_depth": 2,
    }
    ours = BinnedForestClassifier(**settings, study={"bootstrap": False}).fit(X_IRIS[:, 1:2], Y_IRIS, weight)
    peer = RandomForestClassifier(**settings, bootstrap=False).fit(X_IRIS[:, 1:2], Y_IRIS, weight)
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_)


def test_apply_and_decision_path_agree():
    forest = BinnedForestClassifier(5, random_state=0).fit(X_IRIS, Y_IRIS)
    leaves = forest.apply(X_IRIS)
    indicator, start = forest.decision_path(X_IRIS)
    assert leaves.shape == (150, 5)
    assert indicator.shape == (150, start[-1])
    for tree in range(5):
        part = indicator[:, start[tree] : start[tree + 1]].toarray()
        assert (part[:, 0] == 1).all()
        assert (part[np.arange(150), leaves[:, tree]] == 1).all()
        table = forest.forest_.table(tree)
        np.testing.assert_array_equal(part.sum(axis=1), table["depth"][leaves[:, tree]] + 1)


def test_warm_start_adds_the_trees_of_the_longer_forest():
    forest = BinnedForestClassifier(5, warm_start=True, random_state=0).fit(X_IRIS, Y_IRIS)
    forest.set_params(n_estimators=12).fit(X_IRIS, Y_IRIS)
    whole = BinnedForestClassifier(12, random_state=0).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(forest.predict_proba(X_IRIS), whole.predict_proba(X_IRIS))
    np.testing.assert_allclose(forest.feature_importances_, whole.feature_importances_)
    with pytest.raises(ValueError, match=r"n_estimators=3 is below the 12 trees that warm_start=True keeps"):
        forest.set_params(n_estimators=3).fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match="warm_start needs the columns and classes of the first fit"):
        forest.set_params(n_estimators=13).fit(X_IRIS[:, :2], Y_IRIS)


def mixed_frame(n=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "job": pd.Categorical(rng.choice(["baker", "clerk", "smith", "tailor"], n)),
            "age": rng.integers(18, 80, n).astype(float),
            "city": rng.choice(["Aix", "Bonn", "Cork"], n).astype(object),
        }
    )
    y = np.where(frame["job"].isin(["baker", "smith"]) ^ (frame["age"] > 50), "yes", "no")
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "job"] = np.nan
    return frame, y


@pytest.mark.parametrize("splitter", ["best", "random", "completely_random"])
def test_frames_with_categories_and_missing_values(splitter):
    frame, y = mixed_frame()
    forest = BinnedForestClassifier(60, splitter=splitter, random_state=0).fit(frame, y)
    new, truth = mixed_frame(seed=1)
    assert forest.score(new, truth) > (0.85 if splitter == "best" else 0.75)
    new["job"] = new["job"].cat.add_categories("astronaut")
    new.loc[:20, "job"] = "astronaut"
    shares = forest.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_a_set_of_categories_is_one_split():
    codes = np.tile(np.arange(6.0), 50)
    y = np.isin(codes, [0, 2, 5])
    forest = BinnedForestClassifier(1, study={"bootstrap": False}, categorical_features=[0]).fit(
        codes[:, None], y
    )
    assert len(forest.forest_.nodes) == 3
    split = forest.forest_.path(0, 1, forest.mapper_)[0]
    assert set(split.categories) in ({0, 2, 5}, {1, 3, 4})


def test_missing_values_go_to_the_better_side():
    x = np.concatenate([np.linspace(0, 1, 50), np.full(50, np.nan), np.linspace(2, 3, 50)])
    y = np.repeat([0, 1, 1], 50)
    forest = BinnedForestClassifier(1, study={"bootstrap": False}).fit(x[:, None], y)
    assert forest.score(x[:, None], y) == 1.0
    assert len(forest.forest_.nodes) == 3
    assert forest.predict([[np.nan]])[0] == 1
    unseen = BinnedForestClassifier(1, study={"bootstrap": False}).fit(
        np.array([[0.0], [1.0], [1.0]]), [0, 1, 1]
    )
    assert unseen.predict([[np.nan]])[0] == 1  # no missing value in training: with the larger child


def test_zero_weight_is_absence():
    weight = (Y_IRIS != 2).astype(float)
    forest = BinnedForestClassifier(10, random_state=0).fit(X_IRIS, Y_IRIS, weight)
    absent = BinnedForestClassifier(10, random_state=0).fit(X_IRIS[:100], Y_IRIS[:100])
    np.testing.assert_array_equal(forest.predict_proba(X_IRIS)[:, :2], absent.predict_proba(X_IRIS))
    assert (forest.predict_proba(X_IRIS)[:, 2] == 0).all()


def test_pickle_is_small_and_faithful():
    forest = BinnedForestClassifier(20, random_state=0).fit(X_IRIS, Y_IRIS)
    text = pickle.dumps(forest)
    np.testing.assert_array_equal(pickle.loads(text).predict_proba(X_IRIS), forest.predict_proba(X_IRIS))
    peer = pickle.dumps(RandomForestClassifier(20, random_state=0).fit(X_IRIS, Y_IRIS))
    bare = pickle.dumps(BinnedForestClassifier(20, random_state=0, remember_rows=False).fit(X_IRIS, Y_IRIS))
    assert len(bare) < len(peer) / 5
    background = forest.background_.nbytes  # rows kept to explain predictions
    assert len(text) - len(bare) < 16 * len(X_IRIS) + background + 600  # the rest: two hashes of each row


def test_failed_fits_leave_nothing_behind():
    forest = BinnedForestClassifier(max_features=9)
    with pytest.raises(ValueError, match="max_features must be at most the number of features, 4, got 9"):
        forest.fit(X_IRIS, Y_IRIS)
    with pytest.raises(NotFittedError):
        forest.predict(X_IRIS)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_refused(value):
    forest = BinnedForestClassifier(2).fit(X_IRIS, Y_IRIS)
    X = X_IRIS.copy()
    X[3, 1] = value
    with pytest.raises(ValueError, match="infinity"):
        BinnedForestClassifier(2).fit(X, Y_IRIS)
    with pytest.raises(ValueError, match="infinity"):
        forest.predict_proba(X)


def test_calibration_on_out_of_bag_shares_improves_log_loss():
    X, y = make_classification(1500, 12, n_informative=4, flip_y=0.2, weights=[0.8], random_state=0)
    plain, calibrated = (
        BinnedForestClassifier(60, calibrate=c, random_state=0).fit(X[:1000], y[:1000]) for c in (False, True)
    )
    np.testing.assert_array_equal(plain.predict(X), calibrated.predict(X))
    assert not hasattr(calibrated, "oob_score_")
    losses = [log_loss(y[1000:], model.predict_proba(X[1000:])) for model in (plain, calibrated)]
    assert losses[1] < losses[0]
    with pytest.raises(ValueError, match="calibrate needs rows outside the bag"):
        BinnedForestClassifier(5, study={"bootstrap": False}, calibrate=True).fit(X, y)
    with pytest.raises(ValueError, match="calibrate must be True, False, 'auto', 'temperature'"):
        BinnedForestClassifier(5, calibrate="well").fit(X, y)


X, Y = load_iris(return_X_y=True)


def plan_of(**parameters):
    forest = BinnedForestClassifier(**parameters)
    values = checked_parameters(forest)
    check_together(values)
    return make_plan(values, begin_fit(forest, X, Y, merge=False), seed=0)


def test_defaults():
    plan = plan_of()
    assert (plan.n_trees, plan.max_bins, plan.calibration) == (100, 255, None)
    assert not plan.needs_votes
    assert (plan.trees.sampling, plan.trees.n_draws, plan.trees.max_features) == ("bootstrap", None, 2)


def test_study_switches_reach_the_engine():
    plan = plan_of(
        study={
            "max_bins": 31,
            "min_samples_split": 0.1,
            "min_impurity_decrease": 0.01,
        },
        min_weight_fraction_leaf=0.05,
    )
    assert plan.max_bins == 31
    assert plan.trees.min_samples_split == 15
    assert plan.trees.min_weight_fraction_leaf == 0.05
    assert plan.trees.min_impurity_decrease == 0.01


@pytest.mark.parametrize(
    ("parameters", "drawn"),
    [
        ({}, ("bootstrap", None)),
        ({"study": {"max_samples": "auto"}}, ("bootstrap", None)),
        ({"study": {"bootstrap": False}}, ("all", None)),
        ({"study": {"max_samples": 20}}, ("bootstrap", 20)),
        ({"study": {"bootstrap": False, "max_samples": 0.5}}, ("subsample", 0.5)),
    ],
)
def test_rows_are_drawn_as_asked(parameters, drawn):
    trees = plan_of(**parameters).trees
    assert (trees.sampling, trees.n_draws) == drawn


def test_calibration_needs_votes():
    plan = plan_of(calibrate=True)
    assert (plan.calibration, plan.needs_votes, plan.wants_votes) == ("auto", True, False)
    assert plan_of(splitter="completely_random").trees.max_features == 1


@pytest.mark.parametrize(
    ("parameters", "error", "sentence"),
    [
        ({"n_estimators": 0}, ValueError, "n_estimators must be an integer of at least 1, got 0."),
        ({"n_estimators": 1.5}, TypeError, "n_estimators must be an integer of at least 1, got 1.5."),
        ({"splitter": "good"}, ValueError,
         "splitter must be 'best', 'random' or 'completely_random', got 'good'."),
        ({"criterion": "mse"}, ValueError, "criterion must be 'gini', 'entropy' or 'log_loss', got 'mse'."),
        ({"min_samples_leaf": 1.5}, ValueError,
         "min_samples_leaf must be an integer of at least 1 or a fraction above 0 and at most 1, got 1.5."),
        ({"min_weight_fraction_leaf": 0.7}, ValueError,
         "min_weight_fraction_leaf must be a number from 0 to 0.5, got 0.7."),
        ({"study": {"max_bins": 300}}, ValueError,
         "study['max_bins'] must be an integer from 2 to 255, got 300."),
        ({"max_features": "many"}, ValueError,
         "max_features must be 'auto', 'sqrt', 'log2', an integer of at least 1, "
         "a fraction above 0 and at most 1 or None, got 'many'."),
        ({"study": {"max_samples": 1000}}, ValueError,
         "study['max_samples'] must be at most the number of rows, 150, got 1000."),
        ({"study": {"bootstrap": False}, "oob_score": True}, ValueError,
         "oob_score needs rows outside the bag: leave study['bootstrap'] at True, "
         "or use study['max_samples']."),
        ({"splitter": "completely_random", "max_features": 3}, ValueError,
         "max_features must be 'auto' or 1 for completely random trees, which try one feature "
         "per node, got 3."),
    ],
)  # fmt: skip
def test_bad_parameters_get_one_sentence(parameters, error, sentence):
    with pytest.raises(error) as caught:
        BinnedForestClassifier(**parameters).fit(X, Y)
    assert str(caught.value) == sentence


def test_numbers_of_numpy_are_numbers():
    assert plan_of(n_estimators=np.int64(3), max_depth=np.uint8(2)).n_trees == 3


def test_votes_are_for_the_rows_of_the_user():
    forest = BinnedForestClassifier(10, oob_score=True, random_state=0).fit(X, Y)  # with two equal rows
    votes = forest.oob_decision_function_
    assert votes.shape == (150, 3)
    known = ~np.isnan(votes[:, 0])
    assert forest.oob_score_ == (votes[known].argmax(axis=1) == Y[known]).mean()


@pytest.fixture(scope="module")
def forest():
    return BinnedForestClassifier(12, oob_score=True, calibrate=True, random_state=0).fit(X, Y)


def test_both_ways_to_probabilities_agree(forest):
    table = forest.schema_.read(X)
    np.testing.assert_array_equal(
        forest.model_.probabilities(table, 1), forest.model_.raw_probabilities(np.ascontiguousarray(X), 1)
    )
    votes = forest.model_.trees.predict_proba(forest.model_.binned(table))
    np.testing.assert_allclose(forest.model_.calibrated(votes), forest.predict_proba(X), atol=1e-12)


def test_evidence_is_the_out_of_bag_error_where_it_was_asked_for(forest):
    [evidence] = forest.__certificate_evidence__()
    assert evidence.value == 1.0 - forest.oob_score_
    assert evidence.n == int((~np.isnan(forest.oob_decision_function_[:, 0])).sum())
    silent = BinnedForestClassifier(5, calibrate=True, random_state=0).fit(X, Y)
    assert list(silent.__certificate_evidence__()) == []


def test_votes_and_leaves_are_those_of_the_trees():
    forest = BinnedForestClassifier(6, max_depth=3, random_state=0).fit(X, Y)
    rows = forest.model_.explain(forest.schema_.read(X[:4]), 1)
    leaves = forest.apply(X[:4])
    for k, row in enumerate(rows):
        assert [tree["leaf"] for tree in row["trees"]] == leaves[k].tolist()
        votes = np.mean([list(tree["votes"].values()) for tree in row["trees"]], axis=0)
        np.testing.assert_allclose(votes, forest.predict_proba(X[[k]])[0])
        splits = [step["feature"] for tree in row["trees"] for step in tree["path"]]
        assert {item["feature"] for item in row["features"]} == set(splits)


X_report_facts, y = load_iris(return_X_y=True)


def test_figures_and_steps():
    model = BinnedForestClassifier(7, max_depth=2, random_state=0).fit(X_report_facts, y)
    facts = model.__report_facts__(None)
    assert (facts["title"], facts["figures"][0]["value"]) == ("Binned forest", 7)
    explained = model.explain(X_report_facts[:1])[0]
    votes, splits, tree = model.__explanation_steps__(explained)
    agreeing = sum(one["vote"] == explained["prediction"] for one in explained["trees"])
    assert votes["lines"][0] == f"{agreeing} of 7 trees vote for {explained['prediction']}"
    assert explained["features"][0]["feature"] in splits["lines"][0]
    assert tree["lines"]
