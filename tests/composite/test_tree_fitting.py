"""Composite trees of one setting."""

import numpy as np
import pytest

from surewood.composite.growing import TreeRange
from surewood.composite.tree_fitting import fit_trees
from surewood.composite.trees import join_trees
from tests.composite.composite_samples import OPTIONS, prepared, sample, setting


@pytest.fixture(scope="module")
def data():
    return prepared(*sample(150))


def test_trees_do_not_depend_on_their_company(data):
    together = fit_trees(data, setting(selection="random_degree"), TreeRange(6, 3), OPTIONS).trees
    first = fit_trees(data, setting(selection="random_degree"), TreeRange(2, 3), OPTIONS).trees
    rest = fit_trees(data, setting(selection="random_degree"), TreeRange(4, 3, 2), OPTIONS).trees
    joined = join_trees([first, rest])
    labels = together.labels(data.matrix, data.gram.X)
    assert np.array_equal(joined.labels(data.matrix, data.gram.X), labels)
    assert np.array_equal(joined.leaves.degree, together.leaves.degree)
    assert np.array_equal(together.first(2).labels(data.matrix, data.gram.X), labels[:, :2])


def test_degree_zero_is_the_majority_class():
    rng = np.random.default_rng(0)
    data = prepared(rng.normal(size=(60, 3)), rng.integers(0, 2, 60))
    tiny = setting(max_depth=0, constant_leaves=True, gamma_scale=1e-9, C=(1e-6, 1e-6))
    model = fit_trees(data, tiny, TreeRange(1, 0), OPTIONS).trees
    assert model.leaves.degree.tolist() == [0]
    assert model.leaves.constant[0] == np.bincount(data.y).argmax()
    assert model.predictor is None
