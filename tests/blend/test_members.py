"""Which members suit a table."""

import pytest

from surewood.blend.members import MANY_CLASSES, NAMES, PLAIN_FACTOR, TableSize, build, suitable


def test_an_ordinary_table_gets_every_member():
    assert [suitable(name, TableSize(1000, 10, 3)) for name in NAMES] == [""] * 4


@pytest.mark.parametrize(
    ("name", "size"),
    [("composite forest", TableSize(5000, 10, MANY_CLASSES + 1)), ("margin forest", TableSize(40, 10, 2))],
)
def test_a_member_that_cannot_pay_its_cost_is_left_out_with_a_reason(name, size):
    assert str(size.n_classes if name == "composite forest" else size.n_rows) in suitable(name, size)
    assert suitable("random forest", size) == ""


def test_members_share_their_parameters():
    shared = {"n_jobs": 2, "random_state": 3, "verbose": 0, "class_weight": None,
              "categorical_features": "from_dtype", "remember_rows": False}  # fmt: skip
    for name in NAMES:
        member = build(name, 7, 0.01, shared)
        assert member.n_jobs == 2
        assert member.random_state == 3
        plain = name in ("random forest", "extra-trees")
        assert member.n_estimators == (7 * PLAIN_FACTOR if plain else 7)
