"""Numbers as people write them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from surewood.tables.planning.numbers import (
    AmbiguousNumbers,
    NumberFormat,
    find_number_format,
    number_parts,
    one_per_shape,
    proven_decimal,
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


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1,234.5", "7"], [1234.5, 7]),
        (["1.234,5", "7"], [1234.5, 7]),
        (["1 234,5", "7"], [1234.5, 7]),
        (["1'234'567"], [1234567]),
        (["1,234,567", "17,027"], [1234567, 17027]),
        (["12,34,567.5"], [1234567.5]),
        (["$5", "-$3.50", "($1,200.00)"], [5, -3.5, -1200]),
        (["5 €", "3,5 €"], [5, 3.5]),
        (["12%", "3.5 %"], [12, 3.5]),
        (["12%", "0.5"], [0.12, 0.5]),
        (["<5", "≥ 7.5", "~3"], [5, 7.5, 3]),
        (["3 kg", "4.5 kg"], [3, 4.5]),
        (["$1.5k", "$2M"], [1500, 2000000]),
        (["5m", "7m"], [5, 7]),
        (["1e3", "2.5E-2"], [1000, 0.025]),
        (["5-", "7"], [-5, 7]),
        ([".5", "0,123"], None),
        (["0,123", "0,5"], [0.123, 0.5]),
    ],
)
def test_a_column_of_numbers(texts, values):
    found = find_number_format(texts)
    assert (found if values is None else [found.read(text) for text in texts]) == values


@pytest.mark.parametrize("texts", [["red"], ["10.0.0.1"], ["3 kg", "4 g"], ["1/2"], ["555-1234"]])
def test_no_numbers(texts):
    found = find_number_format(texts)
    assert found is None or found.read(texts[0]) is None


def test_a_thousands_mark_is_never_read_as_a_decimal_mark():
    with pytest.raises(AmbiguousNumbers, match=r"^'17,027' can be 17027 or 17.027$"):
        find_number_format(["17,027", "950"])
    assert find_number_format(["17,027"], decimal=".").read("17,027") == 17027
    assert find_number_format(["17,027"], decimal=",").read("17,027") == 17.027
    assert find_number_format(["17,027"], file_decimal=".").read("17,027") == 17027
    assert find_number_format(["17,027", "3,5"]).read("17,027") == 17.027


def test_a_later_mark_can_only_divide_thousands():
    assert NumberFormat().read("17,027") == 17027
    assert NumberFormat(decimal=",").read("17.027") == 17027
    assert NumberFormat().read("17,02") is None


def test_what_proves_the_decimal_mark():
    assert proven_decimal(["3,5"]) == ","
    assert proven_decimal(["1,234,567"]) == "."
    assert proven_decimal(["1,234"]) is None
    assert proven_decimal(["3,5", "2.5"]) is None


STYLES = (
    *(NumberFormat(), NumberFormat(thousands=","), NumberFormat(",", "."), NumberFormat(percent=True)),
    *(NumberFormat(",", "'", unit="kg"), NumberFormat(unit="$", thousands=",")),
)


@pytest.mark.parametrize("style", STYLES)
def test_a_text_alone_is_the_number_that_it_is_among_others(style):
    rng = random.Random(0)
    before, after = (
        ("", "-", "(", "$", "<"),
        ("", "", "%", ")", " kg", "k", "e5", "E-3", "e400", " Mio", "\u0663"),
    )
    texts = ["red", "", "a\nb"]
    for _ in range(2000):
        whole = rng.randint(0, 10 ** rng.randint(0, 17))
        text = (f"{whole:,}" if rng.random() < 0.5 else str(whole)) + rng.choice(
            ("", ".5", ".250", ".0123456")
        )
        if rng.random() < 0.3:
            text = text.translate(str.maketrans(",.", ".,"))
        texts.append(rng.choice(before) + text.replace(",", rng.choice(",,\u2019")) + rng.choice(after))
    summed = [style.read_all(batch) for batch in (texts, texts[3:])]  # with and without a line break
    np.testing.assert_array_equal(summed[0][3:], summed[1])
    alone = [style.read(text) for text in texts]
    np.testing.assert_array_equal(np.array(alone, dtype=float), summed[0])
    assert style.read_all([]).tolist() == []
