"""Reading raw values by the plan of a column, whoever read the table."""

import numpy as np
import pandas as pd
import pytest

from surewood.tables import DataError, plan
from surewood.tables.planning.column_plan import ColumnPlan, distinct_texts, read_column


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
