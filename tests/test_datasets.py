"""load(): bundled tables, tables of one's own, and a clear sentence for everything else."""

import gzip
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from surewood.datasets import BUNDLED, DataError, load


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_need_nothing(name):
    data = load(name)
    assert len(data.X) == len(data.y) >= 150
    assert data.source == "scikit-learn"
    assert all(isinstance(label, str) for label in data.y)


def test_unknown_names_get_the_nearest():
    with pytest.raises(DataError, match="no data set called 'wime'; did you mean wine"):
        load("wime")
    with pytest.raises(DataError, match="`surewood datasets` lists the names"):
        load("zzzz")
    with pytest.raises(DataError, match="'wine' is a bundled data set, whose target is known"):
        load("wine", target="kind")


MESSY = "größe;when;job;constant;class\n1,5;2024-01-02;Bäcker;7;yes\n;2024-02-03;;7;no\n2,5;;clerk;7;\n"


def test_a_messy_csv(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text(MESSY, encoding="cp1252")
    with pytest.warns(UserWarning, match="1 row of .* has no 'class' and was dropped"):
        data = load(path, target="class")
    assert data.X.columns.tolist() == ["größe", "when", "job", "constant"]
    assert pd.api.types.is_datetime64_any_dtype(data.X["when"])
    assert data.X["größe"].iloc[0] == 1.5
    assert data.y.tolist() == ["yes", "no"]


def test_csv_and_parquet_and_frames_give_the_same(tmp_path):
    frame = pd.DataFrame({"u": [1.0, 2.0], "v": ["p", "q"], "k": [0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "t.parquet")
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write(frame.to_csv(index=False))
    for source in [frame] + [str(tmp_path / f"t.{s}") for s in ("csv", "tsv", "parquet", "csv.gz")]:
        data = load(source, target="k")
        pd.testing.assert_frame_equal(data.X, frame[["u", "v"]], check_dtype=False)
        assert data.y.tolist() == [0, 1]


def test_bad_targets_and_frames():
    frame = pd.DataFrame({"u": [1.0], "k": [0]})
    with pytest.raises(DataError, match=r"no column 'class'; its columns are u, k"):
        load(frame, target="class")
    with pytest.raises(DataError, match="say which column"):
        load(frame)
    with pytest.raises(DataError, match="no column besides the target"):
        load(frame[["k"]], target="k")
    with pytest.raises(DataError, match="more than one column called 'k', 'u'"):
        load(pd.concat([frame, frame], axis=1), target="k")
    with pytest.raises(DataError, match="empty table"):
        load(frame.iloc[:0], target="k")
    with pytest.raises(DataError, match="has no value at all"):
        load(frame.assign(k=np.nan), target="k")
    with pytest.raises(DataError, match="got int"):
        load(7)


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        (pd.to_datetime(["2024-01-31", "2024-02-01"]), ["2024-01-31", "2024-02-01"]),
        ([date(2024, 1, 31), date(2024, 2, 1)], ["2024-01-31", "2024-02-01"]),
        ([Decimal(3), Decimal(4)], [3, 4]),
        ([Decimal("0.5"), Decimal(4)], [0.5, 4.0]),
        ([True, False], [True, False]),
    ],
)
def test_labels_are_numbers_truth_values_or_text(labels, read):
    """A model file and a page hold nothing else; a fit on dates failed after the training."""
    assert load(pd.DataFrame({"a": [1, 2], "y": labels}), target="y").y.tolist() == read
