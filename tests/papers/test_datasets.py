"""The catalogue agrees with itself, and a set is found, checked and refused as it should be."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from papers.datasets import DatasetInfo, cache_folder, catalogue, data_folder, fetch, info, load
from surewood.tables import DataError


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No data folder, an empty cache, no network."""
    monkeypatch.delenv("SUREWOOD_DATA", raising=False)
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))

    def refuse(**kwargs):
        raise OSError("network is unreachable")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    return tmp_path


def test_a_bundled_table_has_no_official_test_part(nowhere):
    with pytest.raises(DataError, match="wine has no official test part"):
        _ = load("wine").test


@pytest.mark.needs_data
@pytest.mark.parametrize(
    "name", [n for n, entry in catalogue().items() if entry.sha256 and n not in ("mnist", "har")]
)
def test_sets_of_the_folder_match_the_catalogue(name):
    data = load(name)
    assert data.source == "SUREWOOD_DATA"
    for paper in data.papers:
        X, y = data.part_of(paper)
        assert len(X) == len(y) > 0


@pytest.mark.needs_data
def test_adult_has_its_division_and_categories():
    data = load("adult")
    assert (len(data.train[0]), len(data.test[0])) == (32561, 16281)
    assert sum(isinstance(t, pd.CategoricalDtype) for t in data.X.dtypes) == 8
    assert data.X.isna().any().any()


@pytest.mark.needs_data
def test_the_parts_the_papers_used():
    assert len(load("usps").part_of("rcf")[0]) == 2007
    assert len(load("vowel").part_of("rcf")[0]) == 528
    with pytest.raises(DataError, match="papers that used it: rcf"):
        load("vowel").part_of("mddf")


@pytest.mark.needs_data
def test_a_changed_file_is_refused_by_name(monkeypatch, tmp_path):
    folder = data_folder()
    shutil.copy(folder / "sonar.parquet", tmp_path / "iris.parquet")
    shutil.copy(folder / "iris.parquet", tmp_path / "sonar.parquet")
    monkeypatch.setenv("SUREWOOD_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"iris\.parquet is not the 'iris' of the catalogue: its SHA-256"):
        load("iris")


def test_not_found_says_where_it_looked_and_what_to_do(nowhere):
    with pytest.raises(
        DataError, match=r"SUREWOOD_DATA \(not set\).*OpenML data set 54 \(no answer: network.*Set "
    ):
        load("vehicle")
    with pytest.raises(
        DataError,
        match=r"not on OpenML.*`python -m papers get protein` makes it from https:.*protein\.bz2 and",
    ):
        load("protein")


def iris_like(rows=150):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd")), np.repeat(
        ["x", "y", "z"], rows // 3
    )


def test_openml_is_fetched_once_and_cached(nowhere, monkeypatch):
    from sklearn.utils import Bunch

    calls = []

    def answer(**kwargs):
        calls.append(kwargs["data_id"])
        frame, target = iris_like()
        return Bunch(data=frame, target=pd.Series(target))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer)
    assert load("iris").source == "OpenML"
    assert load("iris").source == "cache"
    assert calls == [61]


def test_openml_with_other_data_is_refused(nowhere, monkeypatch):
    from sklearn.utils import Bunch

    def answer(**kwargs):
        frame, target = iris_like(120)
        return Bunch(data=frame, target=pd.Series(target))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer)
    with pytest.raises(DataError, match=r"OpenML data set 61 is not the 'iris'.*120 rows"):
        load("iris")
    assert not (nowhere / "cache").exists()


def test_a_cache_with_wrong_classes_is_refused(nowhere):
    frame, _ = iris_like()
    (nowhere / "cache").mkdir()
    frame.assign(target=["x"] * 100 + ["y"] * 30 + ["z"] * 20, split="all").to_parquet(
        nowhere / "cache" / "iris.parquet"
    )
    with pytest.raises(DataError, match="its rows per class differ"):
        load("iris")


@pytest.mark.parametrize("name", catalogue())
def test_the_numbers_of_an_entry_add_up(name):
    entry = info(name)
    assert entry.name == name
    assert entry.citation
    if entry.class_counts:
        assert len(entry.class_counts) == entry.classes
        assert sum(entry.class_counts) == entry.rows
        assert list(entry.class_counts) == sorted(entry.class_counts, reverse=True)
    if entry.train_rows is not None:
        assert entry.train_rows + entry.test_rows == entry.rows
    if entry.train_class_counts:
        assert sum(entry.train_class_counts) == entry.train_rows
    assert set(entry.papers.values()) <= {"all", "train", "test", "split"}


def test_unknown_names_get_the_nearest_ones():
    with pytest.raises(DataError, match=r"no data set called 'vowl'; did you mean vowel"):
        info("vowl")
    with pytest.raises(DataError, match="there are vowel, vehicle, dna"):
        info("zzzz")


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
    frame().to_parquet(cache / "toy.parquet")
    assert fetch(ENTRY)[1] == "cache"
    frame().to_parquet(data / "toy.parquet")
    assert fetch(ENTRY)[1] == "SUREWOOD_DATA"


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
