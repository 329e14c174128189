"""Numbers that connect splits, leaves and SVMs are checked when a forest is read."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import RandomCompositeForestClassifier


@pytest.fixture(scope="module")
def trees():
    X, y = load_iris(return_X_y=True)
    model = RandomCompositeForestClassifier(6, study={"leaf_scores": "calibrated"}, random_state=0)
    return model.fit(X, y).model_.trees


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


LEAVES = {
    "svm beyond the last": lambda t: {"svm": changed(t.leaves.svm, 0, 10**6)},
    "constant beyond the classes": lambda t: {"constant": changed(t.leaves.constant, 0, 3)},
    "neither": lambda t: {"svm": np.full_like(t.leaves.svm, -1)},
    "short column": lambda t: {"depth": t.leaves.depth[:-1]},
    "infinite weight": lambda t: {"correct": changed(t.leaves.correct, 0, np.inf)},
    "type": lambda t: {"svm": t.leaves.svm.astype(float)},
}
TREES = {
    "leaf beyond the last": lambda t: {"leaf_of_node": changed(t.leaf_of_node, 0, len(t.leaves))},
    "short": lambda t: {"leaf_of_node": t.leaf_of_node[:-1]},
    "classes": lambda t: {"n_classes": 2},
    "many classes": lambda t: {"n_classes": 10**9},
    "weight": lambda t: {"plain_weight": 2.0},
    "accuracy": lambda t: {
        "reliability": replace(t.reliability, accuracy=changed(t.reliability.accuracy, 0, np.nan))
    },
}


def test_a_whole_forest_is_accepted(trees):
    assert pickle.loads(pickle.dumps(trees)).n_trees == trees.n_trees


@pytest.mark.parametrize("kind", LEAVES)
def test_leaves_that_do_not_fit_are_refused(trees, kind):
    forged = replace(trees, leaves=replace(trees.leaves, **LEAVES[kind](trees)))
    with pytest.raises(ValueError, match=r"\.$"):
        pickle.loads(pickle.dumps(forged))


@pytest.mark.parametrize("kind", TREES)
def test_trees_that_do_not_fit_are_refused(trees, kind):
    forged = replace(trees, **TREES[kind](trees))
    with pytest.raises(ValueError, match=r"\.$"):
        pickle.loads(pickle.dumps(forged))
