"""Which members suit a table."""

import pytest

from surewood.blend.members import (
    FEW_ROWS,
    LARGE_TABLE,
    LARGE_TABLE_FOLDS,
    MANY_BOOSTED_CLASSES,
    MANY_CELLS,
    MANY_CLASSES,
    MANY_COLUMNS,
    NAMES,
    PLAIN_FACTOR,
    TableSize,
    build,
    suitable,
)


def test_an_ordinary_table_gets_every_member():
    assert [suitable(name, TableSize(1000, 10, 3)) for name in NAMES] == [""] * 5


@pytest.mark.parametrize(
    ("name", "size"),
    [("composite forest", TableSize(5000, 10, MANY_CLASSES + 1)), ("margin forest", TableSize(40, 10, 2))],
)
def test_a_member_that_cannot_pay_its_cost_is_left_out_with_a_reason(name, size):
    assert str(size.n_classes if name == "composite forest" else size.n_rows) in suitable(name, size)
    assert suitable("random forest", size) == ""


@pytest.mark.parametrize(
    ("size", "word"),
    [
        (TableSize(5000, 10, MANY_BOOSTED_CLASSES + 1), "classes"),
        (TableSize(5000, MANY_COLUMNS + 1, 2), "columns"),
        (TableSize(FEW_ROWS - 1, 10, 2), "rows"),
        (TableSize(MANY_CELLS, 2, 2), "memory"),
    ],
)
def test_boosting_is_left_out_where_it_costs_too_much(size, word):
    assert word in suitable("boosted trees", size)
    assert suitable("random forest", size) == ""


def test_members_share_their_parameters():
    shared = {"n_jobs": 2, "random_state": 3, "verbose": 0, "class_weight": None,
              "categorical_features": "from_dtype", "remember_rows": False}  # fmt: skip
    for name in NAMES:
        member = build(name, 7, 0.01, shared)
        assert member.n_jobs == 2
        assert member.random_state == 3
        plain = name in ("random forest", "extra-trees", "boosted trees")
        assert member.n_estimators == (7 * PLAIN_FACTOR if plain else 7)


def test_expensive_members_have_fewer_models_on_large_tables():
    shared = {"n_jobs": 1, "random_state": 0}
    for n_rows in (LARGE_TABLE, LARGE_TABLE + 1):
        large = n_rows > LARGE_TABLE
        assert (build("margin forest", 7, 0.0, shared, n_rows).cv == LARGE_TABLE_FOLDS) == large
        assert (build("composite forest", 7, 0.0, shared, n_rows).study == {"n_plain_trees": 7}) == large
