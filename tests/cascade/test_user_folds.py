import numpy as np
import pytest

from surewood import DeepCascadeSVMClassifierCV
from surewood.cascade.user_folds import merge_within_folds
from surewood.tables import begin_fit


def inputs_of(X, y):
    return begin_fit(DeepCascadeSVMClassifierCV(), np.array(X, dtype=float), np.array(y), merge=False)


def test_equal_rows_are_merged_only_on_the_same_side():
    X, y = [[0.0], [0.0], [0.0], [1.0], [1.0]], [0, 0, 0, 1, 1]
    merged, folds = merge_within_folds(inputs_of(X, y), [([0, 1, 3], [2, 4])])
    assert len(merged.y) == 4  # the two zeros of the training part are one row
    ((train, held_out),) = folds
    weight = np.ones(4) if merged.weight is None else merged.weight
    assert sorted(weight[train].tolist()) == [1.0, 2.0]
    assert weight[held_out].tolist() == [1.0, 1.0]
    assert not set(train) & set(held_out)


def test_splits_must_have_rows_on_both_sides():
    with pytest.raises(ValueError, match="cv has a split without training or without held-out rows"):
        merge_within_folds(inputs_of([[0.0], [1.0]], [0, 1]), [([0, 1], [])])
