"""Parts fitted in steps: the same trees in one step or in many, fewer when the time is up."""

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier
from surewood.composite import part_fitting
from surewood.composite.part_fitting import fit_parts
from surewood.composite.plan import make_plan
from surewood.estimators.time_limit import TimeLimit
from tests.composite.composite_samples import sample


@pytest.fixture(scope="module")
def planned():
    model = RandomCompositeForestClassifier(12, random_state=0)
    with model._begin(*sample(120, seed=1), None) as inputs:
        data = model._prepared(inputs)
        options = model._options()
        yield make_plan(model._parameters(), data, 3, options), data, options


def test_steps_of_any_size_fit_the_same_trees(planned, monkeypatch):
    plan, data, options = planned
    whole = fit_parts(plan, data, options, TimeLimit(None))
    monkeypatch.setattr(part_fitting, "ROWS_AND_TREES", 2 * data.n_rows)
    steps = fit_parts(plan, data, options, TimeLimit(None))
    np.testing.assert_array_equal(steps.part_of_tree, whole.part_of_tree)
    np.testing.assert_array_equal(steps.labels, whole.labels)
    np.testing.assert_allclose(steps.held_out, whole.held_out)


def test_labels_exist_for_rows_outside_the_bag_only(planned):
    plan, data, options = planned
    found = fit_parts(plan, data, options, TimeLimit(None))
    np.testing.assert_array_equal(found.labels >= 0, found.outside)


def test_time_that_is_up_leaves_at_least_one_tree(planned):
    plan, data, options = planned
    found = fit_parts(plan, data, options, TimeLimit(0.0))
    assert 1 <= found.trees.n_trees < plan.n_trees
    assert found.outside.shape[1] == found.trees.n_trees == len(found.part_of_tree)
