"""What "auto" means."""

import re

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier as Forest
from surewood.composite import pilot
from surewood.composite.plan import affordable_leaf, default_depth, draws, make_plan, pilot_depths
from tests.composite.composite_samples import prepared, sample


def plan_of(forest, data):
    return make_plan(forest._parameters(), data, 0)


def test_small_samples_are_not_tuned():
    data = prepared(*sample(40))
    plan = plan_of(Forest(), data)
    assert plan.searched.n_settings == 1
    assert plan.parts[0][0].sampling == "all"
    assert plan.plain_weight == 0.0


def test_the_best_settings_divide_the_trees():
    data = prepared(*sample(200))
    plan = plan_of(Forest(n_estimators=10), data)
    assert sum(n for _, n in plan.parts) == 10
    assert len(plan.parts) == 3


def test_larger_samples_keep_the_pilots_leaves(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_ROWS", 100)
    data = prepared(*sample(400))
    plan = plan_of(Forest(n_estimators=6, max_depth=3, C=1.0), data)
    assert {s.max_depth for s, _ in plan.parts} == {3}
    assert np.concatenate([s.C for s, _ in plan.parts]) == pytest.approx(1.0)


def test_the_largest_depth_offered_is_recorded():
    data = prepared(*sample(120))
    bounded = plan_of(Forest(selection="exact", max_depth=3, C=1.0, study={"max_leaf_size": None}), data)
    assert bounded.searched.max_depth == 3
    assert bounded.searched.n_settings == 1
    deeper = plan_of(Forest(selection="exact", max_depth=3, C=1.0), data)
    assert deeper.searched.max_depth == 60  # a limit on the size of leaves lets them go deeper


def test_a_tuned_C_counts_as_a_comparison():
    data = prepared(*sample(120))
    assert plan_of(Forest(selection="exact", degrees=(1, 2)), data).searched.n_settings == 6**2
    assert plan_of(Forest(selection="common_degree", degrees=(1, 2)), data).searched.n_settings == 6 * 2


def test_what_follows_from_the_parts_is_in_the_plan():
    data = prepared(*sample(120))
    plan = plan_of(Forest(selection="exact", C=1.0), data)
    assert plan.calibration == "auto"
    assert plan.out_of_fold
    bags = plan_of(Forest(selection="exact", C=1.0, plain_weight=0.2, study={"max_samples": 0.5}), data)
    assert not bags.out_of_fold
    assert bags.n_plain == 500
    assert plan_of(Forest(selection="exact", C=1.0, calibrate=False), data).calibration is None


def test_leaves_shrink_where_trees_are_many():
    assert affordable_leaf(1000, 100) == 1000
    assert affordable_leaf(2000, 100) == 1000
    assert affordable_leaf(20_000, 100) == 200
    assert pilot_depths(2000, 200)[0] == 3
    assert [pilot_depths(n, affordable_leaf(n, 100))[0] for n in (1250, 1300, 2000)] == [0, 1, 1]
    assert pilot_depths(60, 2000) == (0, 1, 2)


def test_the_default_depth_leaves_twenty_rows_per_leaf():
    assert [default_depth(n) for n in (1, 39, 40, 80, 320, 10**6)] == [0, 0, 1, 2, 4, 4]


def test_draws_without_replacement_of_all_rows_are_all_rows():
    assert draws(False, 1.0, 10) == ("all", None)
    assert draws(True, 1.0, 10) == ("bootstrap", 10)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_features": 99}, "max_features must be at most the number of features, 6, got 99."),
        ({"C": [1.0] * 3, "degrees": (1, 2)}, "C must be one number or one for each of the 2 degrees, got"),
        ({"max_depth": -1}, "max_depth must be 'auto' or an integer from 0 to 60, got -1."),
        (
            {"plain_weight": 1.0},
            "plain_weight must be 'auto' or a weight of at least 0 and below 1, got 1.0.",
        ),
        (
            {"study": {"max_samples": 10_000}},
            "max_samples must be at most the number of distinct rows, 120, got 10000.",
        ),
    ],
)
def test_what_cannot_be_used_is_one_sentence(parameters, sentence):
    X, y = sample(120)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Forest(**({"n_estimators": 4, "random_state": 0} | parameters)).fit(X, y)
