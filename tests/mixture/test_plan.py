"""Which members suit a table; from parameters to a plan."""

import numpy as np
import pytest

from surewood import SurewoodClassifier
from surewood.base.parameters import checked_parameters
from surewood.mixture.plan import (
    FEW_ROWS,
    LARGE_TABLE,
    LARGE_TABLE_FOLDS,
    MANY_CELLS,
    MANY_CLASSES,
    MANY_COLUMNS,
    NAMES,
    PLAIN_FACTOR,
    ROUNDS_FACTOR,
    build,
    in_order,
    make_plan,
    suitable,
)


@pytest.mark.parametrize(
    ("name", "size", "word"),
    [
        ("composite_forest", (5000, 10, MANY_CLASSES + 1), "pairs"),
        ("margin_forest", (FEW_ROWS - 1, 10, 2), "rows"),
        ("boosted_trees", (5000, MANY_COLUMNS + 1, 2), "columns"),
        ("boosted_trees", (FEW_ROWS - 1, 10, 2), "rows"),
        ("boosted_trees", (MANY_CELLS, 2, 2), "memory"),
    ],
)
def test_a_member_that_cannot_pay_its_cost_is_left_out_with_a_reason(name, size, word):
    assert word in suitable(name, *size)
    assert suitable("random_forest", *size) == ""
    assert suitable(name, 1000, 10, 3) == ""


def test_members_share_their_parameters():
    shared = {"n_jobs": 2, "random_state": 3, "verbose": 0, "class_weight": None,
              "categorical_features": "from_dtype", "remember_rows": False}  # fmt: skip
    for name in NAMES:
        member = build(name, 7, 0.01, shared)
        assert member.n_jobs == 2
        assert member.random_state == 3
        factor = {"random_forest": PLAIN_FACTOR, "extra_trees": PLAIN_FACTOR, "boosted_trees": ROUNDS_FACTOR}
        assert member.n_estimators == 7 * factor.get(name, 1)


def test_expensive_members_have_fewer_models_on_large_tables():
    shared = {"n_jobs": 1, "random_state": 0}
    for n_rows in (LARGE_TABLE, LARGE_TABLE + 1):
        large = n_rows > LARGE_TABLE
        assert (build("margin_forest", 7, 0.0, shared, n_rows).cv == LARGE_TABLE_FOLDS) == large
        assert (build("composite_forest", 7, 0.0, shared, n_rows).study == {"n_plain_trees": 7}) == large


def plan_of(n_classes=2, **changes):
    model, y = SurewoodClassifier(**changes), np.arange(500) % n_classes
    with model._begin_fit(np.random.default_rng(0).random((500, 5)), y, None) as inputs:
        return make_plan(checked_parameters(model), inputs, seed=5)


def test_members_stand_in_the_order_of_their_value_per_second():
    plan = plan_of(members=["margin_forest", "random_forest"])
    assert list(plan.members) == ["random_forest", "margin_forest"]
    assert plan.left_out == {}
    assert in_order(200_000)[:3] == ["random_forest", "boosted_trees", "composite_forest"]


def test_what_does_not_suit_is_left_out_and_recorded_unless_it_is_named():
    plan = plan_of(100)
    assert list(plan.left_out) == ["composite_forest"]
    assert list(plan.members) == [name for name in NAMES if name != "composite_forest"]
    assert list(plan_of(100, members=["composite_forest"]).members) == ["composite_forest"]


def test_without_calibration_there_is_no_method():
    assert plan_of(calibrate=False).calibration is None
