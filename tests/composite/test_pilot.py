"""The pilot: candidates in the order of their errors, the plain trees' weight, larger samples."""

import math
from dataclasses import replace

import numpy as np
import pytest

from surewood.composite import pilot
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.pilot import PilotGrid, pilot_rows, run_pilot
from surewood.composite.setting import Setting
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
    assert len(result.candidates) == 3 * (2 * 3 + 1)
    assert result.settings[0].degrees == result.candidates[0].degrees


def test_the_plain_weight_has_the_fewest_errors(result):
    assert min(result.plain_errors.values()) == result.plain_errors[result.plain_weight]
    assert set(result.plain_errors) == set(pilot.PLAIN_WEIGHTS)


def test_outcomes_are_counted(result):
    assert result.n_outcomes == math.comb(21, 3) * 5


def test_ends_of_the_list_of_C_are_tried_where_they_look_better():
    wide = replace(GRID, depths=(1,), C=(1e-6, 1e-3, 1.0, 10.0, 1e4))
    found = run_pilot(prepared(*sample(150)), wide, TEMPLATE, 0, SolverOptions())
    tried = {c.C[0] for c in found.candidates if not c.by_criterion}
    assert {1e-3, 1.0, 10.0} <= tried < {1e-6, 1e-3, 1.0, 10.0, 1e4} | {0.0}


def test_larger_samples_keep_the_sizes_of_leaves(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_ROWS", 100)
    data = prepared(*sample(400))
    assert len(pilot_rows(400, 0)) == 100
    grid = replace(GRID, depths=(1,), C=(0.5,), plain_weights=(0.0,))
    found = run_pilot(data, grid, TEMPLATE, 0, SolverOptions())
    assert {c.depth for c in found.candidates} == {1}
    assert {s.max_depth for s in found.settings} == {3}  # four times the rows, two splits more
    assert np.concatenate([s.C for s in found.settings]) == pytest.approx(1.0)
