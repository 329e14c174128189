"""A table gives columns, blocks and matrices of the same numbers, and cells as a user would say them."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from surewood.tables import TableSchema
from surewood.tables.plain_values import ColumnReader, by_label, plain

X = np.random.default_rng(0).normal(size=(20, 5))


def table_of(X, **options):
    return TableSchema.learn(X, **options).read(X)


@pytest.mark.parametrize(
    "make", [np.asarray, np.asfortranarray, sp.csc_array, sp.csr_matrix, pd.DataFrame], ids=str
)
def test_columns_blocks_and_matrix_agree(make):
    table = table_of(make(X))
    np.testing.assert_array_equal(table.matrix(), X)
    np.testing.assert_array_equal(table.columns(1, 4), X[:, 1:4])
    np.testing.assert_array_equal(table.columns(3, 99), X[:, 3:])
    for j in range(5):
        np.testing.assert_array_equal(table.column(j), X[:, j])
    assert table.shape == (20, 5)


def test_an_array_is_not_copied():
    assert np.shares_memory(table_of(X).matrix(), X)
    assert table_of(X).matrix().flags.c_contiguous


@pytest.mark.parametrize(
    ("given", "read"), [("uint8", "float32"), ("float32", "float32"), ("int64", "float64")]
)
def test_types_that_hold_the_numbers_exactly(given, read):
    assert table_of(X.astype(given)).matrix().dtype == read


def test_rows_are_taken_in_order_and_again():
    table = table_of(pd.DataFrame(X)).take(np.array([5, 3, 9]))
    np.testing.assert_array_equal(table.matrix(), X[[5, 3, 9]])
    np.testing.assert_array_equal(table.take(np.array([True, False, True])).matrix(), X[[5, 9]])


def test_a_detached_table_holds_codes_of_categories():
    frame = pd.DataFrame({"a": ["x", "y", None], "b": [1.0, 2.0, 3.0]})
    table = table_of(frame)
    free = table.detached()
    assert free.is_category.tolist() == [True, False]
    np.testing.assert_array_equal(free.matrix(), table.matrix())
    np.testing.assert_array_equal(free.column(0), [0.0, 1.0, np.nan])


def test_some_columns_of_all_rows():
    [(places, part)] = table_of(X).batches([4, 0])
    assert places == slice(0, 20)
    np.testing.assert_array_equal(part.matrix(), X[:, [4, 0]])


def test_a_small_table_of_categories_is_encoded_once():
    frame = pd.DataFrame({"n": [1.5, np.nan, 3.0], "c": pd.Categorical(["b", None, "a"])})
    table = table_of(frame)
    encoded, read = [], table._encode
    table._encode = lambda j: encoded.append(j) or read(j)
    once = table.read_once()
    for _ in range(2):
        np.testing.assert_array_equal(once.matrix(), [[1.5, 1], [np.nan, np.nan], [3, 0]])
    assert encoded == [0, 1]
    plain = table_of(X)
    assert plain.read_once() is plain


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
