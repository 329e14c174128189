import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from surewood.deepforest.folds import given_folds, layer_seed, usable_folds


def test_parts_of_a_fit_have_seeds_of_their_own():
    assert layer_seed(0, 1) == layer_seed(0, 1)
    assert len({layer_seed(0, 1), layer_seed(0, 2), layer_seed(1, 2), layer_seed(0, 1, 3)}) == 4


def test_a_rare_class_lowers_the_number_of_folds_and_says_so():
    y = np.array([0] * 10 + [1] * 3)
    with pytest.warns(UserWarning, match="class 'rare' has 3 rows, fewer than cv=5: using 3 folds"):
        assert usable_folds(y, 5, np.array(["common", "rare"])) == 3


def test_never_below_two_folds_and_absent_classes_do_not_count():
    with pytest.warns(UserWarning, match="using 2 folds"):
        assert usable_folds(np.array([0, 0, 0, 1]), 5, np.array(["a", "b"])) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert usable_folds(np.array([0] * 9), 5, np.array(["a", "b"])) == 5


def test_a_splitter_gives_the_folds():
    fold = given_folds(KFold(3), np.arange(7) % 2)
    assert fold.tolist() == [0, 0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("cv", [ShuffleSplit(2, random_state=0), [([0, 1], [2, 3, 4, 5])]])
def test_folds_that_do_not_hold_out_every_row_once_are_refused(cv):
    with pytest.raises(ValueError, match="cv must hold out every row exactly once, in at least two splits"):
        given_folds(cv, np.array([0, 1, 0, 1, 0, 1]))


def test_equal_rows_count_once():
    y, content = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 3, 4, 4, 5])
    with pytest.warns(UserWarning, match="class 'b' has 2 different rows, fewer than cv=4: using 2 folds"):
        assert usable_folds(y, 4, np.array(["a", "b"]), content) == 2
