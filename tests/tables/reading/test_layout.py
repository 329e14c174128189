"""Where a text table begins and how its columns are set apart."""

import pytest

from surewood.tables import DataError
from surewood.tables.reading.layout import (
    HEAD,
    bytes_needed,
    find_layout,
    find_separator,
    lines_of,
    refuse_duplicates,
)


def test_decimal_commas_do_not_make_commas_separators():
    assert find_separator(["a;b", "1,5;2,5", "1,25;3"]) == ";"


def test_the_beginning_of_a_file_is_enough():
    text = b"\nsep=;\na;b\n" + b"01;2\n" * (HEAD // 4)
    assert find_layout(text[: bytes_needed(text[:HEAD])]) == find_layout(text)
    wide = b",".join(b"name %d" % k for k in range(20_000)) + b"\n" + b",".join([b"1"] * 20_000)
    assert bytes_needed(wide[:HEAD]) == 0
    assert bytes_needed(wide) == 4 * (wide.index(b"\n") + 1)


def test_names_on_two_lines():
    found = find_layout(b'a,"b\nc"\n1,2\n')
    assert (found.header_lines, len(found.names)) == (2, 2)


def test_many_names_are_compared_in_one_pass():
    class Name(str):
        """A name that counts how often it is compared."""

        compared = 0

        def __eq__(self, other):
            Name.compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

        def __str__(self):
            return self

    refuse_duplicates([Name(f"name {k}") for k in range(40_000)], "wide.csv")
    assert Name.compared < 100_000
    with pytest.raises(DataError, match="more than one column called 'name 0', 'name 1'"):
        refuse_duplicates([f"name {k % 20_000}" for k in range(40_000)], "wide.csv")


ROWS = "\n".join(f"{k},x{k}" for k in range(6)) + "\n"


@pytest.mark.parametrize(
    ("text", "names", "skipped"),
    [
        ("a,b\n" + ROWS, ["a", "b"], 0),
        ("# one\n#\n# by Smith, J.\na,b\n" + ROWS, ["a", "b"], 3),
        ("#a,b\n" + ROWS, ["#a", "b"], 0),
        ("# made today\n#a,b\n" + ROWS, ["#a", "b"], 1),
        ("Sales 2024\n\na,b\n" + ROWS, ["a", "b"], 2),
        ("text\nred\ngreen, or so\nblue\n", ["text"], 0),  # one column, one comma
        ("a;b\n" + ROWS, ["a", "b"], 0),  # no title: another mark divides it
        ("Sales\na,b\n1,2\n", ["Sales"], 0),  # too few rows
        ('"Sales of 5"" pipes"\na,b\n' + ROWS, ["a", "b"], 1),
    ],
)
def test_comments_and_titles_above_the_header(text, names, skipped):
    found = find_layout(text.encode())
    assert (found.names, found.skipped) == (names, skipped)
    assert text.encode()[found.start :].startswith(found.names[0].encode())


def test_a_header_that_lacks_a_name():
    named = "a,b\n" + "".join(f"r{k},{k},2\n" for k in range(6))
    assert find_layout(named.encode()).names == ["column 1", "a", "b"]
    ended = "a,b\n" + ROWS.replace("\n", ",\n")
    assert find_layout(ended.encode()).names == ["a", "b", "column 3"]
    same_names = "a,b\n" + "".join(f"north,{k},2\n" for k in range(6))
    assert find_layout(same_names.encode()).names == ["a", "b"]
    assert find_layout(b"a,b\n1,2,3\n").names == ["a", "b"]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_only_ends_of_lines_end_lines(odd):
    found = find_layout(f"a{odd}b,y\n1,2\n3,4\n".encode())
    assert (found.names, found.header_lines) == ([f"a{odd}b", "y"], 1)
    assert lines_of(f"a{odd}b\r\nc\rd\n") == [f"a{odd}b\r\n", "c\r", "d\n"]


@pytest.mark.parametrize(("n_names", "length"), [(3_000, 12), (40_000, 12), (500, 200)])
def test_wide_headers_are_found_whole(n_names, length):
    names = [f"{'n' * (length - 6)}{k:06d}" for k in range(n_names)]
    rows = "".join(",".join("0" * n_names) + "\n" for _ in range(3))
    found = find_layout(f"{','.join(names)}\n{rows}".encode())
    assert (found.separator, found.names) == (",", names)


@pytest.mark.parametrize("cell", ["1,5", "1,5 %", "12,50 €", "€ 12,50", "1.234,50 EUR", "-0,125", "CHF 3,10"])
def test_points_between_thousands_where_decimal_commas_have_units(cell):
    assert find_layout(f"p;x\n17.027;{cell}\n950;{cell}\n".encode()).texts == ["p"]


@pytest.mark.parametrize("cell", ["1.5 %", "12,500", "a 1,5", "Main St 1,5"])
def test_points_are_decimal_marks_where_no_number_has_a_decimal_comma(cell):
    assert find_layout(f"p;x\n17.027;{cell}\n950;{cell}\n".encode()).texts == []


def test_columns_left_as_text():
    assert find_layout(b"b;a;c\n1.017;2;3\n", as_text=("a", "absent", "b")).texts == ["b", "a"]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("middle", ["", ";", "|x;"])
def test_a_first_name_with_a_line_break_is_no_title(end, middle):
    text = f'"a{middle}{end}b",c\n{ROWS}'
    found = find_layout(text.encode())
    assert (found.separator, found.names, found.skipped) == (",", [f"a{middle}b", "c"], 0)
