"""Where a data set comes from, in the order of the sources, and the checks of what was found."""

from pathlib import Path

import pandas as pd
import pytest

from surewood.datasets.built_in import DatasetInfo
from surewood.datasets.sources import cache_folder, data_folder, fetch, where
from surewood.tables.data_error import DataError

ENTRY = DatasetInfo("toy", "A toy", rows=4, columns=1, classes=2, citation="none", class_counts=(3, 1))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    cache.mkdir()
    monkeypatch.setenv("SUREWOOD_DATA", str(data))
    monkeypatch.setenv("SUREWOOD_CACHE", str(cache))
    return data, cache


def frame(target="aaab"):
    return pd.DataFrame({"x": range(4), "target": list(target), "split": "all"})


def test_folders_follow_the_environment(folders, monkeypatch):
    assert (data_folder(), cache_folder()) == folders
    monkeypatch.delenv("SUREWOOD_DATA")
    monkeypatch.delenv("SUREWOOD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert data_folder() is None
    assert cache_folder() == Path("/somewhere/surewood")


def test_the_folder_comes_before_the_cache(folders):
    data, cache = folders
    assert where(ENTRY).startswith("by hand")
    frame().to_parquet(cache / "toy.parquet")
    assert (where(ENTRY), fetch(ENTRY)[1]) == ("cache", "cache")
    frame().to_parquet(data / "toy.parquet")
    assert (where(ENTRY), fetch(ENTRY)[1]) == ("SUREWOOD_DATA", "SUREWOOD_DATA")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (frame("aabb"), "rows per class differ"),
        (frame("aaaa"), "it has 4 rows, 1 columns and 1 classes, expected 4, 1 and 2"),
        (frame().drop(columns="split"), "has no column split"),
    ],
)
def test_other_data_are_refused(folders, wrong, words):
    wrong.to_parquet(folders[0] / "toy.parquet")
    with pytest.raises(DataError, match=words):
        fetch(ENTRY)


def test_not_found_names_the_places(folders):
    with pytest.raises(DataError, match=r"'toy' was not found; looked in the folder .*not on OpenML"):
        fetch(ENTRY)
