"""Splits of a search: contents are dealt, and no content is on both sides."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, StratifiedKFold

from surewood.composite.data import part_of_inputs
from surewood.composite.splits import contents, make_splits
from surewood.tables import begin_fit
from tests.composite.composite_samples import sample


def splits_of(cv, X, y, sample_weight=None, seed=7):
    given = begin_fit(DummyClassifier(), X, y, sample_weight, merge=False)
    return make_splits(cv, given, part_of_inputs(given, np.arange(len(y))), seed)


def values_of(inputs):
    return inputs.table.columns(0, inputs.table.n_columns)


def held_contents(cv, X, y, sample_weight=None):
    """The held-out contents of every split, as sets of rows' values."""
    splits = splits_of(cv, X, y, sample_weight)
    values = values_of(splits.inputs)
    return [{tuple(values[row]) for row in held} for _, held in splits.pairs]


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
    splits = splits_of(cv, *copies)
    content = contents(splits.inputs)
    for train, held in splits.pairs:
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
    splits = splits_of(4, X, y).pairs
    assert len(splits) == 4
    assert sorted(np.concatenate([held for _, held in splits])) == list(range(50))
    assert all(len(train) + len(held) == 50 for train, held in splits)


def test_pairs_of_row_numbers_are_followed_row_by_row():
    X, y = sample(20)
    X[15] = X[0]  # a copy that the user puts on the other side
    splits = splits_of([(np.arange(15), np.arange(15, 20))], X, y, np.where(np.arange(20) == 3, 0.0, 2.0))
    [(train, held)] = splits.pairs
    assert np.array_equal(values_of(splits.inputs)[held], X[15:])
    assert train.tolist() == [row for row in range(15) if row != 3]  # no row of weight 0


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        ([([0, 1], [2]), ([], [1])], "split 1 of cv has no training row or no held-out row of positive"),
        ([([0, 1], [20])], "split 0 of cv has row numbers outside 0 to 19."),
        ([([-1, 1], [2])], "split 0 of cv has row numbers outside 0 to 19."),
    ],
)
def test_impossible_pairs(cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        splits_of(cv, *sample(20))


def test_a_splitter_cannot_put_copies_on_both_sides():
    X = np.repeat(np.arange(2.0), 2)[:, None]
    labels = np.array([0, 1, 0, 1])  # two contents, both with both labels

    class Both:
        def split(self, X, y):
            yield np.arange(len(y)), np.arange(len(y))

        def get_n_splits(self):
            return 1

    with pytest.raises(ValueError, match="no held-out row that differs from all of them"):
        splits_of(Both(), X, labels)


def test_equal_rows_cannot_be_split():
    assert splits_of(3, np.ones((9, 2)), np.arange(9) % 2).pairs == []
    with pytest.raises(ValueError, match="1 sample cannot be split; give at least 2 rows"):
        splits_of(3, np.ones((1, 2)), np.array([0]))
