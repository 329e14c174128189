"""The parts of a number as it is written."""

import pytest

from surewood.tables.planning.number_shape import (
    number_parts,
    one_per_shape,
    shapes_of,
    well_grouped,
    well_marked,
)


def test_parts():
    found = number_parts("($1,250.50)")
    assert (found.digits, found.currency, found.negative) == ("1,250.50", "$", True)
    assert number_parts("5 kg").unit == "kg"
    assert number_parts("3e5").exponent == "e5"
    assert (number_parts("(5"), number_parts("-5-"), number_parts("red")) == (None, None, None)


def test_shapes_of_many_texts():
    assert shapes_of(["$1,250", "x9"]) == ["$0,000", "x0"]
    assert shapes_of(["a1\nb2", "3"]) == ["a0\nb0", "0"]
    assert shapes_of([]) == []
    assert one_per_shape(["12", "34", "05", "5", "red", "blue"]) == ["12", "05", "5", "red", "blue"]


@pytest.mark.parametrize(
    ("digits", "mark", "well"),
    [("1,234", ",", True), ("12,34,567", ",", True), ("1,23", ",", False), ("1234", ",", True)],
)
def test_groups_of_digits(digits, mark, well):
    assert well_marked(digits, ".", mark) == well


def test_marks_that_occur_twice():
    assert well_grouped("1.234.567")
    assert not well_grouped("10.0.0.1")
