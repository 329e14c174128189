"""CSV and Parquet files that somebody else made."""

import gzip

import pandas as pd
import pytest

from surewood.tables import DataError
from surewood.tables.table_file import looks_like_a_file, read_table

TEXT = "size;day;name\n1,5;31.12.2023;Köln\n2;1.1.2024;\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_separators_decimal_commas_and_dates(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode(encoding))
    frame = read_table(path)
    assert frame["size"].tolist() == [1.5, 2.0]
    assert frame["day"].tolist() == [pd.Timestamp("2023-12-31"), pd.Timestamp("2024-01-01")]
    assert frame["name"].iloc[0] == "Köln"
    assert pd.isna(frame["name"].iloc[1])


def test_compressed_text_and_parquet_are_read_alike(tmp_path):
    plain, packed, columnar = (tmp_path / name for name in ("t.csv", "t.csv.gz", "t.parquet"))
    plain.write_text("a,b\n1,x\n2,y\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    read_table(plain).to_parquet(columnar)
    assert read_table(packed).equals(read_table(plain))
    assert read_table(columnar).equals(read_table(plain))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,a\n1,2\n", "more than one column called 'a'"),
        ("t.csv", b"a,b\n1,2,3\n", "more fields than the header has names"),
        ("t.csv", b"\x00\x01", "is not a text file"),
        ("t.csv", b"a,b\n", "is an empty table"),
        ("t.parquet", b"PAR1", "is not a readable Parquet file"),
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


@pytest.mark.parametrize("name", ["a.csv", "x/y", "B.PARQUET"])
def test_names_of_files_and_of_data_sets_are_told_apart(name):
    assert looks_like_a_file(name)
    assert not looks_like_a_file("vowel")
