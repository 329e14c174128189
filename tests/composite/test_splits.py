"""Splits of a search: contents are dealt, and no content is on both sides."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, StratifiedKFold

from surewood.composite.splits import contents, make_splits
from surewood.tables import begin_fit
from tests.composite.composite_samples import sample


def inputs_of(X, y, sample_weight=None):
    return begin_fit(DummyClassifier(), X, y, sample_weight)


def values_of(inputs):
    return inputs.table.columns(0, inputs.table.n_columns)


def held_contents(cv, X, y, sample_weight=None):
    """The held-out contents of every split, as sets of rows' values."""
    inputs = inputs_of(X, y, sample_weight)
    values = values_of(inputs)
    return [{tuple(values[row]) for row in held} for _, held in make_splits(cv, inputs, 7)]


@pytest.fixture
def copies():
    """60 contents, some of them several times, some with two labels."""
    X, y = sample(60)
    repeats = np.arange(60) % 4 + 1
    X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    y[::7] = (y[::7] + 1) % 3
    return X, y


CVS = [3, 0.25, KFold(3), StratifiedKFold(3, shuffle=True, random_state=0)]


@pytest.mark.parametrize("cv", CVS)
def test_no_content_is_on_both_sides(copies, cv):
    inputs = inputs_of(*copies)
    for train, held in make_splits(cv, inputs, 7):
        content = contents(inputs)
        assert not set(content[train]) & set(content[held])
        assert len(train)
        assert len(held)


@pytest.mark.parametrize("cv", CVS)
def test_the_order_of_the_rows_does_not_matter(copies, cv):
    X, y = copies
    order = np.random.default_rng(1).permutation(len(y))
    assert held_contents(cv, X, y) == held_contents(cv, X[order], y[order])


@pytest.mark.parametrize("cv", CVS)
def test_weights_are_copies(cv):
    X, y = sample(60)
    weight = np.arange(60) % 3
    repeated = held_contents(cv, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert held_contents(cv, X, y, weight) == repeated


def test_folds_are_a_partition():
    X, y = sample(50)
    inputs = inputs_of(X, y)
    splits = make_splits(4, inputs, 0)
    assert len(splits) == 4
    assert sorted(np.concatenate([held for _, held in splits])) == list(range(50))
    assert all(len(train) + len(held) == 50 for train, held in splits)


def test_pairs_of_row_numbers_refer_to_the_rows_as_given():
    X, y = sample(20)
    inputs = inputs_of(X, y)
    [(train, held)] = make_splits([(np.arange(15), np.arange(15, 20))], inputs, 0)
    assert set(map(tuple, values_of(inputs)[held])) == set(map(tuple, X[15:]))
    assert len(train) == 15


def test_a_held_out_row_with_a_copy_among_the_training_rows_is_left_out():
    X, y = sample(20)
    X[15] = X[0]
    inputs = inputs_of(X, y)
    [(_, held)] = make_splits([(np.arange(15), np.arange(15, 20))], inputs, 0)
    assert set(map(tuple, values_of(inputs)[held])) == set(map(tuple, X[16:]))


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        ([([0, 1], [1])], "split 0 of cv has no training row, or no held-out row that differs from all of"),
        ([([0, 1], [2]), ([], [1])], "split 1 of cv has no training row"),
        ([([0, 1], [20])], "split 0 of cv has row numbers outside 0 to 19."),
        ([([-1, 1], [2])], "split 0 of cv has row numbers outside 0 to 19."),
    ],
)
def test_impossible_splits(cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_splits(cv, inputs_of(*sample(20)), 0)


def test_one_distinct_row_cannot_be_split():
    with pytest.raises(ValueError, match=r"cv needs at least 2 distinct rows, got 1\."):
        make_splits(3, inputs_of(np.ones((9, 2)), np.arange(9) % 2), 0)
