import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surewood.deepforest.folds import deal_folds, layer_seed, usable_folds


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 6), st.integers(0, 5))
def test_every_class_is_spread_evenly(labels, n_folds, seed):
    y = np.array(labels)
    fold = deal_folds(y, n_folds, seed)
    sizes = np.bincount(fold, minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    for code in np.unique(y):
        shares = np.bincount(fold[y == code], minlength=n_folds)
        assert shares.max() - shares.min() <= 1


def test_folds_depend_on_the_seed_only():
    y = np.arange(100) % 3
    np.testing.assert_array_equal(deal_folds(y, 5, 7), deal_folds(y, 5, 7))
    assert (deal_folds(y, 5, 7) != deal_folds(y, 5, 8)).any()
    assert layer_seed(0, 1) != layer_seed(0, 2) != layer_seed(1, 2)


def test_a_rare_class_lowers_the_number_of_folds_and_says_so():
    y = np.array([0] * 10 + [1] * 3)
    with pytest.warns(UserWarning, match="class 'rare' has 3 rows, fewer than n_folds=5: using 3 folds"):
        assert usable_folds(y, 5, np.array(["common", "rare"])) == 3


def test_never_below_two_folds_and_absent_classes_do_not_count():
    with pytest.warns(UserWarning, match="using 2 folds"):
        assert usable_folds(np.array([0, 0, 0, 1]), 5, np.array(["a", "b"])) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert usable_folds(np.array([0] * 9), 5, np.array(["a", "b"])) == 5
