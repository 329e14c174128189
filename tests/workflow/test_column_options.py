"""What a user says about columns."""

import pandas as pd
import pytest

from surewood.tables import DataError
from surewood.workflow import ColumnOptions
from surewood.workflow.column_options import names_of, read_plan_file

TABLE = pd.DataFrame(
    {"id": ["a", "b", "c"], "code": [7, 8, 7], "when": ["3/1/2024", "4/2/2024", "9"], "x": [1, 2, 4]}
)


def test_what_is_said_overrules_what_is_found():
    options = ColumnOptions(identifiers=("id",), categorical=("code",), date=("when",), drop=("x",))
    plan = options.make_plan(TABLE)
    assert [column.kind for column in plan.columns] == ["drop", "category", "date", "drop"]
    assert plan.identifiers == ("id",)
    assert plan["when"].n_lost == 1


def test_options_change_a_given_plan():
    given = ColumnOptions().make_plan(TABLE)
    plan = ColumnOptions(plan=given, categorical=("x",), identifiers=("id",)).make_plan(TABLE)
    assert (plan["x"].kind, plan["x"].categories) == ("category", ("1", "2", "4"))
    assert plan["code"] == given["code"]
    assert plan.identifiers == ("id",)


def test_further_missing_codes():
    table = pd.DataFrame({"x": [1.0, 2.0, -9.0, 4.0], "c": ["a", "b", "zz", "b"]})
    plan = ColumnOptions(missing=("-9", "zz")).make_plan(table)
    assert plan["x"].n_missing == 1
    assert plan["c"].categories == ("a", "b")


def test_contradictions_and_unknown_names():
    with pytest.raises(DataError, match=r"^column 'x' is named twice \(drop= and date=\)\.$"):
        ColumnOptions(drop=("x",), date=("x",))
    with pytest.raises(DataError, match=r"^the table has no column 'y'\.$"):
        ColumnOptions(drop=("y",)).make_plan(TABLE)
    with pytest.raises(DataError, match=r"^decimal=; is not a decimal mark"):
        ColumnOptions(decimal=";")


def test_plan_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match=r"^there is no plan file .*none\.toml\.$"):
        read_plan_file(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("columns = 7")
    with pytest.raises(DataError, match=r"bad\.toml: the plan names no columns; write one with"):
        read_plan_file(tmp_path / "bad.toml")


def test_names_with_commas_or_repeated():
    assert names_of(["a, b", "c", "a"]) == ("a", "b", "c")
