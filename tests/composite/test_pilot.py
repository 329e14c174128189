"""The pilot: out-of-bag votes of its candidates, their order, and settings for larger samples."""

import math

import numpy as np
import pytest

from surewood.base.time_limit import TimeLimit
from surewood.composite import pilot
from surewood.composite.pilot import DepthVotes, PilotForest, pilot_rows, pilot_size, pilot_trees, run_pilot
from tests.composite.composite_samples import prepared, sample, setting

TEMPLATE = setting(max_depth=1, max_size=500)
DEPTHS, C_GRID = (0, 1, 2), (0.1, 1.0, 10.0)


@pytest.fixture(scope="module")
def result():
    return run_pilot(prepared(*sample(200)), TEMPLATE, DEPTHS, C_GRID, 0)


def test_candidates_are_ranked_and_the_best_are_taken(result):
    errors = [c.error for c in result.candidates]
    assert errors == sorted(errors)
    assert len(result.settings) == 3
    assert len(result.candidates) <= pilot.MOST_KEPT[-1]
    taken = [c.degrees for c in result.candidates]
    assert all(setting.degrees in taken for setting in result.settings)


def test_outcomes_are_counted(result):
    # every depth: two degrees with three values of C each, and the criterion
    assert result.n_outcomes == math.comb(3 * (2 * 3 + 1), 3)


def test_ends_of_the_list_of_C_are_tried_where_they_look_better():
    wide = (1e-6, 1e-3, 1.0, 10.0, 1e4)
    result = run_pilot(prepared(*sample(150)), TEMPLATE, (1,), wide, 0)
    # Two degrees with three inner values each and the criterion; an end of the list for each degree at most.
    assert math.comb(7, 3) <= result.n_outcomes <= math.comb(9, 3)
    assert result.candidates[0].C[0] in wide


def test_larger_samples_keep_the_sizes_of_leaves(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_ROWS", 100)
    monkeypatch.setattr(pilot, "JUDGED_ROWS", 200)
    data = prepared(*sample(400))
    assert (len(pilot_rows(400, 0)), pilot_size(400)) == (200, 100)
    result = run_pilot(data, TEMPLATE, (1,), (0.5,), 0)
    assert {c.depth for c in result.candidates} == {1}
    assert {s.max_depth for s in result.settings} == {3}  # four times the rows, two splits more
    assert np.concatenate([s.C for s in result.settings]) == pytest.approx(1.0)


def test_hopeless_candidates_are_dropped_after_the_first_round(monkeypatch):
    trained = []
    train = DepthVotes.train

    def watched(self, keys, first, last):
        trained.extend((self.depth, key, first) for key in keys)
        train(self, keys, first, last)

    monkeypatch.setattr(DepthVotes, "train", watched)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)  # no line tells the classes apart
    result = run_pilot(prepared(X, y), TEMPLATE, (0,), C_GRID, 0)
    assert {key[0] for _, key, first in trained if first == 0} == {1, 2}
    later = [key for _, key, first in trained if first > 0]
    linear = [key for key in later if key[0] == 1]
    assert later
    assert len(linear) <= 2  # what the criterion needs of them, at most, once a round
    assert all(2 in setting.degrees for setting in result.settings)


def test_with_all_rounds_the_votes_are_those_of_all_trees(result):
    assert result.candidates[0].judged.mean() > 0.99  # 30 trees, each leaves out a fifth of the rows


def test_a_pilot_whose_time_is_up_has_settings_and_says_so():
    result = run_pilot(prepared(*sample(200)), TEMPLATE, DEPTHS, C_GRID, 0, TimeLimit(0.0))
    assert len(result.settings) == 3
    assert {c.depth for c in result.candidates} == {2}  # the deepest trees cost least and come first
    assert result.notes == ("the pilot stopped in round 1 of 3: time_limit",)


def test_a_row_gets_as_many_votes_on_larger_samples():
    def votes_per_row(n_rows):
        seen = pilot.IN_BAG * pilot_size(n_rows)
        return pilot_trees(n_rows, 3) * (1 - seen / len(pilot_rows(n_rows, 0)))

    assert votes_per_row(2000) == pytest.approx(4.0)
    for n_rows in (2001, 2500, 4000, 10_000, 1_000_000):
        assert votes_per_row(n_rows) == pytest.approx(4.0, rel=0.1)
        assert pilot_trees(n_rows, 3) <= pilot_trees(2000, 3)


@pytest.fixture
def forest():
    return PilotForest(prepared(*sample(150)), TEMPLATE, 2, 0)


def test_trees_in_two_steps_vote_as_in_one(forest):
    keys = [(1, 1.0), (2, 0.1), (2, 1.0)]
    once, twice = DepthVotes(forest, 1), DepthVotes(forest, 1)
    once.train(keys, 0, 6)
    twice.train(keys, 0, 2)
    assert (twice.labels[keys[0]][:, 2:] == -1).all()
    twice.train(keys, 2, 6)
    for key in keys:
        np.testing.assert_array_equal(twice.labels[key], once.labels[key])
        np.testing.assert_array_equal(twice.correct[key], once.correct[key])
    np.testing.assert_array_equal(twice.by_criterion(keys[:2]), once.by_criterion(keys[:2]))


def test_only_trees_that_did_not_see_a_row_label_it(forest):
    votes = DepthVotes(forest, 1)
    votes.train([(1, 1.0)], 0, forest.n_trees)
    np.testing.assert_array_equal(votes.labels[1, 1.0] >= 0, forest.outside)


def voted(forest, labels):
    """A candidate of which one tree voted on every row; -1 where it did not."""
    votes = DepthVotes(forest, 1)
    votes.labels[1, 1.0] = np.full((len(labels), forest.n_trees), -1, dtype=np.int16)
    votes.labels[1, 1.0][:, 0] = labels
    return votes.candidate((1,), (1.0,), by_criterion=False)


def test_beaten_means_more_errors_by_some_standard_errors(forest):
    y = forest.data.y
    few, many = y.copy(), y.copy()
    few[:2] = (few[:2] + 1) % 3
    many[:75] = (many[:75] + 1) % 3
    best = voted(forest, y)
    assert best.error == 0.0
    assert forest.is_beaten(voted(forest, many), best, 2.0)
    assert not forest.is_beaten(voted(forest, few), best, 2.0)
    assert not forest.is_beaten(best, best, 2.0)


def test_candidates_have_equal_digests_for_equal_votes_only(forest):
    labels = np.where(np.arange(150) < 5, -1, forest.data.y)
    candidate = voted(forest, labels)
    assert candidate.judged.tolist() == [False] * 5 + [True] * 145
    assert candidate.label[5:].tolist() == labels[5:].tolist()
    assert candidate.digest == voted(forest, labels.copy()).digest
    assert candidate.digest != voted(forest, labels[::-1]).digest
