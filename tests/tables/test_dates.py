"""Dates recognised by their form and turned into numbers."""

import numpy as np
import pandas as pd
import pytest

from surewood.tables.dates import PARTS, date_numbers, read_dates, recognise_dates


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["2024-05-01T10:00:00Z", None], "ISO8601"),
        (["1.2.2024", "31.12.2023"], "%d.%m.%Y"),
        (["2024/2/3"], "%Y/%m/%d"),
        (["13/02/2024", "01/02/2024"], "%d/%m/%Y"),
        (["02/13/2024"], "%m/%d/%Y"),
        (["01/02/2024"], None),  # day and month could be exchanged
        (["2024-05-01", "yesterday"], None),
        (["2024-13-01"], None),
        ([None], None),
    ],
)
def test_the_form_of_a_column(values, form):
    assert recognise_dates(pd.Series(values, dtype=object)) == form


def test_zones_become_utc_and_what_is_no_date_is_missing():
    found = read_dates(pd.Series(["2024-05-01T01:00:00+02:00", "soon", None], dtype=object), "ISO8601")
    assert found.iloc[0] == pd.Timestamp("2024-04-30 23:00")
    assert found.isna().tolist() == [False, True, True]


def test_missing_dates_are_missing_numbers():
    numbers = date_numbers(pd.Series(pd.to_datetime(["2024-02-29 06:00", None])))
    assert tuple(numbers) == PARTS
    assert [numbers[part].iloc[0] for part in PARTS] == [2024, 2, 3, 19782.25]
    assert all(np.isnan(numbers[part].iloc[1]) for part in PARTS)
