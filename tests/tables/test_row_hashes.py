"""Contents are hashed alike wherever they come from; equal rows become one, whatever their order."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

from surewood.tables import TableSchema, begin_fit, content_hashes, merge_equal_rows, table_content_hashes
from surewood.tables import row_hashes as module
from surewood.tables.mixing import mixed, splitmix64


def mixed_frame():
    return pd.DataFrame(
        {
            "size": [1.5, np.nan, -0.0, 1234567.0],
            "count": [3, 4, 5, 6],
            "color": ["red", None, " blue ", "red"],
            "day": pd.to_datetime(["2024-01-02", "2024-01-03", None, "2024-01-02"]),
            "ok": [True, False, True, True],
        }
    )


def test_the_same_from_pandas_polars_arrow_and_parquet(tmp_path):
    polars = pytest.importorskip("polars")
    frame = mixed_frame()
    frame.to_parquet(tmp_path / "t.parquet")
    hashes = content_hashes(frame)
    for other in (polars.from_pandas(frame), pa.Table.from_pandas(frame), tmp_path / "t.parquet",
                  frame.astype({"color": "category", "count": "Int64"})):  # fmt: skip
        assert content_hashes(other).tolist() == hashes.tolist()


def test_the_same_from_arrays_frames_and_sparse_matrices():
    import scipy.sparse as sp

    X = np.random.default_rng(0).integers(-50, 50, size=(50, 4)) / 4.0
    hashes = content_hashes(X)
    for other in (X.tolist(), np.asfortranarray(X), pd.DataFrame(X), sp.csr_matrix(X), X.astype(object)):
        assert (content_hashes(other) == hashes).all()
    single = X.astype(np.float32)
    assert (content_hashes(single) == hashes).all()


def test_a_table_read_by_its_schema_gives_the_same():
    frame = mixed_frame()
    schema = TableSchema.learn(frame, categorical_features=["color", "count"])
    assert (table_content_hashes(schema.read(frame), schema) == content_hashes(frame)).all()


def test_equal_is_exact_and_missing_values_and_zeros_are_equal():
    one = content_hashes(pd.DataFrame({"a": ["x", None, "x"], "b": [1.0, 0.0, 0.1 + 0.2]}))
    two = content_hashes(pd.DataFrame({"a": ["x", np.nan, "x "], "b": [1, -0.0, 0.1 + 0.2]}))
    assert (one == two).tolist() == [True, True, False]
    near = content_hashes(np.array([[1.0], [1.0 + 2.3e-16], [1e300], [1e-300], [-1.0]]))
    assert len(set(near.tolist())) == 5


def test_every_cell_matters_and_so_does_its_column():
    X = np.arange(12.0).reshape(3, 4)
    hashes = content_hashes(X)
    for j in range(4):
        changed = X.copy()
        changed[:, j] += 0.5
        assert (content_hashes(changed) != hashes).all()
    assert (content_hashes(X[:, ::-1]) != hashes).all()
    assert content_hashes(X[::-1]).tolist() == hashes[::-1].tolist()


def test_times_are_told_apart_by_milliseconds():
    start = datetime.datetime(2024, 1, 2)
    times = [start + datetime.timedelta(milliseconds=k) for k in (0, 1, 86_400_000)]
    frame = pd.DataFrame({"t": times})
    assert len(set(content_hashes(frame).tolist())) == 3
    assert (content_hashes(frame.astype("datetime64[ms]")) == content_hashes(frame)).all()


def test_columns_are_found_by_name():
    frame = mixed_frame()
    shuffled = frame[["ok", "day", "color", "count", "size"]].assign(extra=1)
    assert (content_hashes(shuffled, columns=list(frame)) == content_hashes(frame)).all()
    with pytest.raises(ValueError, match="the table lacks the column 'size', which the hashed rows have"):
        content_hashes(frame.drop(columns="size"), columns=list(frame))


@pytest.mark.parametrize("n_rows", [4, 1])
def test_wide_tables_are_hashed_in_blocks(monkeypatch, n_rows):
    X = np.random.default_rng(1).normal(size=(n_rows, 50))
    table, y = TableSchema.learn(X).read(X), np.zeros(n_rows, dtype=np.int32)
    whole, contents = module.row_hashes(table, y), content_hashes(X)
    monkeypatch.setattr(module, "_WIDE_BLOCK", 12)
    np.testing.assert_array_equal(module.row_hashes(table, y), whole)
    np.testing.assert_array_equal(content_hashes(pd.DataFrame(X)), contents)


def test_linear_keys_are_a_linear_form_of_the_columns():
    columns = np.random.default_rng(0).integers(0, 255, size=(3, 20), dtype=np.uint8)
    keys = module.linear_keys(columns, seed=7)
    factors = np.random.default_rng(7).integers(1, 2**63, size=3, dtype=np.uint64)
    expected = [sum(int(c) * int(f) for c, f in zip(row, factors)) % 2**64 for row in columns.T]
    assert keys.tolist() == expected
    odd = module.linear_keys(np.eye(3, dtype=np.uint64), seed=7, odd=True)
    assert (odd % 2 == 1).all()


def table_of(X):
    return TableSchema.learn(X).read(X)


small_tables = st.lists(
    st.tuples(
        st.sampled_from([0.0, -0.0, 1.0, np.nan, 1e300]), st.sampled_from([2.0, 3.0]), st.integers(0, 2)
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=80, deadline=None)
@given(rows=small_tables, seed=st.integers(0, 1000))
def test_groups_are_the_distinct_rows_in_any_order(rows, seed):
    X = np.array([r[:2] for r in rows])
    y = np.array([r[2] for r in rows], dtype=np.int32)
    distinct = {(repr(a + 0.0), b, c) for (a, b, c) in rows}
    merged = merge_equal_rows(table_of(X), y)
    assert len(merged.rows) == len(distinct)
    assert merged.weight.sum() == len(rows)
    np.testing.assert_array_equal(X[merged.rows][merged.inverse], X)
    np.testing.assert_array_equal(y[merged.rows][merged.inverse], y)
    shuffled = np.random.default_rng(seed).permutation(len(rows))
    again = merge_equal_rows(table_of(X[shuffled]), y[shuffled])
    np.testing.assert_array_equal(X[shuffled][again.rows], X[merged.rows])
    np.testing.assert_array_equal(again.weight, merged.weight)


def test_weights_are_repetitions_and_zero_is_absence():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 3)), rng.integers(0, 2, 10)
    weight = rng.integers(0, 4, 10).astype(float)
    weighted = begin_fit(DummyClassifier(), X, y, weight)
    repeated = begin_fit(
        DummyClassifier(), X.repeat(weight.astype(int), axis=0), y.repeat(weight.astype(int))
    )
    np.testing.assert_array_equal(weighted.table.matrix(), repeated.table.matrix())
    np.testing.assert_array_equal(weighted.weight, repeated.weight)
    np.testing.assert_array_equal(weighted.y, repeated.y)
    np.testing.assert_array_equal(weighted.inverse < 0, weight == 0)


def test_order_of_equal_rows_with_odd_weights_cannot_be_heard():
    X, y = np.ones((3, 1)), np.zeros(3, dtype=np.int32)
    sums = {
        merge_equal_rows(table_of(X), y, np.array(w)).weight[0]
        for w in ([0.1, 0.2, 1e16], [1e16, 0.2, 0.1], [0.2, 1e16, 0.1])
    }
    assert len(sums) == 1


def test_expand_gives_a_value_to_every_row():
    inputs = begin_fit(DummyClassifier(), [[1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], [1.0, 1.0, 1.0, 0.0])
    values = inputs.expand(inputs.table.column(0))
    np.testing.assert_array_equal(values, [1.0, 1.0, 2.0, np.nan])


def test_without_merging_rows_stay_as_given():
    X = np.array([[2.0], [1.0], [2.0]])
    inputs = begin_fit(DummyClassifier(), X, [0, 1, 0], merge=False)
    np.testing.assert_array_equal(inputs.table.matrix(), X)
    assert inputs.weight is None


def test_frames_merge_by_value():
    frame = pd.DataFrame({"c": ["u", "v", "u", None, None], "n": [1, 2, 1, 3, 3]})
    inputs = begin_fit(DummyClassifier(), frame, [0, 1, 0, 1, 1])
    assert sorted(inputs.weight) == [1.0, 2.0, 2.0]


def test_after_a_collision_another_salt_is_tried(monkeypatch):
    honest = module.row_hashes

    def colliding(table, y, salt=0):
        return np.zeros(table.n_rows, dtype=np.uint64) if salt == 0 else honest(table, y, salt)

    monkeypatch.setattr(module, "row_hashes", colliding)
    merged = merge_equal_rows(table_of(np.array([[1.0], [2.0], [1.0]])), np.zeros(3, dtype=np.int32))
    assert sorted(merged.weight) == [1.0, 2.0]


def test_every_input_bit_changes_about_half_of_the_output():
    words = np.random.default_rng(0).integers(0, 2**63, size=200, dtype=np.uint64)
    for bit in range(64):
        changed = mixed(words) ^ mixed(words ^ np.uint64(1 << bit))
        flips = np.unpackbits(changed.view(np.uint8)).reshape(200, 64).mean()
        assert 0.45 < flips < 0.55


def test_scalars_and_arrays_agree_and_wrap_around():
    last = np.uint64(2**64 - 1)
    assert splitmix64(last) == splitmix64(np.array([last]))[0]
    assert len(np.unique(splitmix64(np.arange(100_000, dtype=np.uint64)))) == 100_000
