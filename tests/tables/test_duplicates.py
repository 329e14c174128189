"""Equal rows become one; the order of rows cannot be heard."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

from surewood.tables import TableSchema, begin_fit, merge_equal_rows
from surewood.tables import duplicates as module


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
