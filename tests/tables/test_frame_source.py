"""Columns of frames: what kind they are, and their values as numbers or codes."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from surewood.tables.frame_source import FrameSource, codes_of
from surewood.tables.source import CATEGORY, NUMBER, TIME

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
