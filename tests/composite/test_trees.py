"""Composite trees as arrays: joined, cut to prefixes, read from old files."""

import numpy as np
import pytest

from surewood.composite.growing import TreeRange
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.setting import Setting
from surewood.composite.tree_fitting import fit_trees
from surewood.composite.trees import CompositeTrees, LeafTable, join_trees
from tests.composite.composite_samples import prepared, sample

SETTING = Setting(2, 2, (1, 2), (1.0, 1.0), 1e-4)


@pytest.fixture(scope="module")
def data():
    return prepared(*sample(120))


@pytest.fixture(scope="module")
def trees(data):
    return fit_trees(data, SETTING, TreeRange(5, 0), SolverOptions()).trees


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
    other = fit_trees(data, SETTING, TreeRange(3, 9), SolverOptions()).trees
    joined = join_trees([trees, other])
    assert joined.n_trees == 8
    assert joined.leaves.tree.max() == 7
    both = [part.labels(data.matrix, data.gram.X) for part in (trees, other)]
    assert np.array_equal(joined.labels(data.matrix, data.gram.X), np.hstack(both))
    assert np.array_equal(joined.first(5).labels(data.matrix, data.gram.X), both[0])
    assert join_trees([trees]) is trees


def test_names_of_older_files_are_understood(data, trees):
    state = dict(vars(trees))
    table = dict(vars(state.pop("leaves")))
    table["machine"] = table.pop("svm")
    old_table = LeafTable.__new__(LeafTable)
    old_table.__setstate__(table)
    old = {
        **state, "facts": old_table, "plain_share": state.pop("plain_weight"),
        "leaf_trust": state.pop("reliability"),
    }  # fmt: skip
    old.pop("plain_weight"), old.pop("reliability")
    read = CompositeTrees.__new__(CompositeTrees)
    read.__setstate__(old)
    assert np.array_equal(read.labels(data.matrix, data.gram.X), trees.labels(data.matrix, data.gram.X))
    assert vars(read).keys() == vars(trees).keys()
