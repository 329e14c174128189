"""Votes of the pilot's candidates: tree by tree, and when one is beaten by another."""

import numpy as np

from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.pilot_votes import DepthVotes, PilotSample, Winners
from surewood.composite.setting import Setting
from tests.composite.composite_samples import prepared, sample

SETTING = Setting(1, 2, (1, 2), (1.0, 1.0), 1e-4, sampling="subsample", n_draws=120)


def pilot_sample(weight=None):
    data = prepared(*sample(150), weight)
    return PilotSample.grow(data, SETTING, np.arange(data.n_rows), 6, 2, 1e-4, 0, SolverOptions())


def test_trees_in_two_steps_vote_as_in_one():
    keys = [(1, 1.0), (2, 0.1), (2, 1.0)]
    once, twice = (DepthVotes(pilot_sample(), 1) for _ in range(2))
    once.train(keys, 0, 6)
    twice.train(keys, 0, 2)
    assert (twice.labels[keys[0]][:, 2:] == -1).all()
    twice.train(keys, 2, 6)
    for key in keys:
        np.testing.assert_array_equal(twice.labels[key], once.labels[key])
        np.testing.assert_array_equal(twice.correct[key], once.correct[key])
    np.testing.assert_array_equal(twice.by_criterion(keys[:2]), once.by_criterion(keys[:2]))


def test_only_trees_that_did_not_see_a_row_label_it():
    votes = DepthVotes(pilot_sample(), 1)
    votes.train([(1, 1.0)], 0, 6)
    np.testing.assert_array_equal(votes.labels[1, 1.0] >= 0, votes.sample.outside)


def test_beaten_means_more_errors_by_some_standard_errors():
    pilot = pilot_sample()
    n, c = len(pilot.rows), pilot.data.n_classes
    right = np.eye(c)[pilot.data.y[pilot.rows]]
    few, many = right.copy(), right.copy()
    few[:2] = np.roll(few[:2], 1, axis=1)
    many[: n // 2] = np.roll(many[: n // 2], 1, axis=1)
    assert pilot.error(right) == 0.0
    best = Winners.of(right)
    assert pilot.is_beaten(Winners.of(many), best, 2.0)
    assert not pilot.is_beaten(Winners.of(few), best, 2.0)
    assert not pilot.is_beaten(best, best, 2.0)


def test_winners_are_equal_for_equal_votes_only():
    votes = np.array([[0.5, 0.5, 0.0], [np.nan, np.nan, np.nan], [0.1, 0.2, 0.7]])
    found = Winners.of(votes)
    assert found.known.tolist() == [True, False, True]
    assert found.label[found.known].tolist() == [0, 2]
    assert found.digest == Winners.of(votes.copy()).digest
    assert found.digest != Winners.of(votes[::-1]).digest
