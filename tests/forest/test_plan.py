"""What a forest is told to do, and the sentences for what it cannot do."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier
from surewood.forest.plan import check_forest, make_plan
from surewood.tables import begin_fit

X, Y = load_iris(return_X_y=True)


def plan_of(**parameters):
    forest = BinnedForestClassifier(**parameters)
    check_forest(forest)
    return make_plan(forest, begin_fit(forest, X, Y, merge=False))


def test_defaults():
    plan = plan_of()
    assert (plan.n_trees, plan.max_bins, plan.calibration, plan.max_memory) == (100, 255, None, None)
    assert not plan.needs_votes
    assert (plan.trees.sampling, plan.trees.n_draws, plan.trees.max_features) == ("bootstrap", None, 2)


def test_study_switches_reach_the_engine():
    study = {"max_bins": 31, "min_samples_split": 0.1, "min_impurity_decrease": 0.01}  # fmt: skip
    plan = plan_of(study=study, min_weight_fraction_leaf=0.05)
    assert plan.max_bins == 31
    assert plan.trees.min_samples_split == 15
    assert plan.trees.min_weight_fraction_leaf == 0.05
    assert plan.trees.min_impurity_decrease == 0.01


@pytest.mark.parametrize(
    ("parameters", "drawn"),
    [
        ({}, ("bootstrap", None)),
        ({"study": {"max_samples": "auto"}}, ("bootstrap", None)),
        ({"bootstrap": False}, ("all", None)),
        ({"study": {"max_samples": 20}}, ("bootstrap", 20)),
        ({"bootstrap": False, "study": {"max_samples": 0.5}}, ("subsample", 0.5)),
    ],
)
def test_rows_are_drawn_as_asked(parameters, drawn):
    trees = plan_of(**parameters).trees
    assert (trees.sampling, trees.n_draws) == drawn


def test_calibration_needs_votes_and_memory_is_in_bytes():
    plan = plan_of(calibrate=True, max_memory="1MiB")
    assert (plan.calibration, plan.needs_votes, plan.wants_votes, plan.max_memory) == (
        "auto",
        True,
        False,
        2**20,
    )
    assert plan_of(splitter="completely_random").trees.max_features == 1


@pytest.mark.parametrize(
    ("parameters", "error", "sentence"),
    [
        ({"n_estimators": 0}, ValueError, "n_estimators must be an integer of at least 1, got 0."),
        ({"n_estimators": 1.5}, TypeError, "n_estimators must be an integer of at least 1, got 1.5."),
        ({"splitter": "good"}, ValueError,
         "splitter must be 'best', 'random' or 'completely_random', got 'good'."),
        ({"criterion": "mse"}, ValueError, "criterion must be 'gini', 'entropy' or 'log_loss', got 'mse'."),
        ({"max_depth": 0}, ValueError, "max_depth must be an integer of at least 1 or None, got 0."),
        ({"min_samples_leaf": 1.5}, ValueError,
         "min_samples_leaf must be an integer of at least 1 or a fraction above 0 and at most 1, got 1.5."),
        ({"min_weight_fraction_leaf": 0.7}, ValueError,
         "min_weight_fraction_leaf must be a number from 0 to 0.5, got 0.7."),
        ({"study": {"max_bins": 300}}, ValueError,
         "study['max_bins'] must be an integer from 2 to 255, got 300."),
        ({"study": {"bins": 3}}, ValueError,
         "study must be None or a dictionary with keys among 'min_samples_split', "
         "'max_samples', 'min_impurity_decrease', 'max_bins', got {'bins': 3}."),
        ({"max_features": "many"}, ValueError,
         "max_features must be 'auto', 'sqrt', 'log2', an integer of at least 1, "
         "a fraction above 0 and at most 1 or None, got 'many'."),
        ({"study": {"max_samples": 1000}}, ValueError,
         "study['max_samples'] must be at most the number of rows, 150, got 1000."),
        ({"bootstrap": False, "oob_score": True}, ValueError,
         "oob_score needs rows outside the bag: use bootstrap=True or study={'max_samples': 0.5}."),
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
