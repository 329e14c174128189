"""load(): the catalogue's sets, tables of one's own, and a clear sentence for everything else."""

import gzip
import shutil
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from surewood.datasets import DataError, catalogue, info, load, where
from surewood.datasets import sources as sources_module
from surewood.tables import read_table


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No data folder, an empty cache, no network."""
    monkeypatch.delenv("SUREWOOD_DATA", raising=False)
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))

    def refuse(**kwargs):
        raise OSError("network is unreachable")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    return tmp_path


PAPERS = [
    "vowel",
    "vehicle",
    "dna",
    "pendigits",
    "german_numeric",
    "iris",
    "abalone",
    "a1a",
    "a2a",
    "australian",
    "usps",
    "sonar",
    "breast_cancer",
    "splice",
    "ionosphere",
    "adult",
    "yeast",
    "letter",
    "protein",
    "har",
    "sensit",
    "satimage",
    "mnist",
]


def test_the_catalogue_has_the_papers_sets_and_scikit_learns():
    assert set(PAPERS) <= set(catalogue())
    assert {"wdbc", "wine", "digits", "iris_fisher"} <= set(catalogue())


@pytest.mark.parametrize("name", ["wdbc", "wine", "digits", "iris_fisher"])
def test_bundled_sets_need_nothing(nowhere, name):
    data = load(name)
    assert (len(data.X), data.X.shape[1], data.y.nunique()) == (
        info(name).rows,
        info(name).columns,
        info(name).classes,
    )
    assert data.source == "scikit-learn"
    with pytest.raises(DataError, match="no official test part"):
        _ = data.test


@pytest.mark.needs_data
@pytest.mark.parametrize("name", [n for n in PAPERS if n not in ("protein", "sensit", "mnist", "har")])
def test_sets_of_the_folder_match_the_catalogue(name):
    data = load(name)
    assert data.source == "SUREWOOD_DATA"
    assert data.citation
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
    folder = sources_module.data_folder()
    shutil.copy(folder / "sonar.parquet", tmp_path / "iris.parquet")
    shutil.copy(folder / "iris.parquet", tmp_path / "sonar.parquet")
    monkeypatch.setenv("SUREWOOD_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"iris\.parquet is not the 'iris' of the catalogue: its SHA-256"):
        load("iris")


def test_unknown_names_get_the_nearest():
    with pytest.raises(DataError, match="no data set called 'irsi'; did you mean iris"):
        load("irsi")
    with pytest.raises(DataError, match="`surewood datasets` lists the names"):
        load("zzzz")


def test_not_found_says_where_it_looked_and_what_to_do(nowhere):
    with pytest.raises(
        DataError, match=r"SUREWOOD_DATA \(not set\).*OpenML data set 54 \(no answer: network.*Set "
    ):
        load("vehicle")
    with pytest.raises(
        DataError,
        match=r"not on OpenML.*`surewood datasets get protein` makes it from https:.*protein\.bz2 and",
    ):
        load("protein")
    assert where(info("vehicle")) == "OpenML (download)"
    assert where(info("sensit")).startswith("by hand")


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
    assert where(info("iris")) == "cache"


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


MESSY = "größe;when;job;constant;class\n1,5;2024-01-02;Bäcker;7;yes\n;2024-02-03;;7;no\n2,5;;clerk;7;\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_messy_csv(tmp_path, encoding):
    path = tmp_path / "messy.csv"
    path.write_text(MESSY, encoding=encoding)
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


def test_bad_tables(tmp_path):
    frame = pd.DataFrame({"u": [1.0], "k": [0]})
    whole = tmp_path / "whole.parquet"
    frame.to_parquet(whole)
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:-20])
    (tmp_path / "twice.csv").write_text("a,a,k\n1,2,3\n")
    (tmp_path / "none.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    (tmp_path / "thing.xlsx").write_bytes(b"PK")
    for name, sentence in {
        "cut.parquet": "not a readable Parquet file, or is cut short",
        "twice.csv": "more than one column called 'a'",
        "none.csv": "is empty",
        "header.csv": "is an empty table",
        "binary.csv": "is not a text file",
        "ragged.csv": "line 3 has 3 fields where the header has 2",
        "thing.xlsx": "is not a readable Excel file",
        "absent.csv": "there is no file",
        ".": "is a folder",
    }.items():
        with pytest.raises(DataError, match=sentence):
            read_table(tmp_path / name)


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
