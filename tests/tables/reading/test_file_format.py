"""What a file is."""

import gzip
from pathlib import Path

import pytest

from surewood.tables import DataError
from surewood.tables.reading.file_format import (
    format_of,
    looks_like_a_file,
    refuse_address,
    refuse_other_formats,
    unpacked,
)


@pytest.mark.parametrize("name", ["a.csv", "x/y", "B.PARQUET", "t.csv.zst", "-", "t.xlsx"])
def test_names_of_files_and_of_data_sets_are_told_apart(name):
    assert looks_like_a_file(name)
    assert not looks_like_a_file("vowel")


def test_endings():
    assert format_of(Path("T.CSV.GZ")).compression == ".gz"
    assert format_of(Path("t.feather")).kind == "arrow"
    with pytest.raises(
        DataError, match=r"^t\.doc has an unsupported extension; supported are \.arrow, \.csv,"
    ):
        format_of(Path("t.doc"))


def test_addresses_are_not_paths():
    with pytest.raises(DataError, match=r"^https://x/t\.csv is an address; download the file first"):
        refuse_address("https://x/t.csv")


def test_damaged_archives(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n")[:-6])
    with pytest.raises(DataError, match="cannot be decompressed, or is cut short"):
        unpacked(path, ".gz")


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
