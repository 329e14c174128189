from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from surewood.deepforest.data import TrainingSet
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.layer_task import LayerTask, with_at_most
from surewood.deepforest.members import parse_members
from surewood.deepforest.plan import MarginPlan, PilotRule, RunOptions
from surewood.estimators.time_limit import TimeLimit
from surewood.trees import bin_array


@pytest.fixture(scope="module")
def training():
    X, y = make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=1)
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.arange(2))


def task(training, forests=("random", "extra"), n_trees=9, cross_fit="kfold", **options):
    members = parse_members(forests, n_trees)
    plan = MarginPlan(members=members, schedule=(4,) * len(members), n_folds=3, cross_fit=cross_fit)
    return LayerTask(training, training.inputs, None, plan, 1, RunOptions(**options))


@pytest.mark.parametrize("cross_fit", ["kfold", "oob"])
def test_trees_that_come_by_and_by_are_those_of_one_go(training, cross_fit):
    layer = task(training, cross_fit=cross_fit)
    whole = layer.train()
    begun, few = layer.begin(4)
    grown, n_trees = layer.grow(begun, 4)
    assert (few.n_trees, n_trees) == (4, 9)
    assert grown.block.n_trees == whole.block.n_trees
    np.testing.assert_allclose(grown.vectors, whole.vectors, atol=1e-12)
    np.testing.assert_allclose(grown.member_importances, whole.member_importances, atol=1e-12)
    np.testing.assert_allclose(
        grown.block.vectors(training.inputs), whole.block.vectors(training.inputs), atol=1e-12
    )


def test_forests_may_differ_in_size(training):
    layer = task(training, forests=(("random", 4), ("extra", 9)))
    whole, grown = layer.train(), layer.grow(layer.begin(4)[0], 4)[0]
    assert [model.n_trees for model in grown.block.models] == [12, 27]
    np.testing.assert_allclose(grown.vectors, whole.vectors, atol=1e-12)


def test_places_are_those_of_the_pool(training):
    pool = task(training, forests=("random", "extra", "extra"))
    alone = replace(task(training, forests=("extra",)), places=[2])
    np.testing.assert_array_equal(alone.train().vectors[0], pool.train().vectors[2])


def test_growing_stops_when_the_time_is_over(training):
    layer = task(training, time_limit=TimeLimit(0.0))
    fit, n_trees = layer.grow(layer.begin(4)[0], 4)
    assert (n_trees, fit.block.n_trees) == (4, 2 * 3 * 4)


def test_no_more_trees_than_needed(training):
    layer = task(training, n_trees=50)
    few = layer.begin(10)[1]
    sizes = [
        layer.with_trees_needed(few, PilotRule(10, 20, tolerance)).plan.members[0].n_trees
        for tolerance in (1e-3, 0.1, 1e3)
    ]
    assert sizes[0] == 50
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] == 20
    assert [n for _, n in with_at_most(layer.plan, 7).forests] == [7, 7]
