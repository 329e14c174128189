"""CSV, TSV and the like."""

import numpy as np
import pytest

from surewood.tables import DataError
from surewood.tables.reading import delimited
from surewood.tables.reading.delimited import read_delimited, scan_text, without_rules


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separators(mark):
    found = read_delimited(f"a{mark}b{mark}c\n1{mark}x y{mark}2.5\n".encode(), "t")
    assert found.separator == mark
    assert found.frame.iloc[0].tolist() == [1, "x y", 2.5]


def test_codes_and_points_between_thousands_stay_text():
    frame = read_delimited(b"zip;p;x\n01067;1.017;3,5\n10115;17.027;2\n", "t").frame
    assert frame["zip"].tolist() == ["01067", "10115"]
    assert frame["p"].tolist() == ["1.017", "17.027"]
    assert read_delimited(b"p,x\n1.017,2.5\n", "t").frame["p"].tolist() == [1.017]


def test_lines_of_rows():
    assert read_delimited(b"a\n1\n2\n\n", "t").lines is None
    assert read_delimited(b"\n\na,b\n1,x\n\n2,y\n", "t").lines.tolist() == [4, 6]
    found = read_delimited(b'a,b\n1,"x\ny"\n2,z\n', "t")
    assert found.lines.tolist() == [2, 4]


def test_empty_fields_are_missing_and_names_are_made_up():
    frame = read_delimited(b",b\n1,\n2,x\n", "t").frame
    assert frame.columns.tolist() == ["column 1", "b"]
    assert frame["b"].isna().tolist() == [True, False]


def test_a_header_alone_is_a_table_without_rows():
    found = read_delimited(b"a,b\n", "t")
    assert (found.frame.columns.tolist(), len(found.frame)) == (["a", "b"], 0)
    with pytest.raises(DataError, match=r"^t is empty\.$"):
        read_delimited(b" \n", "t")


@pytest.mark.parametrize("chunk", [1, 3, 7, 1 << 18])
def test_the_scan_agrees_with_a_walk_over_the_bytes(monkeypatch, chunk):
    monkeypatch.setattr(delimited, "_CHUNK", chunk)
    rng = np.random.default_rng(0)
    for _ in range(100):
        text = bytes(rng.choice(list(b'a,"\n'), size=rng.integers(0, 40), p=[0.4, 0.2, 0.2, 0.2]).tolist())
        quotes, broken = 0, False
        for mark in text:
            quotes += mark == ord('"')
            broken = broken or (mark == ord("\n") and quotes % 2 == 1)
        assert scan_text(text) == (text.count(b"\n"), quotes, broken)


def test_long_headers_are_read_whole():
    names = [f"column {k:05d} {'long' * 20}" for k in range(2000)]
    text = "\n".join([",".join(names), *(",".join(str(k) for _ in names) for k in range(3))])
    found = read_delimited(text.encode(), "wide.csv").frame
    assert found.columns.tolist() == names
    assert found.iloc[2].unique().tolist() == [2]


def test_tables_drawn_with_lines():
    psql = b" a | b \n---+---\n 1 | x\n 2 | y\n"
    found = read_delimited(psql, "t")
    assert found.frame["a"].tolist() == [1, 2]
    assert found.lines.tolist() == [3, 4]
    markdown = b"| a | b |\r\n|:--|---|\r\n| 1 | --- |\r\n| 2 | y |\r\n"
    assert read_delimited(markdown, "t").frame.columns.tolist() == ["a", "b"]
    plain = b"a,b\n1,---\n--,2\n"
    assert without_rules(plain) is plain


def test_what_stands_above_the_header_is_reported():
    with pytest.warns(
        UserWarning, match=r"^t: the line above the header \('# x'\) is not part of the table\.$"
    ):
        read_delimited(b"# x\na,b\n1,2\n", "t")
