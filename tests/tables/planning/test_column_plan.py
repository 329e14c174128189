"""Raw values read by the plan of a column; plan files from strangers are refused with one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from surewood.tables import TablePlan, plan
from surewood.tables.planning.column_plan import (
    ColumnPlan,
    distinct_texts,
    flaw_of,
    is_readable,
    read_column,
    shortened,
)
from surewood.tables.sources import DataError
from surewood.workflow.columns import read_plan_file

#: Settings of a column that no reader can follow.
SETTINGS = {
    "decimal = 5": "decimal 5; it must be a text",
    'decimal = ""': "must be one mark",
    'decimal = "(a+)+$"': "must be one mark",
    'thousands = "5"': "must be one mark",
    'unit = ["x"]': "unit .* must be a text",
    "reason = 5": "must be a text",
    "changed = [1]": "must be a text",
    'percent = "yes"': "must be true or false",
    'ordered = "no"': "must be true or false",
    'n_distinct = "many"': "must be a whole number",
    "n_lost = -5": "must be a whole number",
    "n_missing = inf": "must be a whole number",
    f"n_missing = {'9' * 400}": "must be a whole number",
    f"n_missing = {'9' * 5000}": "not valid TOML",
    'date_forms = "open"': "must be a list",
    'date_forms = ["%Y"]': "known ones are",
    'date_parts = ["import os"]': "known ones are",
    "date_parts = [1, 2]": "known ones are",
    'date_parts = ["year", "year"]': "twice",
    'truth_words = "x"': "truth_words",
    'truth_words = ["x"]': "truth_words",
    "truth_words = { x = 1e308 }": "not a number from 0 to 1",
    "truth_words = { x = nan }": "not a number from 0 to 1",
    'truth_words = { x = "a" }': "not a number from 0 to 1",
    "truth_words = { x = true }": "not a number from 0 to 1",
    'missing = "x"': "must be a list",
    "missing = [1]": "must be texts",
    "examples = [[1]]": "must be texts",
    'categories = "xyz"': "must be a list",
    'categories = [["x"]]': "no texts or numbers",
    "categories = [{ a = 1 }]": "no texts or numbers",
    "categories = [nan]": "no value",
    'categories = ["x", "x"]': "twice",
    "categories = [1, true]": "twice",
    f"categories = {'[' * 5000}{']' * 5000}": "not valid TOML",
    'name = "b"': "unknown settings 'name'",
    '"\\u001b[31m" = 3': r"unknown settings '\\x1b\[31m'",
}
#: Other plans that are none.
PLANS = {
    "[columns]\na = 3": "must be a table",
    '[columns]\na = "number"': "must be a table",
    '[columns]\na = [["kind", "number"]]': "must be a table",
    '[[columns]]\nkind = "number"': "names no columns",
    '[columns.a]\nkind = ["number"]': "has kind",
    '[columns.a]\nkind = "\\u001b[31m"': r"has kind '\\x1b\[31m'",
    f'[columns.a]\nkind = "{"k" * 100_000}"': "has kind",
    'identifiers = "b"\n[columns.a]\nkind = "number"': "identifiers",
    'identifiers = 5\n[columns.a]\nkind = "number"': "identifiers",
    'identifiers = [["a"]]\n[columns.a]\nkind = "number"': "identifiers",
    '"\\u001b[31m" = 3\n[columns.a]\nkind = "number"': "unknown settings",
    "[" * 5000: "not valid TOML",
    "x = " + "[" * 5000: "not valid TOML",
    f"{'a.' * 100_000}a = 1": "nested more deeply",
    f"[columns{'.a' * 100_000}]": "nested more deeply",
    f"x = {{ {'a . ' * 100_000}a = 1 }}": "nested more deeply",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_that_cannot_be_followed(setting):
    with pytest.raises(DataError, match=SETTINGS[setting]) as refused:
        TablePlan.from_toml(f'[columns.a]\nkind = "category"\n{setting}\n')
    assert len(str(refused.value)) < 400
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize("plan", PLANS)
def test_plans_that_are_none(plan):
    with pytest.raises(DataError, match=PLANS[plan]) as refused:
        TablePlan.from_toml(plan)
    assert len(str(refused.value)) < 400
    assert "\x1b" not in str(refused.value)


def test_a_plan_file_in_another_encoding_is_refused_with_its_name(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes('[columns."größe"]\nkind = "number"'.encode("latin-1"))
    with pytest.raises(DataError, match=r"plan\.toml is not a plan file"):
        read_plan_file(path)
    with pytest.raises(DataError, match="is not a plan file"):
        read_plan_file(tmp_path)
    with pytest.raises(DataError, match="there is no plan file"):
        read_plan_file(tmp_path / "none")


def test_a_state_from_a_model_file_is_checked_the_same_way():
    state = dict(vars(ColumnPlan("price", "number")))
    with pytest.raises(ValueError, match="of column 'price' has decimal ''; it must be one mark"):
        ColumnPlan.__new__(ColumnPlan).__setstate__({**state, "decimal": ""})


def test_honest_plans_have_no_flaw():
    k = np.arange(200)
    frame = pd.DataFrame(
        {
            "born": [f"{1 + i % 28}.{1 + i % 12}.19{50 + i % 40}" for i in k],
            "pay": [f"{1 + i % 9}.{100 + i}.000,50 €" for i in k],
            "member": np.where(k % 3 == 0, "ja", "nein"),
            "code": pd.Categorical(k % 5),
            "odd.dotted.name": k,
        }
    )
    from surewood.tables import plan

    made = plan(frame)
    assert [flaw_of(column) for column in made.columns] == [None] * 5
    assert is_readable(made.to_toml())
    assert TablePlan.from_toml(made.to_toml()).columns[0] == made.columns[0]


def test_long_values_are_shown_shortened():
    assert shortened("age") == "'age'"
    assert len(shortened("a" * 10_000)) <= 60


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["1,234.5", "950", "?", None]),
        pd.Series(["1,234.5 ", 950, np.nan, "n/a"], dtype=object),
        pd.Series([1234.5, 950.0, np.nan, np.nan]),
        pd.Series([1234.5, 950.0, None, None], dtype="Float64"),
    ],
)
def test_a_number_is_the_same_from_every_reader(column):
    plan = ColumnPlan("x", "number", thousands=",")
    np.testing.assert_array_equal(read_column(plan, column), [1234.5, 950, np.nan, np.nan])


def test_truth_values_as_words_and_as_types():
    plan = ColumnPlan("x", "boolean", truth_words={"yes": 1.0, "no": 0.0})
    assert read_column(plan, pd.Series(["Yes", "no ", "1"])).tolist() == [1.0, 0.0, 1.0]
    assert read_column(plan, pd.Series([True, False])).tolist() == [1.0, 0.0]


def test_codes_with_zeros_and_the_numbers_made_of_them():
    plan = ColumnPlan("zip", "category", categories=("01067", "10115"))
    assert read_column(plan, pd.Series([1067, 10115, 7])).tolist()[:2] == ["01067", "10115"]
    assert read_column(plan, pd.Series([1067.0, np.nan])).isna().tolist() == [False, True]
    both = ColumnPlan("zip", "category", categories=("007", "07"))
    assert read_column(both, pd.Series([7])).isna().all()


def test_dates_as_text_and_as_moments():
    plan = ColumnPlan("d", "date", date_forms=("year first",))
    moments = [pd.Timestamp("2024-03-01"), pd.NaT]
    assert read_column(plan, pd.Series(["2024-03-01", "2024-02-30"])).equals(
        pd.Series(moments, dtype="M8[us]")
    )
    assert read_column(plan, pd.Series(moments)).iloc[0] == moments[0]
    with pytest.raises(DataError, match="column 'd' held dates in training and holds numbers now"):
        read_column(plan, pd.Series([1.5]))


def test_texts_that_differ_by_white_space_are_one():
    codes, texts = distinct_texts(pd.Series(["a", " a", None, "b"]))
    assert (codes.tolist(), texts) == ([0, 0, -1, 1], ["a", "b"])


def test_a_column_of_something_else_is_refused_when_strict():
    plan = ColumnPlan("x", "number")
    assert read_column(plan, pd.Series(["red"])).isna().all()
    with pytest.raises(DataError, match="column 'x' held numbers in training; now it has 'red' and the like"):
        read_column(plan, pd.Series(["red", "?"]), strict=True)


def test_plans_as_plain_values():
    plan = ColumnPlan("x", "number", thousands=",", examples=("1,000",))
    assert plan.to_dict() == {"kind": "number", "examples": ["1,000"], "thousands": ","}
    assert ColumnPlan.from_dict("x", plan.to_dict()) == plan
    with pytest.raises(DataError, match="the plan of column 'x' has kind 'colour'; kinds are number,"):
        ColumnPlan.from_dict("x", {"kind": "colour"})
    with pytest.raises(DataError, match="the plan of column 'x' has unknown settings 'colour'"):
        ColumnPlan.from_dict("x", {"kind": "number", "colour": "red"})


def test_a_table_of_another_program_is_read_where_its_decimal_point_is_unmistakable():
    plan = ColumnPlan("price", "number", decimal=",", thousands=".")
    values = read_column(plan, pd.Series(["1.234,5", "2091.34", "17.027", "3.14159", "viel"]))
    assert values.tolist()[:4] == [1234.5, 2091.34, 17027.0, 3.14159]
    assert np.isnan(values.iloc[4])


def test_a_number_that_means_missing_however_it_is_written():
    texts = pd.DataFrame({"x": ["-999.0", "?", "1.5", "-999", "2.5"]})
    numbers = pd.DataFrame({"x": [-999.0, np.nan, 1.5, -999.0, 2.5]})
    for table in (texts, numbers):
        column = plan(table, missing=["-999"])["x"]
        assert read_column(column, table["x"]).isna().tolist() == [True, True, False, True, False]
        assert (column.n_missing, column.n_lost) == (3, 0)
