"""Bags of forests that are guaranteed without a holdout: drawn blindly, of fixed sizes ([D-43])."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from surewood.estimators.subsamples import Subsamples, draw_subsamples, vote_evidence
from surewood.tables import begin_fit


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
