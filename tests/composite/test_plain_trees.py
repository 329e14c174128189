"""Plain trees beside the composite ones, and how many a time limit allows."""

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier
from surewood.composite.plain_trees import grow_plain, plain_in_time
from surewood.composite.plan import make_plan
from surewood.estimators.time_limit import TimeLimit
from tests.composite.composite_samples import sample


@pytest.fixture(scope="module")
def planned():
    model = RandomCompositeForestClassifier(8, plain_weight=0.5, random_state=0)
    with model._begin(*sample(120, seed=1), None) as inputs:
        data = model._prepared(inputs)
        options = model._options()
        yield make_plan(model._parameters(), data, 3, options), data, options


def test_trees_are_those_of_the_plan_s_seed(planned):
    plan, data, options = planned
    few, more = (grow_plain(plan, data, options, n).forest for n in (2, 5))
    np.testing.assert_array_equal(few.nodes, more.trees(0, 2).with_whole_nodes().nodes)


def test_rows_left_out_are_in_no_bag(planned):
    plan, data, options = planned
    rows = np.arange(40)
    grown = grow_plain(plan, data, options, 3, rows)
    assert set(grown.bag.rows) <= set(rows.tolist())


def test_without_a_limit_all_are_grown_and_without_time_ten(planned):
    plan, data, options = planned
    assert plain_in_time(plan, data, options, TimeLimit(None)) == plan.n_plain
    assert plain_in_time(plan, data, options, TimeLimit(0.0)) == min(10, plan.n_plain)
