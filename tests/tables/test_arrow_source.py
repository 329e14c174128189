"""Arrow columns are read as a pandas frame of the same values would be."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from surewood.tables.arrow_source import ArrowSource, CategoryValues, encoded
from surewood.tables.source import CATEGORY, NUMBER, TIME

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
