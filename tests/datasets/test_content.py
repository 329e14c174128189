"""The checksum of a data set's values."""

import numpy as np
import pandas as pd
import pytest

from surewood.datasets import catalogue
from surewood.datasets.content import content_sha256
from surewood.datasets.sources import data_folder

MOST_CELLS = 10_000_000  # larger sets take seconds


@pytest.fixture
def frame():
    return pd.DataFrame(
        {"x": [0.0, 1.5, np.nan], "n": [3, 1, 2], "kind": ["a", None, "ä"], "target": ["p", "q", "p"]}
    )


def test_order_of_rows_and_types_do_not_matter(frame, tmp_path):
    wanted = content_sha256(frame)
    other = frame.iloc[[2, 0, 1]].astype({"x": "float32", "n": "Int8", "kind": "category"})
    assert content_sha256(other) == wanted
    frame.to_parquet(tmp_path / "a.parquet", compression="gzip")
    assert content_sha256(pd.read_parquet(tmp_path / "a.parquet")) == wanted
    assert content_sha256(frame.assign(x=[-0.0, 1.5, np.nan])) == wanted


@pytest.mark.parametrize(
    "change",
    [
        {"n": [3, 1, 3]},
        {"x": [0.0, 1.5, 0.0]},
        {"kind": ["a", "", "ä"]},
        {"target": ["p", "p", "q"]},
        {"n": ["3", "1", "2"]},
    ],
)
def test_values_and_kinds_matter(frame, change):
    assert content_sha256(frame.assign(**change)) != content_sha256(frame)


def test_names_and_the_number_of_rows_matter(frame):
    assert content_sha256(frame.rename(columns={"n": "m"})) != content_sha256(frame)
    assert content_sha256(pd.concat([frame, frame.iloc[:1]])) != content_sha256(frame)


def test_a_block_boundary_changes_nothing(monkeypatch, frame):
    wanted = content_sha256(frame)
    monkeypatch.setattr("surewood.datasets.content._ROWS_PER_BLOCK", 2)
    assert content_sha256(frame) == wanted


@pytest.mark.parametrize("name", [n for n, entry in catalogue().items() if entry.content])
def test_the_catalogue_has_the_checksum_of_the_files(name):
    folder, entry = data_folder(), catalogue()[name]
    if folder is None or not (folder / f"{name}.parquet").is_file():
        pytest.skip(f"SUREWOOD_DATA has no {name}.parquet")
    if entry.rows * entry.columns > MOST_CELLS:
        pytest.skip(f"{name} is large")
    assert content_sha256(pd.read_parquet(folder / f"{name}.parquet")) == entry.content
