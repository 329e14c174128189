"""Values that JSON knows, and cells as a user would say them."""

import json

import numpy as np
import pandas as pd

from surewood.tables.plain_values import ColumnReader, by_label, plain
from surewood.tables.schema import TableSchema


def test_everything_becomes_strict_json():
    value = {"a": [np.float32(1.5), np.inf, {2}], 3: np.array([[True]]), "t": np.datetime64("2024-01-02")}
    found = plain(value)
    assert found == {"a": [1.5, None, [2]], "3": [[True]], "t": "2024-01-02"}
    json.dumps(found, allow_nan=False)


def test_probabilities_by_label():
    assert by_label(np.array([3, 7]), [0.25, np.nan]) == {3: 0.25, 7: None}


def test_cells_are_numbers_categories_or_none():
    frame = pd.DataFrame({"size": [1.5, np.nan], "kind": pd.Categorical(["b", "a"])})
    schema = TableSchema.learn(frame)
    reader = ColumnReader(schema.read(frame), schema)
    assert reader.names == ["size", "kind"]
    assert [reader.actual(row, 0) for row in (0, 1)] == [1.5, None]
    assert [reader.actual(row, 1) for row in (0, 1)] == ["b", "a"]
    assert set(reader.categories(1)) == {"a", "b"}
    assert reader.categories(0) == []
