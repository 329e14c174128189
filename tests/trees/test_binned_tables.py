"""One call gives the bins and the codes that two calls give."""

import numpy as np
import pandas as pd

from surewood.tables import TableSchema
from surewood.trees import as_table, bin_array, bin_table, learn_bins


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
