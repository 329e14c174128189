"""From columns to bins: cuts, codes, categories, whole-number weights, tables and arrays in one call."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surewood import _core
from surewood.tables import TableSchema
from surewood.trees.binning import as_table, bin_array, bin_table, category_bins, learn_bins, quantise_weights
from tests.instruction_sets import each_instruction_set
from tests.trees import reference_bins


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
    names = 12 * [f"c{i:03d}" for i in range(400)] + [f"c{i:03d}" for i in range(100, 354)]
    frame = pd.DataFrame({"job": names, "id": [f"i{k}" for k in range(len(names))]})
    codes, identifiers = bin_table(TableSchema.learn(frame).read(frame)).blocks[0]
    frequent = codes[100:354]
    assert frequent.tolist() == list(range(254))
    assert set(codes[:100].tolist()) == {254}
    assert set(identifiers.tolist()) == {0}


def test_more_than_255_bins_are_refused():
    with pytest.raises(ValueError, match="max_bins must be between 2 and 255, got 300"):
        bin_array(np.zeros((2, 1)), max_bins=300)


TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")


def tables_of_numbers(dtype, rng):
    """Columns with few values, many, ties, heavy values, outliers, and missing values."""
    n = 3000
    columns = [
        rng.normal(0, 30, n),
        rng.integers(0, 5, n),
        np.where(rng.random(n) < 0.6, 7.0, rng.normal(0, 1000, n)),
        rng.exponential(20, n) ** 3,
        np.full(n, 3.0),
        rng.normal(1e6, 400, n),
        np.concatenate([[-1e9, 1e9], rng.normal(size=n - 2) * 50]),
        rng.integers(-(2**62), 2**62, n).astype(float),
    ]
    kind = np.dtype(dtype)
    if kind.kind != "f":
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        top = np.nextafter(float(high), 0.0) if high > 2**53 else float(high)
        return np.column_stack([np.clip(np.rint(c), low, top) for c in columns]).astype(kind)
    X = np.column_stack(columns).astype(kind)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, 4] = np.nan
    X[5, 1], X[6, 1] = -0.0, 0.5
    return X


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("weights", ["none", "counts", "floats"])
def test_every_type_and_layout_gives_the_bins_of_the_reference(dtype, order, weights):
    rng = np.random.default_rng(TYPES.index(dtype))
    X = tables_of_numbers(dtype, rng)
    if order == "strided":
        wide = np.zeros((2 * len(X), 3 * X.shape[1]), dtype=X.dtype)
        wide[::-2, ::3] = X
        X = wide[::-2, ::3]
    else:
        X = np.asarray(X, order=order)
    weight = {
        "none": None,
        "counts": rng.integers(0, 4, len(X)).astype(float),
        "floats": rng.random(len(X)) * (rng.random(len(X)) < 0.8),
    }[weights]
    units = None
    if weight is not None:
        units = np.zeros(len(X))
        units[weight > 0] = quantise_weights(weight[weight > 0])
    for max_bins in (2, 20, 255):
        mapper = learn_bins(as_table(X), weight, max_bins)
        expected = []
        for j in range(X.shape[1]):
            found = reference_bins.distinct_values(X[:, j], units)
            values, edges = reference_bins.number_bins(*found, max_bins)
            span = slice(mapper.offset[j], mapper.offset[j + 1])
            np.testing.assert_array_equal(mapper.values[span], values)
            np.testing.assert_array_equal(mapper.edges[span], edges)
            expected.append(reference_bins.codes(X[:, j], edges[:-1]))
        for _ in each_instruction_set():
            np.testing.assert_array_equal(mapper.codes(as_table(X)), expected)
            at_once = bin_table(as_table(X), weight, max_bins)
            np.testing.assert_array_equal(at_once.mapper.edges, mapper.edges)
            np.testing.assert_array_equal(at_once.mapper.values, mapper.values)
            np.testing.assert_array_equal(at_once.blocks[0], expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_bins_of_one_type_code_every_other_as_the_reference(dtype):
    rng = np.random.default_rng(7)
    learned = learn_bins(as_table(tables_of_numbers("f8", rng)))
    X = tables_of_numbers(dtype, rng)
    codes = learned.codes(as_table(X))
    for j in range(X.shape[1]):
        np.testing.assert_array_equal(codes[j], reference_bins.codes(X[:, j], learned.column_edges(j)))


def test_codes_at_edges_and_beyond_the_range_of_floats():
    mapper = learn_bins(as_table(np.array([[-1e300], [0.1], [0.3], [1e300]])))
    for dtype in (np.float32, np.float64):
        X = np.array([[0.2], [np.nextafter(dtype(0.2), dtype(1))], [-3e38], [3e38], [np.nan]], dtype=dtype)
        expected = reference_bins.codes(X[:, 0], mapper.column_edges(0))
        assert mapper.codes(as_table(X))[0].tolist() == expected.tolist()


def test_bins_do_not_depend_on_threads_rows_or_the_presence_of_categories():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 70))
    one, two = bin_array(X), bin_array(X, n_jobs=2)
    np.testing.assert_array_equal(one.blocks[0], two.blocks[0])
    np.testing.assert_array_equal(one.mapper.edges, two.mapper.edges)
    rows = rng.permutation(500)[:300]
    taken = bin_table(as_table(X).take(rows))
    np.testing.assert_array_equal(taken.blocks[0], bin_array(X[rows]).blocks[0])
    frame = pd.DataFrame(X[:, :40]).rename(columns=str)
    frame.insert(10, "job", rng.choice(["a", "b"], 500))
    mixed = bin_table(TableSchema.learn(frame).read(frame), n_jobs=2)
    np.testing.assert_array_equal(np.delete(mixed.blocks[0], 10, axis=0), one.blocks[0][:40])
    assert set(mixed.blocks[0][10].tolist()) == {0, 1}


def test_sorting_falls_back_where_leading_bits_do_not_tell_values_apart():
    rng = np.random.default_rng(0)
    cluster = 1.0 + rng.integers(0, 4000, 5000) * 2.0**-52
    column = np.concatenate([cluster, [-1e9, 1e9]])
    values, edges = reference_bins.number_bins(*reference_bins.distinct_values(column), 255)
    mapper = learn_bins(as_table(column[:, None]))
    np.testing.assert_array_equal(mapper.values, values)
    np.testing.assert_array_equal(mapper.edges, edges)


def difficult_columns(n, rng):
    """Real numbers that spread badly: ties, tails, steps, gaps, tiny and huge ranges, both zeros."""
    normal = rng.normal(size=n)
    tiny = np.finfo(np.float32).smallest_subnormal
    return {
        "plain": normal,
        "ties": np.round(normal, 2) + 0.25,
        "almost heavy": np.repeat(rng.normal(size=n // 10 + 1), 10)[:n],
        "one heavy": np.where(rng.random(n) < 0.3, 0.5, normal),
        "two neighbours": np.where(rng.random(n) < 0.5, 0.1, np.nextafter(np.float32(0.1), np.float32(1))),
        "heavy among neighbours": np.where(rng.random(n) < 0.7, 1.0, 1.0 + rng.random(n) * 1e-5),
        "long tail": np.exp(4 * normal),
        "negative tail": -np.exp(6 * normal),
        "near one": -1.0 + np.exp(3 * normal - 12),
        "outliers": np.concatenate([normal[2:], [-1e30, 1e30]]),
        "whole range of floats": rng.choice([-3.4e38, 3.4e38, 0.5], n) * rng.random(n),
        "subnormal": rng.integers(-5000, 5000, n) * float(tiny),
        "zeros": np.where(rng.random(n) < 0.5, -0.0, 0.0) + np.where(rng.random(n) < 0.98, 0.0, normal),
        "mostly missing": np.where(rng.random(n) < 0.9, np.nan, normal),
        "few known": np.where(np.arange(n) < n - 3, np.nan, normal),
        "two values": np.where(rng.random(n) < 0.5, 0.3, 0.7),
        "255 values": rng.integers(0, 255, n) / 7,
        "256 values": rng.integers(0, 256, n) / 7,
        "sorted": np.sort(normal),
        "rest in one place": np.concatenate([np.linspace(-1e6, 1e6, 40), 3 + rng.random(n - 40) * 1e-3]),
    }


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1023, 1024, 2500, 20_000])
def test_difficult_columns_have_the_bins_and_codes_of_the_reference(dtype, n, name):
    rng = np.random.default_rng(n)
    columns = difficult_columns(n, rng)
    X = np.column_stack(list(columns.values())).astype(dtype)
    X[rng.random(X.shape) < 0.01] = np.nan
    in_use = _core.instruction_set()
    try:
        if not _core.use_instruction_set(name):
            pytest.skip(f"this processor has no {name}")
        binned = {max_bins: bin_array(X, max_bins=max_bins) for max_bins in (2, 64, 255)}
    finally:
        assert _core.use_instruction_set(in_use)
    for max_bins, matrix in binned.items():
        assert not np.signbit(matrix.mapper.values[matrix.mapper.values == 0]).any()
        for j, column in enumerate(columns):
            found = reference_bins.distinct_values(X[:, j])
            values, edges = reference_bins.number_bins(*found, max_bins)
            span = slice(matrix.mapper.offset[j], matrix.mapper.offset[j + 1])
            np.testing.assert_array_equal(matrix.mapper.values[span], values, err_msg=column)
            np.testing.assert_array_equal(matrix.mapper.edges[span], edges, err_msg=column)
            codes = reference_bins.codes(X[:, j], edges[:-1])
            np.testing.assert_array_equal(matrix.blocks[0][j], codes, err_msg=column)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_values=st.sampled_from([200, 300, 700, 5000]), power=st.integers(0, 6))
def test_drawn_columns_have_the_bins_and_codes_of_the_reference(seed, n_values, power):
    rng = np.random.default_rng(seed)
    pool = (rng.normal(size=n_values) * rng.exponential(size=n_values) ** power).astype(np.float32)
    column = rng.choice(pool, int(rng.integers(1024, 4000)))
    matrix = bin_array(column[:, None])
    values, edges = reference_bins.number_bins(*reference_bins.distinct_values(column), 255)
    np.testing.assert_array_equal(matrix.mapper.values, values)
    np.testing.assert_array_equal(matrix.mapper.edges, edges)
    np.testing.assert_array_equal(matrix.blocks[0][0], reference_bins.codes(column, edges[:-1]))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([1.0, 2.0], [1, 2]), ([0.25, 1.0], [1, 4]), ([5.0, 5.0], None), ([1.0], None), ([], None)],
)
def test_dyadic_weights_are_exact(weights, expected):
    found = quantise_weights(np.array(weights))
    assert (None if found is None else found.tolist()) == expected


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e300])
def test_other_weights_keep_their_ratios_and_stay_positive(scale):
    weights = np.random.default_rng(0).random(1000) * scale + scale * 1e-12
    found = quantise_weights(weights)
    assert found.min() >= 1
    assert found.sum() < 2**31
    np.testing.assert_allclose(found / found.sum(), weights / weights.sum(), atol=1e-8)


def test_the_lightest_of_too_many_categories_share_the_last_bin():
    assert category_bins(np.array([5.0, 1.0, 9.0, 1.0]), 1.0, 3).tolist() == [0, 2, 1, 2]
    assert category_bins(np.array([5.0, 1.0, 9.0]), 1.0, 3) is None


def test_rare_categories_share_the_last_bin_and_identifiers_are_one():
    rare = np.array([12.0, 3.0, 10.0] + [2.0] * 20)
    assert category_bins(rare, 1.0, 255).tolist() == [0, 2, 1] + [2] * 20
    assert category_bins(rare * 7, 7.0, 255).tolist() == [0, 2, 1] + [2] * 20
    assert category_bins(np.ones(500), 1.0, 255).tolist() == [0] * 500
    assert category_bins(np.ones(10), 1.0, 255) is None  # a small table


def test_a_table_is_coded_by_the_bins_learned_on_it():
    frame = pd.DataFrame({"size": [3.0, np.nan, 1.0, 2.0], "color": ["red", "blue", None, "red"]})
    table = TableSchema.learn(frame).read(frame)
    matrix = bin_table(table, max_bins=2)
    mapper = learn_bins(table, max_bins=2)
    np.testing.assert_array_equal(matrix.blocks[0], mapper.codes(table))
    np.testing.assert_array_equal(matrix.mapper.edges, mapper.edges)


def test_an_array_is_a_table_without_names_or_categories():
    X = np.random.default_rng(0).normal(size=(50, 3))
    table = as_table(X)
    assert table.shape == X.shape
    assert table.names is None
    np.testing.assert_array_equal(table.n_categories, np.zeros(3))
    np.testing.assert_array_equal(bin_array(X).blocks[0], bin_table(table).blocks[0])


def test_rows_of_weight_zero_do_not_change_the_bins():
    X = np.array([[1.0], [2.0], [9.0]])
    mapper = bin_array(X, weight=np.array([1.0, 1.0, 0.0])).mapper
    assert mapper.values.tolist() == [1.0, 2.0]
