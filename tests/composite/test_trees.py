"""Composite trees: fitted, joined, voting, checked when they are read."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import RandomCompositeForestClassifier
from surewood.composite.growing import TreeRange
from surewood.composite.trees import blend, fit_trees, join_trees, vote_fractions
from surewood.svm.one_vs_one import vote_counts
from tests.composite.composite_samples import prepared, sample, setting


@pytest.fixture(scope="module")
def data():
    return prepared(*sample(120))


@pytest.fixture(scope="module")
def trees(data):
    return fit_trees(data, setting(), TreeRange(5, 0))[0]


def test_a_masked_tree_has_no_vote(data, trees):
    mask = np.zeros((data.n_rows, 5), dtype=bool)
    mask[:, 2] = True
    labels = trees.labels(data.matrix, data.gram.X, mask=mask)
    assert (labels[:, [0, 1, 3, 4]] == -1).all()
    assert np.array_equal(labels[:, 2], trees.labels(data.matrix, data.gram.X)[:, 2])


@pytest.mark.parametrize("leaf_scores", ["one_hot", "ovo_votes"])
def test_scores_are_the_mean_of_single_trees(data, trees, leaf_scores):
    scores = trees.composite_scores(data.matrix, data.gram.X, leaf_scores)
    single = []
    for tree in range(5):
        mask = np.zeros((data.n_rows, 5), dtype=bool)
        mask[:, tree] = True
        single.append(trees.composite_scores(data.matrix, data.gram.X, leaf_scores, mask=mask))
    assert scores == pytest.approx(np.mean(single, axis=0))
    nobody = np.zeros((data.n_rows, 5), dtype=bool)
    assert np.isnan(trees.composite_scores(data.matrix, data.gram.X, leaf_scores, mask=nobody)).all()


def test_joined_trees_vote_as_before(data, trees):
    other = fit_trees(data, setting(), TreeRange(3, 9))[0]
    joined = join_trees([trees, other])
    assert joined.n_trees == 8
    assert joined.leaves.tree.max() == 7
    both = [part.labels(data.matrix, data.gram.X) for part in (trees, other)]
    assert np.array_equal(joined.labels(data.matrix, data.gram.X), np.hstack(both))
    assert join_trees([trees]) is trees


def test_trees_do_not_depend_on_their_company(data):
    together = fit_trees(data, setting(selection="random_degree"), TreeRange(6, 3))[0]
    first = fit_trees(data, setting(selection="random_degree"), TreeRange(2, 3))[0]
    rest = fit_trees(data, setting(selection="random_degree"), TreeRange(4, 3, 2))[0]
    joined = join_trees([first, rest])
    labels = together.labels(data.matrix, data.gram.X)
    assert np.array_equal(joined.labels(data.matrix, data.gram.X), labels)
    assert np.array_equal(joined.leaves.degree, together.leaves.degree)


def test_degree_zero_is_the_majority_class():
    rng = np.random.default_rng(0)
    data = prepared(rng.normal(size=(60, 3)), rng.integers(0, 2, 60))
    tiny = setting(max_depth=0, constant_leaves=True, gamma_scale=1e-9, C=(1e-6, 1e-6))
    model = fit_trees(data, tiny, TreeRange(1, 0))[0]
    assert model.leaves.degree.tolist() == [0]
    assert model.leaves.constant[0] == np.bincount(data.y).argmax()
    assert model.predictor is None


def test_masked_votes():
    labels = np.array([[0, 1, 1], [-1, 2, -1], [-1, -1, -1]], dtype=np.int32)
    assert vote_counts(labels, 3).tolist() == [[1, 2, 0], [0, 0, 1], [0, 0, 0]]
    fractions = vote_fractions(labels, 3)
    assert fractions[0].tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert np.isnan(fractions[2]).all()


def test_a_blend_leaves_unknown_rows_to_the_other_side():
    a = np.array([[1.0, 0.0], [np.nan, np.nan]])
    b = np.array([[0.0, 1.0], [0.3, 0.7]])
    assert blend(a, b, 0.25).tolist() == [[0.75, 0.25], [0.3, 0.7]]


@pytest.fixture(scope="module")
def forest():
    X, y = load_iris(return_X_y=True)
    return RandomCompositeForestClassifier(6, random_state=0).fit(X, y).model_.trees


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
}


def test_a_whole_forest_is_accepted(forest):
    assert pickle.loads(pickle.dumps(forest)).n_trees == forest.n_trees


@pytest.mark.parametrize("kind", LEAVES)
def test_leaves_that_do_not_fit_are_refused(forest, kind):
    forged = replace(forest, leaves=replace(forest.leaves, **LEAVES[kind](forest)))
    with pytest.raises(ValueError, match=r"\.$"):
        pickle.loads(pickle.dumps(forged))


@pytest.mark.parametrize("kind", TREES)
def test_trees_that_do_not_fit_are_refused(forest, kind):
    forged = replace(forest, **TREES[kind](forest))
    with pytest.raises(ValueError, match=r"\.$"):
        pickle.loads(pickle.dumps(forged))
