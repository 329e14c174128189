"""Tables larger than memory: sketches of columns, and forests that equal those of tables in memory."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config

from surewood import BinnedForestClassifier
from surewood.tables import ParquetTable, begin_fit, is_mapped
from surewood.tables import parquet as parquet_module
from surewood.trees import growing
from surewood.trees.binning import BinnedMatrix, learn_bins
from surewood.trees.sketch import Distribution, QuantileSketch
from tests.contract.parquet_tables import mixed_frame, write_parts


def ranks(values, weights, at):
    """Weight up to each point, by definition."""
    order = np.argsort(values, kind="stable")
    cumulative = np.append(0.0, np.cumsum(weights[order]))
    return cumulative[np.searchsorted(values[order], at, side="right")]


def sketched(column, weight, n_batches, size):
    sketch = QuantileSketch(size)
    for rows in np.array_split(np.arange(len(column)), n_batches):
        sketch.add(column[rows], None if weight is None else weight[rows])
    return sketch


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "sorted": lambda rng, n: np.sort(rng.exponential(size=n)),
    "heavy": lambda rng, n: np.where(rng.random(n) < 0.4, 1.25, rng.normal(size=n)),
    "two scales": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n),
    "integers": lambda rng, n: rng.integers(0, 3000, n).astype(float),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_ranks_are_within_the_stated_error(name, weighted):
    rng = np.random.default_rng(0)
    n = 40_000
    column = COLUMNS[name](rng, n)
    weight = rng.exponential(size=n) ** 3 if weighted else None
    full = np.ones(n) if weight is None else weight
    sketch = sketched(column, weight, 60, size=256)
    found = sketch.distribution()
    points = np.concatenate([column[:2000], rng.normal(size=500)])
    off = np.abs(ranks(found.values, found.weights, points) - ranks(column, full, points)) / full.sum()
    assert off.max() <= sketch.rank_error + 1e-12
    assert sketch.rank_error < 8 / 256  # at most one gathering a level: log2(60) levels
    assert found.total == pytest.approx(full.sum())
    assert len(found.values) <= 3 * 256 * 7


def test_the_error_at_the_size_of_the_benchmark():
    """150 batches with the default size: below a twentieth of a percent."""
    rng = np.random.default_rng(1)
    sketch = QuantileSketch()
    for _ in range(150):
        sketch.add(rng.normal(size=33_000))
    assert 0 < sketch.rank_error < 0.0005


@pytest.mark.parametrize("weighted", [False, True])
def test_few_distinct_values_are_exact(weighted):
    rng = np.random.default_rng(2)
    column = rng.integers(0, 255, 5000).astype(float)
    weight = rng.integers(0, 4, 5000).astype(float) if weighted else None
    sketch = sketched(column, weight, 33, size=255)
    found = sketch.distribution()
    values = np.unique(column)
    full = np.ones(5000) if weight is None else weight
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.weights, [full[column == v].sum() for v in values])
    assert sketch.rank_error == 0.0


def test_heavy_values_keep_their_weight():
    rng = np.random.default_rng(3)
    column = np.where(rng.random(20_000) < 0.3, 7.0, rng.normal(size=20_000))
    found = sketched(column, None, 20, size=64).distribution()
    assert found.weights[found.values == 7.0] == (column == 7.0).sum()


def test_missing_values_and_rows_of_weight_0_do_not_count():
    sketch = QuantileSketch()
    sketch.add(np.array([np.nan, 1.0, 2.0, 2.0]), np.array([1.0, 0.0, 1.0, 3.0]))
    sketch.add(np.array([np.nan, np.nan]))
    found = sketch.distribution()
    assert found.values.tolist() == [2.0]
    assert found.weights.tolist() == [4.0]
    assert QuantileSketch().distribution().total == 0.0
    assert QuantileSketch().rank_error == 0.0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=300), st.integers(2, 40))
def test_gathering_never_moves_a_rank_by_more_than_it_says(values, size):
    column = np.array(values)
    exact = Distribution.of(column)
    gathered = exact.gather(size)
    off = np.abs(
        ranks(gathered.values, gathered.weights, column) - ranks(exact.values, exact.weights, column)
    )
    assert off.max() <= gathered.error + 1e-9 <= len(column)
    assert set(gathered.values) <= set(exact.values)
    assert gathered.total == pytest.approx(len(column))


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
        {"splitter": "completely_random", "study": {"bootstrap": False}},
        {"class_weight": "balanced", "study": {"max_samples": 0.5, "max_bins": 20}},
        {"categorical_features": ["integer", "text", "level", "plain", "many"]},
    ],
)
def test_the_same_trees_as_from_a_frame(tmp_path, small_batches, settings):
    frame = mixed_frame()
    folder = write_parts(frame, tmp_path / "t")
    X = frame.drop(columns="label")
    whole = BinnedForestClassifier(
        8, random_state=0, oob_score="max_samples" in settings.get("study", {}), **settings
    )
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

    monkeypatch.setattr("surewood.trees.forest_training.grow_forest", watched)
    BinnedForestClassifier(2).fit(ParquetTable(folder, "label", workdir=tmp_path / "work"))
    assert len(seen) == 1
    assert seen[0].startswith("surewood-")
    assert os.listdir(tmp_path / "work") == []
