"""From published files to our frame: every set of the catalogue, and the quirks of the formats."""

import gzip

import numpy as np
import pandas as pd
import pytest

from surewood.datasets import DataError, catalogue
from surewood.datasets.content import content_sha256
from surewood.datasets.raw_files import RawFiles
from surewood.datasets.recipes import build_frame, unpacked
from surewood.datasets.sources import data_folder
from tests.datasets.published_files import published

HEAD = 200
A = "https://example.org/"


@pytest.mark.parametrize("name", [n for n, entry in catalogue().items() if entry.content])
def test_files_written_in_the_published_form_give_our_frame(name):
    folder, entry = data_folder(), catalogue()[name]
    if folder is None or not (folder / f"{name}.parquet").is_file():
        pytest.skip(f"SUREWOOD_DATA has no {name}.parquet")
    whole = pd.read_parquet(folder / f"{name}.parquet")
    wanted = whole.groupby("split", observed=True, sort=False).head(HEAD).reset_index(drop=True)
    files = published(entry.raw, wanted)
    found = build_frame(entry.raw, files.__getitem__, HEAD if entry.train_rows else None)
    assert found.columns.tolist() == wanted.columns.tolist()
    assert content_sha256(found) == content_sha256(wanted)
    for column in wanted:  # in a few rows all numbers of a column may be whole
        assert found[column].dtype.kind in (wanted[column].dtype.kind, "i")


def raw_of(*columns, **more):
    return RawFiles("delimited", {"all": (A + "toy.data",)}, columns, **more)


def built(raw, *contents, **more):
    return build_frame(raw, dict(zip(raw.all_addresses(), contents)).__getitem__, **more)


def test_blanks_before_between_and_after_the_numbers():
    frame = built(raw_of("target", "x1..x2", separator=" "), b"  6.0000  0.1 -1.0000 \n 5.0000 3  2 \n\n")
    assert frame["target"].tolist() == [6, 5]
    assert frame["target"].dtype == np.int8
    assert frame[["x1", "x2"]].to_numpy().tolist() == [[0.1, -1.0], [3.0, 2.0]]


def test_missing_values_comments_and_left_out_columns():
    raw = raw_of("-", "x", "kind", "target", unknown="?", comment="|")
    frame = built(raw, b"|a comment\nn1, 1, ?, no\nn2, ?, b, yes\n")
    assert frame.columns.tolist() == ["x", "kind", "target", "split"]
    assert frame["x"].isna().tolist() == [False, True]
    assert frame["kind"].isna().tolist() == [True, False]
    dropped = built(
        raw_of("-", "x", "kind", "target", unknown="?", drop_unknown=True), b"n,1,?,no\nm,2,b,yes\n"
    )
    assert dropped["target"].tolist() == ["yes"]


def test_the_text_na_is_no_missing_value():
    assert built(raw_of("kind", "target"), b"NA,a\nnull,b\n")["kind"].tolist() == ["NA", "null"]


def test_values_are_recoded_and_the_file_may_know_the_part():
    raw = raw_of(
        "split", "x", "target", recode={"split": {"0": "train", "1": "test"}, "target": {"0": 1, "1": 2}}
    )
    frame = built(raw, b"0,5,0\n1,6,1\n", n_train=1)
    assert frame["split"].tolist() == ["train", "test"]
    assert frame["target"].tolist() == [1, 2]


def test_the_first_rows_of_undivided_files_are_the_training_part():
    frame = built(raw_of("x", "target"), b"1,a\n2,b\n3,a\n", n_train=2)
    assert frame["split"].tolist() == ["train", "train", "test"]


def test_sparse_rows_are_filled_with_zeros_and_single_precision_is_kept():
    raw = RawFiles(
        "libsvm", {"train": (A + "a",), "test": (A + "a.t",)}, ("f0..f2", "target"), dtype="float32"
    )
    frame = built(raw, b"+1 1:0.1 3:2\n", b"-1 2:1\n")
    assert frame["split"].tolist() == ["train", "test"]
    assert frame[["f0", "f1", "f2"]].to_numpy().tolist() == [[np.float32(0.1), 0, 2], [0, 1, 0]]
    assert [str(frame[name].dtype) for name in ("f0", "f1", "target")] == ["float32", "int8", "int8"]


def test_compressed_files_are_known_by_their_first_bytes():
    packed = gzip.compress(b"1,a\n")
    assert unpacked(packed, A + "x.gz") == b"1,a\n" == unpacked(b"1,a\n", A + "x.gz")
    with pytest.raises(DataError, match=r"x\.gz cannot be unpacked"):
        unpacked(packed[:-6], A + "x.gz")


def test_a_file_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("surewood.datasets.recipes.MOST_BYTES_UNPACKED", 3)
    with pytest.raises(DataError, match="larger than 1 GiB"):
        unpacked(gzip.compress(b"1234"), A + "x.gz")


def test_a_cut_idx_file_is_refused():
    raw = RawFiles("idx", {"all": (A + "images", A + "labels")}, ("p0..p3", "target"))
    image = b"\0\0\x08\x03" + b"\0\0\0\x01" + b"\0\0\0\x02" * 2 + b"abcd"
    label = b"\0\0\x08\x01\0\0\0\x01\x07"
    assert built(raw, image, label)["target"].tolist() == [7]
    with pytest.raises(DataError, match="cut short"):
        built(raw, image[:-1], label)
