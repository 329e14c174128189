"""Bins: the rule, weights, missing values, categories, appended columns, odd columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surewood.tables import TableSchema
from surewood.trees import as_table, bin_array, bin_table, learn_bins


def reference_code(value, edges):
    """Number of edges below the value."""
    return 255 if np.isnan(value) else sum(edge < value for edge in edges)


@settings(max_examples=100, deadline=None)
@given(
    column=arrays(
        np.float64,
        st.integers(1, 60),
        elements=st.one_of(
            st.floats(-1e300, 1e300, allow_nan=False), st.just(np.nan), st.sampled_from([0.0, 1.0, 2.0])
        ),
    ),
    max_bins=st.sampled_from([2, 3, 10, 255]),
)
def test_codes_follow_the_edges_and_keep_the_order(column, max_bins):
    matrix = bin_array(column[:, None], max_bins=max_bins)
    codes, edges = matrix.blocks[0][0], matrix.mapper.column_edges(0)
    assert len(edges) < max_bins
    assert codes.tolist() == [reference_code(v, edges) for v in column]
    known = column[~np.isnan(column)]
    distinct = np.unique(known)
    if len(distinct) <= max_bins:
        assert len(np.unique(codes[codes < 255])) == len(distinct)
        if len(distinct):
            np.testing.assert_array_equal(matrix.mapper.values, distinct)
    values = matrix.mapper.values
    assert (np.diff(values) > 0).all()
    assert (values[:-1] <= edges).all()
    assert (edges < values[1:]).all()


def test_many_values_fill_bins_of_about_equal_weight():
    column = np.random.default_rng(0).normal(size=10_000)
    codes = bin_array(column[:, None]).blocks[0][0]
    counts = np.bincount(codes)
    assert len(counts) == 255
    assert counts.min() >= 38
    assert counts.max() <= 41


def test_a_heavy_value_stands_alone_and_leaves_bins_for_the_rest():
    rng = np.random.default_rng(0)
    column = np.concatenate([np.zeros(9000), rng.exponential(size=1000)])
    counts = np.bincount(bin_array(column[:, None]).blocks[0][0])
    assert counts[0] == 9000
    assert len(counts) > 240


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), max_bins=st.sampled_from([3, 16, 255]))
def test_weight_is_repetition_and_zero_is_absence(seed, max_bins):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2)).round(rng.integers(0, 3))
    times = rng.integers(0, 4, 80)
    times[0] = 1
    weighted = learn_bins(as_table(X), times.astype(float), max_bins)
    repeated = learn_bins(as_table(np.repeat(X, times, axis=0)), None, max_bins)
    np.testing.assert_array_equal(weighted.offset, repeated.offset)
    np.testing.assert_array_equal(weighted.values, repeated.values)
    np.testing.assert_array_equal(weighted.edges, repeated.edges)


def test_odd_columns():
    X = np.column_stack([np.full(5, np.nan), np.full(5, 3.0), [1e300, -1e300, 0.0, 1.0, np.nan]])
    matrix = bin_array(X)
    assert matrix.blocks[0].tolist() == [[255] * 5, [0] * 5, [3, 0, 1, 2, 255]]
    assert matrix.has_missing.tolist() == [1, 0, 1]
    assert np.isfinite(matrix.mapper.values).all()


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    assert bin_array(np.array([[low], [high]])).blocks[0].tolist() == [[0, 1]]


def test_categories_keep_their_codes_and_rare_ones_share():
    frame = pd.DataFrame({"few": ["b", "a", None], "many": ["x", "y", "x"]})
    table = TableSchema.learn(frame).read(frame)
    assert bin_table(table).blocks[0].tolist() == [[1, 0, 255], [0, 1, 0]]
    names = [f"c{i:03d}" for i in range(400)] + [f"c{i:03d}" for i in range(100, 354)]
    frame = pd.DataFrame({"job": names})
    codes = bin_table(TableSchema.learn(frame).read(frame)).blocks[0][0]
    frequent = codes[100:354]
    assert frequent.tolist() == list(range(254))
    assert set(codes[:100].tolist()) == {254}


def test_more_than_255_bins_are_refused():
    with pytest.raises(ValueError, match="max_bins must be between 2 and 255, got 300"):
        bin_array(np.zeros((2, 1)), max_bins=300)
