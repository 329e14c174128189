import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood.deepforest.members import TreeSettings, parse_members, tree_params
from surewood.deepforest.tasks import HeldRows, grow_and_predict, grow_and_predict_out_of_bag
from surewood.trees import bin_array, grow_forest

ROWS = np.flatnonzero(np.arange(150) % 3)


@pytest.fixture
def table():
    X, y = load_iris(return_X_y=True)
    return bin_array(X), y.astype(np.uint16)


@pytest.fixture
def grow(table):
    (member,) = parse_members(["random"], 4)
    params = tree_params(member, TreeSettings(), 4, 3, out_of_bag=True)
    return partial(grow_forest, *table, 3, params, n_trees=4, seed=7, rows=ROWS, by_content=False)


def test_held_out_rows_get_the_sum_over_the_trees(grow, table):
    (matrix, labels), held = table, np.arange(0, 150, 3)
    grown = grow_and_predict(grow, HeldRows(matrix, held))
    assert grown.forest.n_trees == 4
    np.testing.assert_allclose(grown.sums.sum(axis=1), 4.0)
    assert (grown.sums.argmax(axis=1) == labels[held]).mean() > 0.8
    assert grown.importances.shape == (4,)


def test_rows_in_every_bag_have_no_votes(grow, table):
    grown = grow_and_predict_out_of_bag(grow, table[0], 0)
    np.testing.assert_allclose(grown.sums.sum(axis=1), grown.votes)
    assert set(grown.rows.tolist()) <= set(ROWS.tolist())
    assert 0 <= grown.votes.min() <= grown.votes.max() <= 4


def test_a_task_travels_and_gathers_its_rows_on_arrival(grow, table):
    held = HeldRows(table[0], np.arange(5))
    held.gathered()
    sent_grow, sent_held = pickle.loads(pickle.dumps((grow, held)))
    assert sent_held._gathered is None
    here, there = grow_and_predict(grow, held), grow_and_predict(sent_grow, sent_held)
    np.testing.assert_array_equal(here.sums, there.sums)
