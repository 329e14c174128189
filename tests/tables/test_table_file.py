"""Table files of all formats, and rows of several files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from surewood.tables import DataError, plan, read_table, table_file
from surewood.tables.table_file import (
    COMPRESSIONS,
    FileRows,
    format_of,
    looks_like_a_file,
    read_table_file,
    refuse_address,
    unpacked,
)


def rows(*names):
    return FileRows.of([(name, "line", np.array([2, 3 + k])) for k, name in enumerate(names)])


def test_rows_are_named_by_file_and_line():
    found = rows("x/a.csv", "x/b.csv")
    assert [found.name(row) for row in range(4)] == [
        *("a.csv line 2", "a.csv line 3", "b.csv line 2", "b.csv line 4"),
    ]
    assert found.file_of_each() == ["a.csv", "a.csv", "b.csv", "b.csv"]
    assert rows("x/a.csv", "y/a.csv").name(2) == "y/a.csv line 2"
    assert rows("x/a.csv").name(1) == "line 3"
    some = found.take(np.array([1, 3]))
    assert (some.name(0), some.name(1)) == ("a.csv line 3", "b.csv line 4")


def test_files_without_rows():
    empty = FileRows.of([("a.csv", "line", np.array([], dtype=int)), ("b.csv", "line", np.array([2]))])
    assert empty.name(0) == "b.csv line 2"


@pytest.mark.parametrize(
    "change",
    [
        {"files": ("a", 3)},
        {"units": ("line",)},
        {"ends": np.array([2.0, 4.0])},
        {"ends": np.array([3, 2])},
        {"ends": np.array([2, 9])},
        {"numbers": [1, 2]},
    ],
)
def test_saved_rows_are_checked(change):
    state = rows("a.csv", "b.csv").__dict__ | change
    with pytest.raises(ValueError, match="the files"):
        FileRows.__new__(FileRows).__setstate__(state)


TEXT = "size;day;name\n1,5;31.12.2023;Köln\n2;1.1.2024;\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_separators_decimal_commas_and_dates(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode(encoding))
    frame = read_table(path)
    made = plan(frame)
    assert (made["size"].kind, made["size"].decimal, made["day"].kind) == ("number", ",", "date")
    assert frame["name"].iloc[0] == "Köln"
    assert pd.isna(frame["name"].iloc[1])


def test_compressed_text_and_parquet_are_read_alike(tmp_path):
    plain, packed, columnar = (tmp_path / name for name in ("t.csv", "t.csv.gz", "t.parquet"))
    plain.write_text("a,b\n1,x\n2,y\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    read_table(plain).to_parquet(columnar)
    assert read_table(packed).equals(read_table(plain))
    assert read_table(columnar).equals(read_table(plain))


def test_several_files_of_one_shape(tmp_path):
    for name, text in {"1": "a,b\n1,x\n", "2": "a,b\n?x,y\n", "3": "a,c\n1,x\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    frame = read_table([tmp_path / "1.csv", tmp_path / "2.csv"])
    assert frame.astype(str).to_numpy().tolist() == [["1", "x"], ["?x", "y"]]
    with pytest.raises(DataError, match=r"1\.csv has other columns than the other files \(it lacks .c.\)"):
        read_table([tmp_path / "1.csv", tmp_path / "3.csv"])


def test_standard_input(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n"))
    monkeypatch.setattr("sys.stdin", stream)
    found = read_table_file("-")
    assert (found.origin, found.rows.name(0)) == ("standard input", "line 2")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,a\n1,2\n", "more than one column called 'a'"),
        ("t.csv", b"a,b\n1,2,3\n", "line 2 has 3 fields where the header has 2"),
        ("t.csv", b"\x00\x01\xff", "is not a text file"),
        ("t.csv", b"a,b\n", "is an empty table"),
        ("t.parquet", b"PAR1", "is not a readable Parquet file"),
        ("t.feather", b"ARROW1", "is not a readable Arrow file"),
        ("t.xlsx", b"PK", "is not a readable Excel file"),
        ("t.jsonl", b"[1]\n", "line 1 is not a JSON object"),
        ("t.jsonl", b"[" * 100_000, "line 1 is not valid JSON"),
        ("t.parquet.gz", b"", "only text tables are read from .gz files"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_table(path)


def test_places_that_are_no_file(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        read_table(tmp_path / "absent.csv")


@pytest.mark.parametrize("row", [{"a": "x\ud800"}, {"a\udfff": 1}, {"a": ["\ud800"]}])
def test_half_characters_in_json_are_refused_with_their_line(tmp_path, row):
    path = tmp_path / "t.jsonl"
    path.write_text(f"{json.dumps({'a': 'größe'})}\n{json.dumps(row)}\n")
    with pytest.raises(DataError, match=r"t\.jsonl: line 2 holds half a character"):
        read_table(path)
    path.write_text(json.dumps({"a": "\U0001f600"}))  # two halves make a whole
    assert read_table(path)["a"].tolist() == ["\U0001f600"]


@pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 refuses the file without naming the column")
@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_bytes_that_are_no_text_are_refused_with_their_column(tmp_path, ending):
    offsets, data = np.array([0, 1, 3], dtype=np.int32), b"p\xff\xfe"
    text = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    path, table = tmp_path / f"t{ending}", pa.table({"x": [1, 2], "c": text})
    (pq.write_table if ending == ".parquet" else feather.write_feather)(table, path)
    with pytest.raises(DataError, match="column 'c' holds bytes that are not UTF-8 text"):
        read_table(path)


def test_each_row_of_merged_cells_has_their_value(tmp_path):
    rows = {
        "site": ["a", "a", "a", "b", "b"],
        "plan": ["x", "x", "y", "x", "x"],
        "net\nfee": [1.5, 2.5, 3.5, 4.5, 5],
    }
    pd.DataFrame(rows).set_index(["site", "plan"]).to_excel(tmp_path / "t.xlsx")
    frame = read_table(tmp_path / "t.xlsx")
    assert frame.to_dict("list") == {"net fee" if name == "net\nfee" else name: rows[name] for name in rows}


@pytest.mark.parametrize("name", ["a.csv", "x/y", "B.PARQUET", "t.csv.zst", "-", "t.xlsx"])
def test_names_of_files_and_of_data_sets_are_told_apart(name):
    assert looks_like_a_file(name)
    assert not looks_like_a_file("vowel")


def test_endings():
    assert format_of(Path("T.CSV.GZ")) == ("delimited", ".gz")
    assert format_of(Path("t.feather")) == ("arrow", "")
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


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_files_of_more_values_than_memory_are_refused(tmp_path, monkeypatch, name):
    """A column of one value takes little room in a file."""
    path, frame = tmp_path / name, pd.DataFrame({"a": np.zeros(10**6), "b": ["x"] * 10**6})
    frame.to_parquet(path) if name == "t.parquet" else frame.to_feather(path, compression="zstd")
    assert len(read_table_file(path).frame) == 10**6
    monkeypatch.setattr(table_file, "available_memory", lambda: 10 << 20)
    with pytest.raises(
        DataError, match=r"1,000,000 rows would need 48\.0 MB of memory; 10\.5 MB are available"
    ):
        read_table_file(path)


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
    monkeypatch.setattr(table_file, "_ALWAYS_FINE", 20 << 20)
    assert unpacked(path, ending) == text
    monkeypatch.setattr(table_file, "_ALWAYS_FINE", 1 << 20)
    with pytest.raises(DataError, match="unpacks to more than 400 times its size; no table does that"):
        unpacked(path, ending)
