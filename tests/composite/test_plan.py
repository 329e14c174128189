"""What "auto" means."""

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier as Forest
from surewood.composite import pilot
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.plan import make_plan
from tests.composite.composite_samples import prepared, sample


def plan_of(forest, data):
    return make_plan(forest._parameters(), data, 0, SolverOptions())


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
