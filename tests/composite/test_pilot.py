"""The pilot: candidates in the order of their errors, the plain trees' weight, larger samples."""

import math
from dataclasses import replace

import numpy as np
import pytest

from surewood.composite import pilot
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.pilot import PilotGrid, pilot_rows, pilot_size, pilot_trees, run_pilot
from surewood.composite.pilot_votes import DepthVotes
from surewood.composite.setting import Setting
from surewood.estimators.time_limit import TimeLimit
from tests.composite.composite_samples import prepared, sample

GRID = PilotGrid((0, 1, 2), (1, 2), (0.1, 1.0, 10.0), 1e-4)
TEMPLATE = Setting(1, 2, (1, 2), (1.0, 1.0), 1e-4, max_size=500)


@pytest.fixture(scope="module")
def result():
    return run_pilot(prepared(*sample(200)), GRID, TEMPLATE, 0, SolverOptions())


def test_candidates_are_ranked_and_the_best_are_taken(result):
    errors = [c.error for c in result.candidates]
    assert errors == sorted(errors)
    assert len(result.settings) == 3
    # every depth: two degrees with three values of C each, and the criterion
    assert result.n_compared == 3 * (2 * 3 + 1)
    assert len(result.candidates) <= pilot.MOST_KEPT[-1]
    taken = [c.degrees for c in result.candidates]
    assert all(setting.degrees in taken for setting in result.settings)


def test_outcomes_are_counted(result):
    assert result.n_outcomes == math.comb(21, 3)


def test_ends_of_the_list_of_C_are_tried_where_they_look_better():
    wide = replace(GRID, depths=(1,), C=(1e-6, 1e-3, 1.0, 10.0, 1e4))
    found = run_pilot(prepared(*sample(150)), wide, TEMPLATE, 0, SolverOptions())
    # Two degrees with three inner values each and the criterion; an end of the list for each degree at most.
    assert 7 <= found.n_compared <= 9
    assert found.candidates[0].C[0] in wide.C


def test_larger_samples_keep_the_sizes_of_leaves(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_ROWS", 100)
    monkeypatch.setattr(pilot, "JUDGED_ROWS", 200)
    data = prepared(*sample(400))
    assert (len(pilot_rows(400, 0)), pilot_size(400)) == (200, 100)
    grid = replace(GRID, depths=(1,), C=(0.5,))
    found = run_pilot(data, grid, TEMPLATE, 0, SolverOptions())
    assert {c.depth for c in found.candidates} == {1}
    assert {s.max_depth for s in found.settings} == {3}  # four times the rows, two splits more
    assert np.concatenate([s.C for s in found.settings]) == pytest.approx(1.0)


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
    found = run_pilot(prepared(X, y), replace(GRID, depths=(0,)), TEMPLATE, 0, SolverOptions())
    assert {key[0] for _, key, first in trained if first == 0} == {1, 2}
    later = [key for _, key, first in trained if first > 0]
    linear = [key for key in later if key[0] == 1]
    assert later
    assert len(linear) <= 2  # what the criterion needs of them, at most, once a round
    assert all(2 in setting.degrees for setting in found.settings)


def test_with_all_rounds_the_votes_are_those_of_all_trees(result):
    sample_of_rows = result.candidates[0].winners.known
    assert sample_of_rows.mean() > 0.99  # 30 trees, each leaves out a fifth of the rows


def test_a_pilot_whose_time_is_up_has_settings_and_says_so():
    found = run_pilot(prepared(*sample(200)), GRID, TEMPLATE, 0, SolverOptions(), TimeLimit(0.0))
    assert len(found.settings) == 3
    assert {c.depth for c in found.candidates} == {2}  # the deepest trees cost least and come first
    assert found.notes == ("the pilot stopped in round 1 of 3: time_limit",)


def test_a_row_gets_as_many_votes_on_larger_samples():
    def votes_per_row(n_rows):
        seen = pilot.IN_BAG * pilot_size(n_rows)
        return pilot_trees(n_rows, 3) * (1 - seen / len(pilot_rows(n_rows, 0)))

    assert votes_per_row(2000) == pytest.approx(4.0)
    for n_rows in (2001, 2500, 4000, 10_000, 1_000_000):
        assert votes_per_row(n_rows) == pytest.approx(4.0, rel=0.1)
        assert pilot_trees(n_rows, 3) <= pilot_trees(2000, 3)
