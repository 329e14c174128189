"""Which members suit a table.

From parameters to a plan.
"""

from __future__ import annotations

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
    TableSize,
    build,
    make_plan,
    suitable,
)


def test_an_ordinary_table_gets_every_member():
    assert [suitable(name, TableSize(1000, 10, 3)) for name in NAMES] == [""] * 5


@pytest.mark.parametrize(
    ("name", "size"),
    [("composite_forest", TableSize(5000, 10, MANY_CLASSES + 1)), ("margin_forest", TableSize(40, 10, 2))],
)
def test_a_member_that_cannot_pay_its_cost_is_left_out_with_a_reason(name, size):
    assert str(size.n_classes if name == "composite_forest" else size.n_rows) in suitable(name, size)
    assert suitable("random_forest", size) == ""


@pytest.mark.parametrize(
    ("size", "word"),
    [
        (TableSize(5000, MANY_COLUMNS + 1, 2), "columns"),
        (TableSize(FEW_ROWS - 1, 10, 2), "rows"),
        (TableSize(MANY_CELLS, 2, 2), "memory"),
    ],
)
def test_boosting_is_left_out_where_it_costs_too_much(size, word):
    assert word in suitable("boosted_trees", size)
    assert suitable("random_forest", size) == ""


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


def plan_of(size, **changes):
    return make_plan(checked_parameters(SurewoodClassifier(**changes)), size, seed=5)


def test_members_stand_in_the_order_of_their_value_per_second():
    plan = plan_of(TableSize(500, 5, 2), members=["margin_forest", "random_forest"])
    assert [member.name for member in plan.members] == ["random_forest", "margin_forest"]
    assert plan.left_out == {}


def test_named_members_are_fitted_whatever_the_table():
    plan = plan_of(TableSize(500, 5, 200), members=["composite_forest"])
    assert [member.name for member in plan.members] == ["composite_forest"]


def test_what_does_not_suit_is_left_out_and_recorded():
    plan = plan_of(TableSize(500, 5, 200))
    assert list(plan.left_out) == ["composite_forest"]
    assert "composite_forest" not in [member.name for member in plan.members]


def test_memory_is_read_as_text():
    assert plan_of(TableSize(500, 5, 2), calibrate=False).calibration is None


def test_boosting_comes_early_on_large_tables():
    names = [member.name for member in plan_of(TableSize(200_000, 5, 2)).members]
    assert names[:3] == ["random_forest", "boosted_trees", "composite_forest"]
