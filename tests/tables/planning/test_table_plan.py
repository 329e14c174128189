"""Plans of tables: settled together, printed, written and read."""

import pandas as pd
import pytest

from surewood.tables import DataError, TablePlan, plan, read_table
from surewood.tables.planning.column_plan import ColumnPlan
from surewood.tables.planning.table_plan import completed

FRAME = pd.DataFrame(
    {
        "price": ["17,027", "1,250", "?"] * 4,
        "size": [1.5, 2.25, 4.0] * 4,
        "city": ["Rome", "Oslo ", 'a "b"\\\n\x7f'] * 4,
        "day": ["3/1/2024", "4/2/2024", "5/2/2024"] * 4,
        "paid": ["13/1/2024", "4/2/2024", "5/2/2024"] * 4,
    }
)


def test_columns_settle_each_other():
    made = plan(FRAME)
    assert made["price"].thousands == ","
    assert made["day"].day_first
    assert made["day"].reason == "dates, the day first as in other columns"


def test_what_nothing_settles_is_refused_with_the_option():
    with pytest.raises(DataError, match=r"'17,027' can be 17027 or 17.027, and nothing else in the table"):
        plan(FRAME[["price"]])
    assert plan(FRAME[["price"]], decimal=",")["price"].decimal == ","


def test_a_plan_survives_its_file():
    made = plan(FRAME, identifiers=["day"], drop=["paid"])
    assert TablePlan.from_toml(made.to_toml()) == made
    assert made.dropped == {
        "day": "identifier: kept beside predictions",
        "paid": "dropped on request",
    }


def test_a_plan_that_is_none():
    with pytest.raises(DataError, match="the plan is not valid TOML"):
        TablePlan.from_toml("columns = ")
    with pytest.raises(DataError, match="the plan has unknown settings 'colour'"):
        TablePlan.from_toml("colour = 1\n[columns.a]\nkind = 'number'")


def test_an_edited_plan_is_completed_from_the_table():
    edited = TablePlan(
        (ColumnPlan("size", "category"), ColumnPlan("day", "date"), ColumnPlan("city", "drop"))
    )
    made = completed(edited, FRAME)
    assert made["size"].categories == ("1.5", "2.25", "4")
    assert made["day"].date_parts == ("year", "month", "weekday", "days")
    assert made["price"].reason == "not in the plan"
    with pytest.raises(DataError, match="the table has no column 'sice'"):
        completed(TablePlan((ColumnPlan("sice", "number"),)), FRAME)


def test_the_overview_has_a_line_per_column():
    lines = str(plan(FRAME)).splitlines()
    assert lines[0].split() == ["column", "used", "as", "because", "missing", "lost", "examples"]
    assert [line.split()[0] for line in lines[1:]] == FRAME.columns.tolist()


def test_whole_numbers_of_a_german_file_have_its_marks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n;x;p\n950;3,5;1.017\n12;2,25;17.027\n")
    made = plan(read_table(path))
    assert made["n"].decimal == ","
    assert (made["p"].decimal, made["p"].thousands) == (",", ".")


def test_columns_that_are_dropped_for_one_reason_share_a_note():
    frame = pd.DataFrame(
        {**{f"c{k}": [1] * 30 for k in range(9)}, "x": range(60, 30, -1), "empty": [None] * 30}
    )
    assert plan(frame).notes() == [
        "9 columns are not used (it has one value only): 'c0', 'c1', 'c2', 'c3', 'c4', ...",
        "column 'empty' is not used: it has no value at all.",
    ]
