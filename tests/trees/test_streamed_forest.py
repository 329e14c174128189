"""Forests from Parquet: the trees of the in-memory fit where the bins are the same, whatever the batches."""

import os

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from surewood import BinnedForestClassifier
from surewood.tables import ParquetTable, begin_fit, is_mapped
from surewood.tables import parquet as parquet_module
from surewood.trees import BinnedMatrix, growing, learn_bins
from tests.contract.parquet_tables import mixed_frame, write_parts


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 100)


def assert_same_trees(one, two):
    for a, b in zip(one.forest_.arrays, two.forest_.arrays):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one.feature_importances_, two.feature_importances_, rtol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"splitter": "completely_random", "bootstrap": False},
        {"class_weight": "balanced", "study": {"max_samples": 0.5, "max_bins": 20}},
        {"categorical_features": ["integer", "text", "level", "plain", "many"]},
    ],
)
def test_the_same_trees_as_from_a_frame(tmp_path, small_batches, settings):
    frame = mixed_frame()
    folder = write_parts(frame, tmp_path / "t")
    X = frame.drop(columns="label")
    whole = BinnedForestClassifier(8, random_state=0, oob_score="study" in settings, **settings)
    whole.fit(X, frame["label"])
    streamed = BinnedForestClassifier(**whole.get_params()).fit(folder, "label")
    assert_same_trees(whole, streamed)
    np.testing.assert_array_equal(whole.predict_proba(X), streamed.predict_proba(folder))
    np.testing.assert_array_equal(whole.predict(X), streamed.predict(str(folder)))
    np.testing.assert_array_equal(whole.apply(X), streamed.apply(folder))
    assert streamed.feature_names_in_.tolist() == list(X)


def test_equal_rows_are_drawn_as_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.integers(0, 4, 400), "z": rng.integers(0, 3, 400)})
    frame["y"] = (frame["x"] + rng.integers(0, 3, 400) > 3).astype(int)
    frame.to_parquet(tmp_path / "t.parquet")
    whole = BinnedForestClassifier(10, random_state=1).fit(frame[["x", "z"]], frame["y"])
    streamed = BinnedForestClassifier(10, random_state=1).fit(tmp_path / "t.parquet", "y")
    assert_same_trees(whole, streamed)


def test_the_row_major_copy_is_in_a_file_too(tmp_path, monkeypatch):
    frame = mixed_frame()
    folder = write_parts(frame, tmp_path / "t")
    seen = []
    monkeypatch.setattr(growing, "_ROW_COPY_BYTES", 0)
    plain = BinnedMatrix.with_row_copy

    def watched(matrix):
        copied = plain(matrix)
        seen.append((is_mapped(matrix.blocks[0]), is_mapped(copied.row_blocks[0])))
        np.testing.assert_array_equal(copied.row_blocks[0], matrix.blocks[0].T)
        return copied

    monkeypatch.setattr(BinnedMatrix, "with_row_copy", watched)
    streamed = BinnedForestClassifier(4, random_state=0).fit(folder, "label")
    whole = BinnedForestClassifier(4, random_state=0).fit(frame.drop(columns="label"), frame["label"])
    assert_same_trees(whole, streamed)
    assert seen == [(True, True), (False, False)]


def test_processes_grow_the_same_trees(tmp_path):
    frame = mixed_frame()
    folder = write_parts(frame, tmp_path / "t")
    one = BinnedForestClassifier(6, random_state=0).fit(folder, "label")
    with parallel_config(backend="loky", n_jobs=2):
        two = BinnedForestClassifier(6, random_state=0).fit(folder, "label")
    assert_same_trees(one, two)


def test_more_values_than_the_sketch_holds_move_bins_a_little(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=150_000), "y": rng.integers(0, 2, 150_000)})
    frame.to_parquet(tmp_path / "t.parquet")
    with begin_fit(BinnedForestClassifier(), tmp_path / "t.parquet", "y", merge_streamed=False) as inputs:
        streamed = learn_bins(inputs.table).column_edges(0)
    whole = learn_bins(begin_fit(BinnedForestClassifier(), frame[["x"]], frame["y"]).table).column_edges(0)
    values = np.sort(frame["x"].to_numpy())
    off = np.searchsorted(values, streamed) - np.searchsorted(values, whole)
    assert len(streamed) == len(whole) == 254
    assert 0 < np.abs(off).max() / len(values) < 0.001


def test_a_warm_start_goes_on_from_a_file(tmp_path):
    folder = write_parts(mixed_frame(), tmp_path / "t")
    model = BinnedForestClassifier(4, warm_start=True, random_state=0).fit(folder, "label")
    model.set_params(n_estimators=8).fit(folder, "label")
    assert_same_trees(model, BinnedForestClassifier(8, random_state=0).fit(folder, "label"))


def test_a_fit_keeps_its_files_in_the_workdir(tmp_path, monkeypatch):
    folder = write_parts(mixed_frame(), tmp_path / "t")
    (tmp_path / "work").mkdir()
    seen = []
    grow = growing.grow_forest

    def watched(*arguments, **more):
        seen.extend(os.listdir(tmp_path / "work"))
        return grow(*arguments, **more)

    monkeypatch.setattr("surewood.forest.training.grow_forest", watched)
    BinnedForestClassifier(2).fit(ParquetTable(folder, "label", workdir=tmp_path / "work"))
    assert len(seen) == 1
    assert seen[0].startswith("surewood-")
    assert os.listdir(tmp_path / "work") == []
