"""Where bins end: one per value while there are few, heavy values alone, rare categories together."""

import numpy as np

from surewood.trees.bin_cuts import category_bins, number_bins


def test_few_values_have_a_bin_each():
    values, edges = number_bins(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0]), 255)
    assert values.tolist() == [1.0, 2.0, 4.0]
    assert edges.tolist() == [1.5, 3.0, np.inf]


def test_a_column_without_values_has_one_bin():
    values, edges = number_bins(np.zeros(0), np.zeros(0), 255)
    assert values.tolist() == [0.0]
    assert edges.tolist() == [np.inf]


def test_a_heavy_value_stands_alone():
    mass = np.ones(100)
    mass[40] = 1000.0
    _, edges = number_bins(np.arange(100.0), np.cumsum(mass), 10)
    assert len(edges) <= 10
    assert {39.5, 40.5} <= set(edges.tolist())


def test_the_lightest_of_too_many_categories_share_the_last_bin():
    assert category_bins(np.array([5.0, 1.0, 9.0, 1.0]), 1.0, 3).tolist() == [0, 2, 1, 2]
    assert category_bins(np.array([5.0, 1.0, 9.0]), 1.0, 3) is None


def test_rare_categories_share_the_last_bin_and_identifiers_are_one():
    rare = np.array([12.0, 3.0, 10.0] + [2.0] * 20)
    assert category_bins(rare, 1.0, 255).tolist() == [0, 2, 1] + [2] * 20
    assert category_bins(rare * 7, 7.0, 255).tolist() == [0, 2, 1] + [2] * 20
    assert category_bins(np.ones(500), 1.0, 255).tolist() == [0] * 500
    assert category_bins(np.ones(10), 1.0, 255) is None  # a small table
