"""Numbers of dates against the calendar."""

import pandas as pd

from surewood.tables.planning.date_parts import PARTS, date_numbers, date_text, parts_needed


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
