import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood.deepforest.members import TreeSettings, parse_members, tree_params
from surewood.deepforest.tasks import HeldRows, TreeTask, grow_and_predict, grow_and_predict_out_of_bag
from surewood.trees import bin_array


@pytest.fixture
def task():
    X, y = load_iris(return_X_y=True)
    (member,) = parse_members(["random"], 4)
    params = tree_params(member, TreeSettings(), 4, 3, out_of_bag=True)
    rows = np.flatnonzero(np.arange(150) % 3)
    return TreeTask(bin_array(X), y.astype(np.uint16), 3, params, None, rows, 7, 0, 4)


def test_held_out_rows_get_the_sum_over_the_trees(task):
    held = np.arange(0, 150, 3)
    grown = grow_and_predict(task, HeldRows(task.matrix, held))
    assert grown.forest.n_trees == 4
    np.testing.assert_allclose(grown.sums.sum(axis=1), 4.0)
    assert (grown.sums.argmax(axis=1) == task.labels[held]).mean() > 0.8
    assert grown.importances.shape == (4,)


def test_rows_in_every_bag_have_no_votes(task):
    grown = grow_and_predict_out_of_bag(task)
    np.testing.assert_allclose(grown.sums.sum(axis=1), grown.votes)
    assert set(grown.rows.tolist()) <= set(task.rows.tolist())
    assert 0 <= grown.votes.min() <= grown.votes.max() <= 4


def test_a_task_travels_and_gathers_its_rows_on_arrival(task):
    held = HeldRows(task.matrix, np.arange(5))
    held.gathered()
    sent_task, sent_held = pickle.loads(pickle.dumps((task, held)))
    assert sent_held._gathered is None
    here, there = grow_and_predict(task, held), grow_and_predict(sent_task, sent_held)
    np.testing.assert_array_equal(here.sums, there.sums)
