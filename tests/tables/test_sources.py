"""Columns of frames, Arrow tables, arrays, lists and sparse matrices: their kind, and their values."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from surewood import BinnedForestClassifier
from surewood.tables.sources import (
    CATEGORY,
    NUMBER,
    TIME,
    ArraySource,
    ArrowSource,
    CategoryValues,
    FrameSource,
    codes_of,
    encoded,
    open_array,
)

DAY = datetime.date(2024, 1, 2)
COLUMNS = [
    ([1, 2], "int64", NUMBER),
    ([1, None], "Int64", NUMBER),
    ([True, False], "bool", NUMBER),
    ([Decimal("1.5"), None], "object", NUMBER),
    (["a", None], "object", CATEGORY),
    (["a", "b"], "category", CATEGORY),
    (["a", "b"], "string", CATEGORY),
    ([DAY, None], "object", TIME),
    (pd.to_datetime(["2024-01-02", None]), None, TIME),
    (pd.to_timedelta([1, 2], unit="s"), None, TIME),
]


@pytest.mark.parametrize(("values", "dtype", "kind"), COLUMNS, ids=str)
def test_kinds(values, dtype, kind):
    series = pd.Series(values) if dtype is None else pd.Series(values, dtype=dtype)
    assert FrameSource(pd.DataFrame({"c": series, "other": [0, 1]})).kind(0) == kind


def test_values():
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "t": pd.to_datetime(["1970-01-02", None])})
    source = FrameSource(frame)
    np.testing.assert_array_equal(source.numbers(0), [1.0, np.nan])
    np.testing.assert_array_equal(source.numbers(1), [86400.0, np.nan])


def test_codes_follow_the_index_and_unknown_values_are_missing():
    index = pd.Index(["a", "b"], dtype=object)
    for dtype in ("object", "category", "string"):
        source = FrameSource(pd.DataFrame({"c": pd.Series(["b", "z", None, "a"], dtype=dtype)}))
        np.testing.assert_array_equal(source.codes(0, index), [1.0, np.nan, np.nan, 0.0])


@pytest.mark.parametrize(
    ("values", "dtype", "index"),
    [
        (["b", "z", None, "a"], "object", ["a", "b"]),
        (["b", "z", None, "a"], "category", ["a", "b"]),
        (["b", "z", None, "a"], "string", ["a", "b"]),
        ([3, 1, 7, 1], "int64", [1, 3]),
        ([3.0, None, 7.0, 1.0], "float32", [1, 3]),
        ([True, False, True, False], "bool", ["False", "True"]),
        ([2, 5, None, 2], "category", [2, 4]),
        ([Decimal("1.5"), "x", None, 2], "object", ["1.5", "2"]),
        ([DAY, None, DAY, DAY], "object", [str(DAY)]),
    ],
    ids=str,
)
def test_codes_of_few_rows_are_those_of_many(values, dtype, index):
    index, series = pd.Index(index, dtype=object), pd.Series(values, dtype=dtype)
    one_by_one = np.concatenate([codes_of(series.iloc[[i]], index) for i in range(len(series))])
    many = codes_of(pd.concat([series] * 10, ignore_index=True), index)
    np.testing.assert_array_equal(codes_of(series, index), many[: len(series)])
    np.testing.assert_array_equal(one_by_one, many[: len(series)])


def test_an_ordered_category_keeps_its_order():
    values = pd.Categorical(["low", "high"], categories=["low", "middle", "high"], ordered=True)
    assert FrameSource(pd.DataFrame({"c": values})).categories(0) == ["low", "high"]
    assert FrameSource(pd.DataFrame({"c": ["low", "high"]})).categories(0) == ["high", "low"]


def test_what_cannot_be_read_is_named():
    with pytest.raises(ValueError, match="Complex data not supported: column 'c'"):
        FrameSource(pd.DataFrame({"c": [1j]})).kind(0)
    with pytest.raises(ValueError, match="infinity in column 'c'"):
        FrameSource(pd.DataFrame({"c": [np.inf], "d": [1]})).refuse_infinities([True, True])


TABLE = pa.table(
    {
        "n": pa.array([1, None], pa.int16()),
        "flag": [True, None],
        "text": ["b", "a"],
        "day": pa.array([datetime.date(1970, 1, 2), None]),
        "when": pa.array([1500, None], pa.timestamp("ms")),
        "coded": pa.array(["x", "x"]).dictionary_encode(),
    }
)


def test_kinds_and_numbers():
    source = ArrowSource(TABLE)
    assert [source.kind(j) for j in range(6)] == [NUMBER, NUMBER, CATEGORY, TIME, TIME, CATEGORY]
    expected = {0: [1.0, np.nan], 1: [1.0, np.nan], 3: [86400.0, np.nan], 4: [1.5, np.nan]}
    for j, values in expected.items():
        np.testing.assert_array_equal(source.numbers(j), values)
    with pytest.raises(ValueError, match="column 'text' holds text, not numbers"):
        source.numbers(2)


def test_categories_and_codes():
    source = ArrowSource(TABLE)
    assert source.categories(2) == ["a", "b"]
    np.testing.assert_array_equal(source.codes(2, pd.Index(["a"], dtype=object)), [np.nan, 0.0])


def test_missing_values_are_encoded_past_the_end():
    places, values = encoded(pa.chunked_array([["a", None], ["b", "a"]]))
    assert [values[k] if k < len(values) else None for k in places] == ["a", None, "b", "a"]


def test_batches_with_another_order_of_an_ordered_category_are_refused():
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    found = CategoryValues(kind)
    parts = [pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), names, ordered=True)
             for names in (["low", "high"], ["high", "low"])]  # fmt: skip
    found.add(pa.chunked_array([parts[0]]), "'level'")
    with pytest.raises(ValueError, match="ordered category 'level' lists its values in another order"):
        found.add(pa.chunked_array([parts[1]]), "'level'")


def test_types_that_cannot_be_read_are_named():
    with pytest.raises(ValueError, match="column 'c' has type list"):
        ArrowSource(pa.table({"c": [[1, 2]]})).kind(0)


@pytest.mark.parametrize("make", [np.array, list, sp.csr_matrix, sp.coo_array])
def test_numbers_stay_numbers_whatever_holds_them(make):
    source = open_array(make([[1.0, 0.0], [3.0, 4.0]]))
    assert isinstance(source, ArraySource)
    assert (source.n_rows, source.n_columns, source.names) == (2, 2, None)
    assert source.numbers(1).tolist() == [0.0, 4.0]
    assert (source.kind(0), source.label(1)) == ("number", "1")


MISSING = np.array([[pd.NA], [1]], dtype=object)


@pytest.mark.parametrize("X", [[[1, "a"], [2, "b"]], np.array([["x"], ["y"]]), MISSING])
def test_text_and_missing_objects_are_read_as_a_frame(X):
    assert isinstance(open_array(X), FrameSource)


def test_masked_values_are_missing():
    source = open_array(np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]))
    assert source.numbers(0).tolist() == [1.0, 3.0]
    assert np.isnan(source.numbers(1)[0])


@pytest.mark.parametrize("X", [[[10**400]], np.array([[np.longdouble("1e4000")]])])
def test_numbers_too_large_for_a_float_are_refused(X):
    with pytest.raises(ValueError, match=r"contains a number too large for a float|contains infinity"):
        open_array(X)


@pytest.mark.parametrize(
    ("form", "attribute", "value", "words"),
    [
        ("csr", "indices", 10**6, "indices must be < 3"),
        ("csr", "indices", -5, "indices must be >= 0"),
        ("csr", "indptr", 10**6, "indptr must be a non-decreasing sequence"),
        ("csc", "indices", 10**6, "indices must be < 20"),
        ("coo", "col", 10**6, r"shape \(20, 3\) with indices outside of it"),
        ("coo", "row", -1, r"shape \(20, 3\) with indices outside of it"),
    ],
)
def test_sparse_matrices_with_indices_outside_are_refused(form, attribute, value, words):
    """SciPy's compiled code follows them: a fit crashed."""
    X = sp.random(20, 3, 0.5, format=form, random_state=0)
    getattr(X, attribute)[1] = value
    with pytest.raises(ValueError, match=words):
        BinnedForestClassifier(2).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize("form", ["lil", "dok"])
def test_other_sparse_matrices_with_indices_outside_are_refused(form):
    X = sp.random_array((20, 3), density=0.5, rng=0, format=form)
    if form == "lil":
        X.rows[0] = [10**6]
        X.data[0] = [1.0]
    else:
        X._dict[10**6, 0] = 1.0
    with pytest.raises(
        ValueError, match=r"with indices outside of it|index 1000000 exceeds matrix dimension"
    ):
        open_array(X)


def test_categories_of_numbers_are_their_values():
    source = open_array(np.array([[2.0], [1.0], [2.0], [np.nan]]))
    values = source.categories(0)
    assert sorted(values) == [1.0, 2.0]
    codes = source.codes(0, pd.Index(values))
    assert [values[int(code)] for code in codes[:3]] == [2.0, 1.0, 2.0]
    assert np.isnan(codes[3])
