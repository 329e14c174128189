"""Every dealer: balanced, reproducible, and the bits that the families were pinned with."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from surewood.estimators.folds import (
    folds_in_order,
    given_splits,
    shuffled_folds,
    splits_among,
    splits_of,
    stratified_folds,
    stratified_folds_by_class,
    validation_split,
)

CODES = np.random.default_rng(0).choice(4, size=103, p=[0.5, 0.3, 0.15, 0.05])


@pytest.mark.parametrize("deal", [stratified_folds, stratified_folds_by_class])
@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_stratified_folds_are_balanced(deal, n_folds):
    fold = deal(CODES, n_folds, 3)
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1
    for code in range(4):
        assert np.ptp(np.bincount(fold[code == CODES], minlength=n_folds)) <= 1
    assert (fold == deal(CODES, n_folds, 3)).all()
    assert (fold != deal(CODES, n_folds, 4)).any()


def test_the_rules_differ_in_how_they_shuffle():
    dealt = [deal(CODES, 5, 0) for deal in (stratified_folds, stratified_folds_by_class)]
    assert (dealt[0] != dealt[1]).any()


def test_shuffled_folds_have_equal_sizes():
    fold = shuffled_folds(11, 3, [5, 2])
    assert sorted(np.bincount(fold).tolist()) == [3, 4, 4]
    order = np.random.default_rng([5, 2]).permutation(11)
    for k, (train, held) in enumerate(splits_of(fold)):
        assert held.tolist() == sorted(order[k::3])
        assert train.tolist() == sorted(set(range(11)) - set(held))


def test_folds_by_class_are_those_of_one_shuffle_per_class():
    rng, fold, dealt = np.random.default_rng(9), np.empty(len(CODES), dtype=int), 0
    for code in np.unique(CODES):
        rows = rng.permutation(np.flatnonzero(code == CODES))
        fold[rows] = (dealt + np.arange(len(rows))) % 4
        dealt += len(rows)
    assert (stratified_folds_by_class(CODES, 4, 9) == fold).all()


def test_rows_that_are_all_equal_are_dealt_one_by_one():
    fold = stratified_folds(CODES, 4, 9, np.full(len(CODES), 7))
    assert (fold == stratified_folds(CODES, 4, 9)).all()


def test_folds_in_order_start_every_class_anew():
    fold = folds_in_order(np.array([1, 1, 0, 1, 0]), 3)
    assert fold.tolist() == [0, 1, 0, 2, 1]


def test_folds_without_rows_are_left_out():
    assert len(splits_of(np.array([0, 2, 2]), 4)) == 2
    assert splits_of(np.array([1, 1]), 2) == []


def test_a_validation_part_is_rounded_up_and_never_everything():
    for fraction, size in ((0.01, 1), (0.25, 3), (0.99, 9)):
        [(train, held)] = validation_split(10, fraction, [1, 4])
        assert len(held) == size
        assert sorted([*train, *held]) == list(range(10))


def test_splits_of_the_user():
    y = np.array([0, 1, 0, 1, 0, 1])
    pairs = [(np.array([0, 1]), np.array([2]))]
    assert [tuple(map(list, pair)) for pair in given_splits(pairs, y)] == [([0, 1], [2])]
    assert len(given_splits(KFold(3), y)) == 3
    assert all(set(y[held]) == {0, 1} for _, held in given_splits(3, y))
    with pytest.raises(ValueError, match=r"^cv has no split\.$"):
        given_splits([], y)


def test_splits_among_kept_rows():
    [(train, held)] = splits_among([([0, 1, 4], [2, 3])], np.array([1, 2, 4]), 5)
    assert (train.tolist(), held.tolist()) == ([0, 2], [1])
    with pytest.raises(ValueError, match="split 0 of cv has no training rows or no held-out rows"):
        splits_among([([0], [2])], np.array([2]), 3)


def test_contents_are_dealt_whole_and_folds_stay_even():
    rng = np.random.default_rng(0)
    content = rng.integers(0, 120, 400)
    codes = rng.integers(0, 3, 400)
    fold = stratified_folds(codes, 5, 0, content)
    assert all(len(np.unique(fold[content == one])) == 1 for one in np.unique(content))
    sizes = np.bincount(fold, minlength=5)
    assert sizes.min() > 65
    assert sizes.max() < 95


def test_the_numbers_of_contents_do_not_matter():
    rng = np.random.default_rng(1)
    content, codes = rng.integers(0, 30, 80), rng.integers(0, 2, 80)
    again = rng.permutation(30)[content]
    np.testing.assert_array_equal(
        stratified_folds(codes, 4, 3, content), stratified_folds(codes, 4, 3, again)
    )


def test_a_splitter_that_needs_groups_gets_a_sentence():
    from sklearn.model_selection import GroupKFold

    sentence = (
        r"^cv=GroupKFold needs groups, which fit does not take: use cv=list\(GroupKFold\(\.\.\.\)\.split"
    )
    with pytest.raises(ValueError, match=sentence):
        given_splits(GroupKFold(2), np.array([0, 1, 0, 1]))
