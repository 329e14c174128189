"""What "auto" means."""

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier as Forest
from surewood.composite import portfolio
from surewood.composite.machines import SolverOptions
from surewood.composite.parameters import feature_grid
from surewood.composite.rules import affordable_leaf, pilot_depths, resolve
from surewood.composite.tuning import best_boxes, tune_boxes
from tests.composite.composite_samples import prepared, sample


def test_small_samples_are_not_tuned():
    data = prepared(*sample(40))
    plan = resolve(Forest(), data, 0, SolverOptions())
    assert plan.portfolio is None
    assert plan.parts[0][0].sampling == "all"
    assert plan.plain_share == 0.0


def test_the_best_settings_share_the_trees():
    data = prepared(*sample(200))
    plan = resolve(Forest(n_estimators=10), data, 0, SolverOptions())
    assert sum(n for _, n in plan.parts) == 10
    assert len(plan.parts) == 3
    errors = [c.error for c in plan.portfolio.candidates]
    assert errors == sorted(errors)
    assert min(plan.portfolio.plain_errors.values()) == plan.portfolio.plain_errors[plan.plain_share]


def test_larger_samples_keep_the_pilots_leaves(monkeypatch):
    monkeypatch.setattr(portfolio, "PILOT_ROWS", 100)
    data = prepared(*sample(400))
    plan = resolve(Forest(n_estimators=6, max_depth=3, C=1.0), data, 0, SolverOptions())
    assert {s.max_depth for s, _ in plan.parts} == {3}
    assert {c.depth for c in plan.portfolio.candidates} == {1}  # a quarter of the rows, two questions less
    assert np.concatenate([s.C for s, _ in plan.parts]) == pytest.approx(1.0)


def test_leaves_shrink_where_trees_are_many():
    assert affordable_leaf(1000, 100) == 2000
    assert affordable_leaf(20_000, 100) == 200
    assert pilot_depths(2000, 200)[0] == 3
    assert pilot_depths(60, 2000) == (0, 1, 2)


def test_the_papers_values_of_r():
    assert feature_grid(18) == (1, 2, 4, 8, 17, 18)
    assert feature_grid(1) == (1,)
    assert feature_grid(180)[-1] == 180


def test_ties_go_to_the_smaller_box():
    errors = np.array([[3.0, 1.0, 1.0], [0.0, 0.0, 2.0]])
    assert best_boxes(errors, (0.1, 1.0, 10.0)) == (1.0, 0.1)
    assert best_boxes(errors, (10.0, 1.0, 0.1)) == (0.1, 1.0)


def test_tuning_counts_every_row_once():
    data = prepared(*sample(90))
    boxes, errors = tune_boxes(data, (1, 2), 0, SolverOptions(), (1e-3, 1.0))
    assert errors.shape == (2, 2)
    assert (errors <= 90).all()
    assert boxes[0] in (1e-3, 1.0)
