"""One draw per fit, and the reference words of SplitMix64.

Every dealer: balanced, reproducible, and the bits that the families were pinned with.

Bags of forests that are guaranteed without a holdout: drawn blindly, of fixed sizes ([D-43]).
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold

from surewood.base.folds import (
    draw_seed,
    given_splits,
    shuffled_folds,
    splits_among,
    splits_of,
    stratified_folds,
    stratified_folds_by_class,
    validation_split,
)
from surewood.base.subsamples import Subsamples, draw_subsamples, vote_evidence
from surewood.tables import begin_fit
from surewood.tables.mixing import splitmix64


def test_a_seed_is_one_draw_of_scikit_learns_kind():
    assert draw_seed(7) == np.random.RandomState(7).randint(2**31 - 1)
    shared = np.random.RandomState(7)
    first, second = draw_seed(shared), draw_seed(shared)
    assert first == draw_seed(7)
    assert first != second
    assert isinstance(draw_seed(None), int)


def test_splitmix64_gives_the_reference_words():
    # Steele, Lea & Flood (2014), seed 1234567: the words of the public reference implementation.
    golden = 0x9E3779B97F4A7C15
    states = np.array([(1234567 + k * golden) % 2**64 for k in range(3)], dtype=np.uint64)
    assert splitmix64(states).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


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

    y = np.array([0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"^cv=GroupKFold needs groups: give fit groups=, one per row\.$"):
        given_splits(GroupKFold(2), y)
    assert len(given_splits(GroupKFold(2), y, groups=np.array([3, 3, 5, 5]))) == 2


@pytest.mark.parametrize(("n", "part"), [(100, 50), (600, 60), (40_000, 2000)])
def test_the_preparation_part_is_in_every_bag(n, part):
    drawn = Subsamples.draw(np.arange(n), n, None, seed=0)
    assert drawn.prepares.sum() == part
    for tree in range(3):
        bag = drawn.in_bag(tree)
        assert bag[drawn.prepares].all()
        assert bag.sum() == part + round(0.5 * (n - part))
    assert (drawn.in_bag(0) != drawn.in_bag(1)).any()


def test_every_other_row_is_in_half_of_the_bags():
    drawn = Subsamples.draw(np.arange(200), 200, None, seed=1)
    often = np.mean([drawn.in_bag(tree) for tree in range(400)], axis=0)
    assert (often[drawn.prepares] == 1).all()
    assert np.abs(often[~drawn.prepares] - 0.5).max() < 0.13


def test_some_row_is_always_left_out():
    drawn = Subsamples.draw(np.arange(120), 120, 1.0, seed=0)
    assert (~drawn.in_bag(0)).sum() == 1


def test_bags_do_not_look_at_the_rows():
    rng = np.random.default_rng(0)
    bags = []
    for _ in range(2):
        inputs = begin_fit(DummyClassifier(), rng.normal(size=(150, 2)), rng.integers(0, 2, 150))
        bags.append(draw_subsamples(inputs, None, 7).in_bag(3))
    np.testing.assert_array_equal(*bags)


def test_votes_of_a_row_whose_copy_is_in_the_bag_are_left_out_but_the_row_counts():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), rng.integers(0, 2, 150)
    inputs = begin_fit(DummyClassifier(), np.r_[X, X[:1]], np.r_[y, y[:1]])
    drawn = draw_subsamples(inputs, None, 0)
    labels = np.tile(inputs.y[:, None], (1, 4))
    evidence, votes = vote_evidence(labels, inputs, drawn, False)
    assert evidence.n_samples == 151
    assert (evidence.out_of_bag.errors == 0).all()
    outside = np.array([~drawn.in_bag(tree) for tree in range(4)])
    assert (evidence.out_of_bag.sizes == outside.sum(axis=1)).all()
    assert np.isnan(votes[np.unique(drawn.units[drawn.prepares])]).all()
