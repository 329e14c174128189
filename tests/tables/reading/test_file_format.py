"""What a file is."""

import bz2
import gzip
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from surewood.tables import DataError
from surewood.tables.reading import file_format
from surewood.tables.reading.file_format import (
    COMPRESSIONS,
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
    with pytest.raises(DataError, match=r"^'a\\nb.csv' has a line break in its name; rename the file\.$"):
        refuse_address("a\nb.csv")


def test_damaged_archives(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n")[:-6])
    with pytest.raises(DataError, match="cannot be decompressed, or is cut short"):
        unpacked(path, ".gz")


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_files_that_unpack_to_what_no_table_holds_are_refused(tmp_path, monkeypatch, ending):
    """Scaled down: 10 MB of one row are fine where 20 MB always are, and too much where 1 MB is."""
    path, text = tmp_path / f"t.csv{ending}", b"a,b\n" + b"1,2\n" * 2_500_000
    if ending == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
            archive.writestr("t.csv", text)
    elif ending == ".zst":
        path.write_bytes(pa.compress(text, "zstd", asbytes=True))
    else:
        path.write_bytes({".gz": gzip, ".bz2": bz2}[ending].compress(text))
    monkeypatch.setattr(file_format, "_ALWAYS_FINE", 20 << 20)
    assert unpacked(path, ending) == text
    monkeypatch.setattr(file_format, "_ALWAYS_FINE", 1 << 20)
    with pytest.raises(DataError, match="unpacks to more than 400 times its size; no table does that"):
        unpacked(path, ending)


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
