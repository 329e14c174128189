from fractions import Fraction

import numpy as np
import pytest

from surewood.cascade.prefix_tree import Path, PrefixTree
from tests.cascade.small_tasks import small_tasks


def test_subsets_are_the_nearest_points():
    _, _, (task,) = small_tasks()
    tree = PrefixTree(task.trainer, (Fraction(1, 2),), 2)
    tree.train(0, np.array([0]), np.array([1]))
    tree.settle(1)
    rows = tree.rows(1, 0)
    outcome = task.trainer.train([np.arange(len(task.trainer.weight), dtype=np.int32)], [1])[0][0]
    inside = np.isin(np.arange(len(task.trainer.weight)), rows)
    assert outcome.distance[inside].max() < outcome.distance[~inside].min()
    assert tree.path(1, 0, 0) == Path((1, 0), (0,))
    assert tree.levels[1].leaf_plus[0] == outcome.correct[~inside].sum()


def test_a_pair_is_trained_once():
    _, _, (task,) = small_tasks()
    tree = PrefixTree(task.trainer, (Fraction(1, 2),), 2)
    for _ in range(2):
        tree.train(0, np.array([0, 0]), np.array([0, 1]))
    assert tree.n_svms == 2


def test_a_fraction_of_one_is_left_out_and_numbers_are_limited():
    _, _, (task,) = small_tasks()
    assert PrefixTree(task.trainer, (Fraction(1),), 5).max_leaves == 1
    with pytest.raises(ValueError, match="makes more cascades than can be numbered"):
        PrefixTree(task.trainer, tuple(Fraction(k, 100) for k in range(1, 99)), 12)
