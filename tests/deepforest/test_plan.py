import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold

from surewood.deepforest import (
    CascadeForestClassifier,
    MarginDeepForestClassifier,
    MarginDeepForestClassifierCV,
)
from surewood.deepforest.members import AUTO_BLOCKS, parse_members
from surewood.deepforest.plan import CascadePlan, MarginPlan, PilotRule


@pytest.fixture(scope="module")
def data():
    return make_classification(120, 5, random_state=0)


def planned(model, data, **weights):
    parameters = model._parameters()
    with model._begin(*data, weights.get("sample_weight")) as inputs:
        return model._planned(parameters, inputs)


def test_auto_compares_every_block_with_every_depth(data):
    plan, _ = planned(MarginDeepForestClassifier(random_state=0), data)
    assert len(plan.candidates) == plan.n_first_layers == len(AUTO_BLOCKS) * 2
    assert plan.trial_layers == (7, 7)
    assert {candidate.seed for candidate in plan.candidates} == {plan.candidates[0].seed}


def test_a_search_has_a_candidate_per_setting_and_shares_first_layers(data):
    model = MarginDeepForestClassifierCV(
        forests=["random"], thetas=(0.7, 0.8, 0.9), mus=(0.01, 0.1), schedules=(4, 8)
    )
    plan, _ = planned(model, data)
    assert (len(plan.candidates), plan.n_first_layers) == (12, 2)
    assert [(c.step.theta, c.step.mu_loss) for c in plan.candidates[:3]] == [
        (0.7, 0.01),
        (0.7, 0.1),
        (0.8, 0.01),
    ]
    assert plan.trial_layers == (2, pytest.approx(2 + 12 * 1.5))
    assert (plan.halving, plan.refit) == (3.0, True)


def test_a_cascade_has_one_candidate(data):
    model = CascadeForestClassifier(
        max_depth=3, screening=1, study={"screening_growth": True}, calibrate=False
    )
    plan, _ = planned(model, data)
    (candidate,) = plan.candidates
    assert (candidate.max_depth, candidate.screening, candidate.screening_growth) == (3, 1.0, True)
    assert candidate.depths(5) == [3] * 4
    assert candidate.vector_columns(3) == 12
    assert plan.calibration is None


def test_validation_rows_are_stratified_and_apart(data):
    plan, prepared = planned(MarginDeepForestClassifier(study={"validation_fraction": 0.25}), data)
    assert sorted([*plan.rows, *plan.validation_rows]) == list(range(120))
    held = prepared.training.y[plan.validation_rows]
    assert len(held) == 30
    assert abs(held.mean() - data[1].mean()) < 0.05


def test_sizes_and_words_become_numbers(data):
    model = MarginDeepForestClassifier(
        min_samples_leaf=0.05, max_memory="1GB", calibrate="isotonic", study={"reweighting": "mixed"}
    )
    plan, _ = planned(model, data)
    assert plan.candidates[0].trees.min_samples_leaf == 6
    assert (plan.max_memory, plan.calibration) == (10**9, "isotonic")
    assert (plan.candidates[0].weights.kind, plan.candidates[0].weights.strength) == ("mixed", 0.5)


def test_folds_of_the_user_are_those_of_every_layer(data):
    plan, prepared = planned(MarginDeepForestClassifier(cv=KFold(4)), data)
    assert {candidate.n_folds for candidate in plan.candidates} == {4}
    fold = np.repeat(np.arange(4), 30)[prepared.ordered.source]
    for seed in (0, 1):
        np.testing.assert_array_equal(prepared.training.deal(4, seed), fold)


def test_forests_and_depths_of_a_plan():
    members = parse_members(["random", ("extra", 3)], 5)
    margin, cascade = MarginPlan(members=members, schedule=(2, None)), CascadePlan(members=members)
    assert margin.forests == cascade.forests == (("random", 5), ("extra", 3))
    assert margin.depths(2) == [6, None]
    assert cascade.depths(2) == [None, None]
    assert (margin.vector_columns(3), cascade.vector_columns(3)) == (3, 6)


def test_chosen_blocks_follow_the_table_and_given_forests_the_paper(data):
    def rules(model):
        plan, _ = planned(model, data)
        one = plan.candidates[0]
        return one.pilot, one.patience, one.min_improvement

    assert rules(MarginDeepForestClassifier()) == (PilotRule(10, 30, 0.2), 1, "noise")
    assert rules(MarginDeepForestClassifierCV()) == (PilotRule(10, 30, 0.2), 1, "noise")
    assert rules(MarginDeepForestClassifier.paper()) == (None, 3, 1e-4)
    assert rules(MarginDeepForestClassifier(forests=["random"])) == (None, 3, 1e-4)
    assert rules(MarginDeepForestClassifier(1)) == (None, 1, "noise")  # one tree has no halves
    given = {"pilot_trees": 4, "tolerance": 0.5, "patience": 2, "min_improvement": 0.0}
    assert rules(MarginDeepForestClassifier(3, study=given)) == (PilotRule(3, 9, 0.5), 2, 0.0)
