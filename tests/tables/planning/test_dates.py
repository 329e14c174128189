"""Forms of dates, day and month told apart, the numbers of a date, and durations as seconds."""

from __future__ import annotations

import pandas as pd
import pytest

from surewood.tables.planning.dates import (
    PARTS,
    date_numbers,
    date_text,
    find_date_format,
    parts_needed,
    read_duration,
)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-01", "2024-03-01"),
        ("2024/3/1", "2024-03-01"),
        ("1.3.2024", "2024-03-01"),
        ("1.3.24", "2024-03-01"),
        ("01.03.70", "1970-03-01"),
        ("20240301", "2024-03-01"),
        ("20240301T1530", "2024-03-01 15:30"),
        ("Mar 1, 2024", "2024-03-01"),
        ("Friday, 1 March 2024", "2024-03-01"),
        ("1st of March 2024", "2024-03-01"),
        ("1 mars 2024", "2024-03-01"),
        ("01-Mar-2024", "2024-03-01"),
        ("2024-03-01T15:30:00Z", "2024-03-01 15:30"),
        ("2024-03-01 15:30:00.5 +02:00", "2024-03-01 13:30:00.5"),
        ("3/31/2024 12:05 AM", "2024-03-31 00:05"),
        ("2024-03", "2024-03-01"),
        ("2023-W01", "2023-01-02"),
        ("2020W53", "2020-12-28"),
        ("2023-W01-3", "2023-01-04"),
        ("2023-Q2", "2023-04-01"),
        ("2023Q4", "2023-10-01"),
        ("Q3 2023", "2023-07-01"),
        ("05jan2023", "2023-01-05"),
        ("5JAN23", "2023-01-05"),
    ],
)
def test_forms(text, moment):
    assert find_date_format([text]).read_one(text) == pd.Timestamp(moment)


@pytest.mark.parametrize(
    "text", ["17", "green", "1.5", "10.0.0.1", "555-1234", "2024-13-77x", "5 apples 2024"]
)
def test_no_dates(text):
    found = find_date_format([text])
    assert found is None or found.read_one(text) is None


def test_day_or_month_is_settled_by_the_column_the_file_the_user_or_said_to_be_open():
    assert find_date_format(["3/1/2024", "13/1/2024"]).day_first
    assert not find_date_format(["3/1/2024", "1/13/2024"]).day_first
    both = ["3/1/2024", "4/2/2024"]
    assert find_date_format(both).settled == "default"
    assert find_date_format(both, file_day_first=True).settled == "file"
    assert find_date_format(both, day_first=True).day_first


def test_dates_that_do_not_exist_are_missing():
    assert find_date_format(["2024-02-29"]).read(["2024-02-30", None]).isna().all()


def test_a_year_without_a_week_53():
    assert find_date_format(["2020-W53"]).read_one("2023-W53") is None


def test_against_the_calendar():
    moments = pd.Series(pd.to_datetime(["2024-02-29", None, "1969-12-31T12:00"], format="ISO8601"))
    numbers = pd.DataFrame(date_numbers(moments, PARTS))
    assert numbers.iloc[0].tolist() == [2024, 2, 3, 19782, 0]
    assert numbers.iloc[1].isna().all()
    assert numbers.iloc[2].tolist() == [1969, 12, 2, -0.5, 12]


def test_the_hour_only_where_there_is_one():
    assert "hour" not in parts_needed(pd.Series(pd.to_datetime(["2024-02-29", None])))
    assert "hour" in parts_needed(pd.Series(pd.to_datetime(["2024-02-29 10:00"])))


def test_a_date_from_its_days():
    moments = pd.Series(pd.to_datetime(["2024-02-29", "1969-12-31T12:34", None], format="ISO8601"))
    days = date_numbers(moments, PARTS)["days"]
    assert [date_text(one) for one in days] == ["2024-02-29", "1969-12-31 12:34", None]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1:30:00", 5400),
        ("-0:00:30.5", -30.5),
        ("2 days, 3:00:00", 183600),
        ("2 h 5 min", 7500),
        ("1 hour and 30 minutes", 5400),
        ("90s", 90),
        ("250 ms", 0.25),
        ("12:30", 45000),
        ("12:05 am", 300),
        ("9:15 PM", 76500),
    ],
)
def test_seconds(text, seconds):
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["5 kg", "1:75", "h 5", "5 h 3 h", "13:00 pm", "", "1:2:3:4"])
def test_no_durations(text):
    assert read_duration(text) is None
