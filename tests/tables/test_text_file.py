"""Text tables: encoding, where the table begins, what is wrong and on which line."""

from __future__ import annotations

import numpy as np
import pytest

from surewood.tables import DataError
from surewood.tables.text_file import (
    COMMA_SEPARATED,
    Reading,
    as_utf8,
    find_layout,
    find_separator,
    lines_of,
    read_delimited,
    refuse_duplicates,
    refuse_other_formats,
    scan_text,
    without_rules,
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding):
    assert as_utf8("größe €".encode(encoding), "t") == "größe €".encode()


@pytest.mark.parametrize("first", ["utf-8", "cp1252"])
def test_two_encodings_in_one_file_are_refused_with_the_line(first):
    second = "cp1252" if first == "utf-8" else "utf-8"
    raw = "é\nplain\n".encode(first) + "ö\n".encode(second)
    with pytest.raises(DataError, match=r"^t mixes encodings: from line 3 on it is not what it was before;"):
        as_utf8(raw, "t")


def test_what_is_said_is_obeyed():
    assert as_utf8(b"\xa4", "t", "iso-8859-15") == "€".encode()
    with pytest.raises(DataError, match=r"^there is no encoding 'klingon'\.$"):
        as_utf8(b"a", "t", "klingon")
    with pytest.raises(DataError, match=r"^t is not in ascii: line 2 does not fit\.$"):
        as_utf8(b"a\n\xff", "t", "ascii")


def test_decimal_commas_do_not_make_commas_separators():
    assert find_separator(["a;b", "1,5;2,5", "1,25;3"]) == ";"


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
    assert list(lines_of(f"a{odd}b\r\nc\rd\n".encode())) == [f"a{odd}b\r\n", "c\r", "d\n"]


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
    assert find_layout(b"b;a;c\n1.017;2;3\n", Reading(as_text=("a", "absent", "b"))).texts == ["b", "a"]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("middle", ["", ";", "|x;"])
def test_a_first_name_with_a_line_break_is_no_title(end, middle):
    text = f'"a{middle}{end}b",c\n{ROWS}'
    found = find_layout(text.encode())
    assert (found.separator, found.names, found.skipped) == (",", [f"a{middle}b", "c"], 0)


RAGGED, OPEN, SECOND = (
    "where the header has 2",
    "the quote that opens on line 2 is never",
    "has a second header on",
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b'a,b\n"1\n1",2\n3,4,5\n', f"t: line 4 has 3 fields {RAGGED}"),
        (b"# x\n\na,b\n1\n", f"t: line 4 has 1 field {RAGGED}"),
        (b'a,b\n1,"x\n2,y\n3,"z"\n', f"t: {OPEN} closed"),
        (b'a,b\n1,"x\n2,y\n', f"t: {OPEN} closed"),
        (b"a,b\na,b\n1,x\n2,y\n", f"t {SECOND} line 2; remove it"),
        (b"\n\na,b\ncm,x\n1,2\n2,3\n", rf"t {SECOND} line 4 \(cm, x\); remove it"),
        (b" \n", "t is empty"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(text, sentence):
    with pytest.raises(DataError, match=rf"^{sentence}\.$"):
        read_delimited(text, "t")


@pytest.mark.parametrize("text", [b'a,b\n1,5" pipe\n2,3\n', b"a,b\n?,x\n1,y\n2,z\n"])
def test_an_inch_mark_is_no_quote_and_a_missing_value_no_header(text):
    assert len(read_delimited(text, "t")[0]) == text.count(b"\n") - 1


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separators(mark):
    frame, _ = read_delimited(f"a{mark}b{mark}c\n1{mark}x y{mark}2.5\n".encode(), "t")
    assert frame.attrs == {COMMA_SEPARATED: mark == ","}
    assert frame.iloc[0].tolist() == [1, "x y", 2.5]


def test_codes_and_points_between_thousands_stay_text():
    frame = read_delimited(b"zip;p;x\n01067;1.017;3,5\n10115;17.027;2\n", "t")[0]
    assert frame["zip"].tolist() == ["01067", "10115"]
    assert frame["p"].tolist() == ["1.017", "17.027"]
    assert read_delimited(b"p,x\n1.017,2.5\n", "t")[0]["p"].tolist() == [1.017]


def test_lines_of_rows():
    assert read_delimited(b"a\n1\n2\n\n", "t")[1].tolist() == [2, 3]
    assert read_delimited(b"\n\na,b\n1,x\n\n2,y\n", "t")[1].tolist() == [4, 6]
    assert read_delimited(b'a,b\n1,"x\ny"\n2,z\n', "t")[1].tolist() == [2, 4]


def test_empty_fields_are_missing_and_names_are_made_up():
    frame = read_delimited(b",b\n1,\n2,x\n", "t")[0]
    assert frame.columns.tolist() == ["column 1", "b"]
    assert frame["b"].isna().tolist() == [True, False]


def test_a_header_alone_is_a_table_without_rows():
    frame, _ = read_delimited(b"a,b\n", "t")
    assert (frame.columns.tolist(), len(frame)) == (["a", "b"], 0)


def test_the_scan_agrees_with_a_walk_over_the_bytes():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        text = bytes(rng.choice(list(b'a,"\n'), size=rng.integers(0, 40), p=[0.4, 0.2, 0.2, 0.2]).tolist())
        quotes, broken = 0, False
        for mark in text:
            quotes += mark == ord('"')
            broken = broken or (mark == ord("\n") and quotes % 2 == 1)
        assert scan_text(text) == (text.count(b"\n"), quotes, broken)


def test_long_headers_are_read_whole():
    names = [f"column {k:05d} {'long' * 20}" for k in range(2000)]
    text = "\n".join([",".join(names), *(",".join(str(k) for _ in names) for k in range(3))])
    found = read_delimited(text.encode(), "wide.csv")[0]
    assert found.columns.tolist() == names
    assert found.iloc[2].unique().tolist() == [2]


def test_tables_drawn_with_lines():
    psql = b" a | b \n---+---\n 1 | x\n 2 | y\n"
    frame, lines = read_delimited(psql, "t")
    assert frame["a"].tolist() == [1, 2]
    assert lines.tolist() == [3, 4]
    markdown = b"| a | b |\r\n|:--|---|\r\n| 1 | --- |\r\n| 2 | y |\r\n"
    assert read_delimited(markdown, "t")[0].columns.tolist() == ["a", "b"]
    plain = b"a,b\n1,---\n--,2\n"
    assert without_rules(plain) is plain


def test_what_stands_above_the_header_is_reported():
    with pytest.warns(
        UserWarning, match=r"^t: the line above the header \('# x'\) is not part of the table\.$"
    ):
        read_delimited(b"# x\na,b\n1,2\n", "t")


pytestmark = pytest.mark.filterwarnings("ignore:.*above the header")


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"PAR1....", "a Parquet file, not a text table"),
        (b"\xd0\xcf\x11\xe0", "an old Excel file"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\n <HTML><body>", "a web page"),
        (b"<?xml version='1.0'?>", "an XML document"),
        (b"PK\x03\x04 nothing", "a zip archive"),
    ],
)
def test_files_with_the_wrong_ending(raw, what):
    with pytest.raises(DataError, match=f"^t.csv is {what}.*line 1"):
        refuse_other_formats(raw, "t.csv")
    refuse_other_formats(b"a,b\n1,2\n", "t.csv")
