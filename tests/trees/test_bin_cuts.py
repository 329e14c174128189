"""Which categories share a bin."""

import numpy as np

from surewood.trees.bin_cuts import category_bins


def test_the_lightest_of_too_many_categories_share_the_last_bin():
    assert category_bins(np.array([5.0, 1.0, 9.0, 1.0]), 1.0, 3).tolist() == [0, 2, 1, 2]
    assert category_bins(np.array([5.0, 1.0, 9.0]), 1.0, 3) is None


def test_rare_categories_share_the_last_bin_and_identifiers_are_one():
    rare = np.array([12.0, 3.0, 10.0] + [2.0] * 20)
    assert category_bins(rare, 1.0, 255).tolist() == [0, 2, 1] + [2] * 20
    assert category_bins(rare * 7, 7.0, 255).tolist() == [0, 2, 1] + [2] * 20
    assert category_bins(np.ones(500), 1.0, 255).tolist() == [0] * 500
    assert category_bins(np.ones(10), 1.0, 255) is None  # a small table
