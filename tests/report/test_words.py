"""Numbers as people read them."""

import pytest

from surewood.report.words import FILTERS, memory, number, percent, percent_up, seconds


def test_a_guarantee_is_never_rounded_down():
    assert percent_up(0.12340001) == "12.35 %"
    assert percent_up(0.1234) == "12.34 %"
    assert percent_up(1.2) == "100.00 %"
    assert percent_up(None) == percent(None) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        ("<b>", "<b>"),
        (3.0, "3"),
        (-1234567, "-1,234,567"),
        (float("nan"), "–"),
        (-1e400, "−∞"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


def test_decimals_where_they_are_asked_for():
    assert number(1234.5678, 2) == "1,234.57"
    assert number(float("inf"), 2) == "∞"


def test_durations_and_sizes_change_their_unit():
    assert [seconds(v) for v in (None, 9.999, 59.96, 61, 3600)] == [
        "–",
        "10.00 s",
        "60.0 s",
        "1 min 1 s",
        "1 h 0 min",
    ]
    assert [memory(v) for v in (None, 999, 1000, 2.5e9)] == ["–", "999 B", "1.0 kB", "2.5 GB"]


def test_templates_know_all_of_them():
    assert set(FILTERS) == {
        "capitalize_first",
        "percent",
        "percent_up",
        "number",
        "seconds",
        "memory",
        "counted",
    }
