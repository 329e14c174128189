"""Durations as seconds."""

import pytest

from surewood.tables.planning.durations import mixes_units, read_duration


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


def test_one_unit_is_a_number_with_a_unit():
    assert not mixes_units(["2 h", "3 hours"])
    assert mixes_units(["2 h", "30 min"])
