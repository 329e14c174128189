"""Bytes as text."""

import pytest

from surewood.tables import DataError
from surewood.tables.reading.text_encoding import as_utf8


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16-le"), ("cp1252", "cp1252")],
)
def test_encodings(encoding, found):
    assert as_utf8("größe €".encode(encoding), "t") == ("größe €".encode(), found)


@pytest.mark.parametrize("first", ["utf-8", "cp1252"])
def test_two_encodings_in_one_file_are_refused_with_the_line(first):
    second = "cp1252" if first == "utf-8" else "utf-8"
    raw = "é\nplain\n".encode(first) + "ö\n".encode(second)
    with pytest.raises(DataError, match=r"^t mixes encodings: from line 3 on it is not what it was before;"):
        as_utf8(raw, "t")


def test_what_is_said_is_obeyed():
    assert as_utf8(b"\xa4", "t", "iso-8859-15") == ("€".encode(), "iso-8859-15")
    with pytest.raises(DataError, match=r"^there is no encoding 'klingon'\.$"):
        as_utf8(b"a", "t", "klingon")
    with pytest.raises(DataError, match=r"^t is not in ascii: line 2 does not fit\.$"):
        as_utf8(b"a\n\xff", "t", "ascii")
