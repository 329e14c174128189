"""What is wrong with a text table, and on which line."""

import pyarrow as pa
import pytest

from surewood.tables import DataError
from surewood.tables.reading.damage import first_bad_line, refuse_open_quote, refuse_second_header


def test_ragged_lines():
    assert first_bad_line(b"a,b\n1,2\n", ",", 2, 0) == ""
    assert first_bad_line(b'a,b\n"1\n1",2\n3,4,5\n', ",", 2, 0) == (
        "line 4 has 3 fields where the header has 2"
    )
    assert first_bad_line(b"a,b\n1\n", ",", 2, 3) == "line 5 has 1 field where the header has 2"


@pytest.mark.parametrize("text", [b'a,b\n1,"x\n2,y\n3,"z"\n', b'a,b\n1,"x\n2,y\n'])
def test_open_quotes(text):
    with pytest.raises(DataError, match=r"^t\.csv: the quote that opens on line 2 is never closed\.$"):
        refuse_open_quote(text, ",", "t.csv", 0)


def test_an_inch_mark_is_no_quote():
    refuse_open_quote(b'a,b\n1,5" pipe\n', ",", "t.csv", 0)


def test_second_headers():
    twice = pa.table({"a": ["a", "1", "2"], "b": ["b", "x", "y"]})
    with pytest.raises(DataError, match=r"^t\.csv has a second header on line 2; remove it\.$"):
        refuse_second_header(twice, "t.csv", 0, [""])
    units = pa.table({"a": ["cm", "1", "2"], "b": ["", "x", "y"]})
    with pytest.raises(DataError, match=r"^t\.csv has a second header on line 4 \(cm, \); remove it\.$"):
        refuse_second_header(units, "t.csv", 2, [""])
    refuse_second_header(pa.table({"a": ["?", "1", "2"]}), "t.csv", 0, ["?"])
