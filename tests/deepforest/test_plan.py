"""Plans: forests, depths, folds and rules from parameters; the same plan and data give the same model."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold

from surewood.base.parameters import study_settings
from surewood.base.time_limit import TimeLimit
from surewood.deepforest import (
    CascadeForestClassifier,
    MarginDeepForestClassifier,
    MarginDeepForestClassifierCV,
)
from surewood.deepforest.data import prepare
from surewood.deepforest.forests import (
    AUTO_BLOCKS,
    TreeSettings,
    parse_members,
    parse_schedules,
    tree_params,
)
from surewood.deepforest.plan import make_plan
from surewood.deepforest.training import train


@pytest.fixture(scope="module")
def table():
    return make_classification(120, 5, random_state=0)


def planned(model, table):
    parameters = {**model.get_params(deep=False), **study_settings(model), "time_limit": TimeLimit(None)}
    with model._begin_fit(*table, None, merge=False) as inputs:
        data = prepare(inputs, parameters)
        return make_plan(parameters, data, seed=0), data


def test_auto_compares_every_block_with_every_depth(table):
    plan, _ = planned(MarginDeepForestClassifier(random_state=0), table)
    assert len(plan.candidates) == plan.n_first_layers == len(AUTO_BLOCKS) * 2
    assert {candidate.seed for candidate in plan.candidates} == {plan.candidates[0].seed}


def test_a_search_has_a_candidate_per_setting_and_shares_first_layers(table):
    model = MarginDeepForestClassifierCV(
        forests=["random"], thetas=(0.7, 0.8, 0.9), mus=(0.01, 0.1), schedules=(4, 8)
    )
    plan, _ = planned(model, table)
    assert (len(plan.candidates), plan.n_first_layers) == (12, 2)
    assert [(c.step.theta, c.step.mu_loss) for c in plan.candidates[:3]] == [
        (0.7, 0.01),
        (0.7, 0.1),
        (0.8, 0.01),
    ]
    assert plan.halving == 3.0


def test_a_cascade_has_one_candidate(table):
    model = CascadeForestClassifier(max_depth=3, screening=1, calibrate=False)
    plan, _ = planned(model, table)
    (candidate,) = plan.candidates
    assert (candidate.max_depth, candidate.screening) == (3, 1.0)
    assert candidate.depths(5) == [3] * 4
    assert plan.calibration is None


def test_sizes_and_words_become_numbers(table):
    model = MarginDeepForestClassifier(
        min_samples_leaf=0.05, calibrate="isotonic", study={"reweighting": "none"}
    )
    plan, _ = planned(model, table)
    assert plan.candidates[0].trees.min_samples_leaf == 6
    assert plan.calibration == "isotonic"
    assert plan.candidates[0].reweighting == "none"


def test_folds_of_the_user_are_those_of_every_layer(table):
    plan, prepared = planned(MarginDeepForestClassifier(cv=KFold(4)), table)
    assert {candidate.n_folds for candidate in plan.candidates} == {4}
    fold = np.repeat(np.arange(4), 30)[prepared.source]
    for seed in (0, 1):
        np.testing.assert_array_equal(prepared.training.deal(4, seed), fold)


def test_chosen_blocks_follow_the_table_and_given_forests_the_paper(table):
    def rules(model):
        plan, _ = planned(model, table)
        candidate = plan.candidates[0]
        return candidate.pilot_trees, candidate.patience, candidate.min_improvement

    assert rules(MarginDeepForestClassifier()) == (10, 1, "noise")
    assert rules(MarginDeepForestClassifierCV()) == (10, 1, "noise")
    assert rules(MarginDeepForestClassifier.paper()) == (None, 3, 1e-4)
    assert rules(MarginDeepForestClassifier(forests=["random"])) == (None, 3, 1e-4)
    assert rules(MarginDeepForestClassifier(1)) == (None, 1, "noise")  # one tree has no halves
    given = {"pilot_trees": 4, "patience": 2, "min_improvement": 0.0}
    assert rules(MarginDeepForestClassifier(3, study=given)) == (3, 2, 0.0)


def test_kinds_pairs_and_classifiers():
    members = parse_members(["random", ("completely_random", 7), LogisticRegression()], 20)
    assert [(m.kind, m.n_trees) for m in members[:2]] == [("random", 20), ("completely_random", 7)]
    assert not members[2].is_forest


@pytest.mark.parametrize(
    ("forests", "error", "message"),
    [
        (
            ["forest"],
            ValueError,
            "forests[0] must be 'random', 'extra', 'completely_random', 'contrast', a pair",
        ),
        (
            ["random", ("extra", 0)],
            ValueError,
            "a pair of a kind of forest and a number of trees or a classifier",
        ),
        ([RidgeClassifier()], ValueError, "or a classifier with predict_proba, got RidgeClassifier()."),
        ([3], TypeError, "got 3."),
    ],
)
def test_what_is_not_a_forest_is_refused(forests, error, message):
    with pytest.raises(error, match=re.escape(message)):
        parse_members(forests, 10)


def test_how_trees_are_grown():
    random, extra, wild = parse_members(["random", "extra", "completely_random"], 5)
    settings = TreeSettings(max_features="sqrt", min_samples_leaf=3)
    params = [tree_params(m, settings, 100, 8) for m in (random, extra, wild)]
    assert [p.splitter for p in params] == ["best", "random", "completely_random"]
    assert [p.sampling for p in params] == ["bootstrap", "all", "all"]
    assert [p.max_features for p in params] == [10, 10, 1]
    assert {p.max_depth for p in params} == {8}
    drawn = tree_params(random, TreeSettings(weighting="resample"), 100, None)
    assert drawn.sampling == "resample"


def test_trees_see_at_most_so_many_rows():
    random, extra = parse_members(["random", "extra"], 5)
    few = TreeSettings(most_rows=100)
    for member, sampling in ((random, "bootstrap"), (extra, "subsample")):
        limited = tree_params(member, few, 10, None, n_rows=400)
        assert (limited.sampling, limited.n_draws) == (sampling, 0.25)
        free = tree_params(member, TreeSettings(), 10, None, n_rows=400)
        assert tree_params(member, few, 10, None, n_rows=100) == free
        assert free.n_draws is None


@pytest.mark.parametrize("bad", [0, 2.5, [1], "deep", True, [1, 0]])
def test_what_is_no_schedule_is_refused(bad):
    with pytest.raises(ValueError, match="one of these for each of the 2 forests, got"):
        parse_schedules(bad, 2)


def test_a_contrast_classifier_has_one_depth(table):
    plan, _ = planned(MarginDeepForestClassifier(forests=["contrast", "extra"]), table)
    assert [candidate.schedule for candidate in plan.candidates] == [(16, 16)]


def test_the_same_plan_and_data_give_the_same_model(table):
    small = {"n_estimators": 3, "max_layers": 2, "cv": 3}
    plan, data = planned(MarginDeepForestClassifier(**small), table)
    first, second = (train(plan, data) for _ in range(2))
    np.testing.assert_array_equal(first.held_out, second.held_out)
    assert first.forests == second.forests


@pytest.mark.parametrize(("forests", "has_numbers"), [(["random"], False), ([LogisticRegression()], True)])
def test_numbers_are_kept_only_for_classifiers(table, forests, has_numbers):
    model = MarginDeepForestClassifier(3, forests=forests, max_layers=1, cv=3, random_state=0).fit(*table)
    assert model.model_.reader.has_numbers is has_numbers


def test_everything_compared_is_counted(table):
    study = {"monitor": "neg_log_loss"}
    model = MarginDeepForestClassifier(
        3, forests=["random"], depth_schedule="auto", max_layers=2, cv=3, study=study, random_state=0
    ).fit(*table)
    assert len(model.layers_) == 2
    assert model.model_.n_compared == 2 + 2  # depths, layers
