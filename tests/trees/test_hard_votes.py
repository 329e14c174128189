"""Leaves that vote for one class."""

import numpy as np
import pytest

from surewood.trees import TreeParams, bin_array, grow_forest
from surewood.trees.hard_votes import with_hard_votes


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("short", [False, True])
def test_probabilities_are_counts_of_the_trees_votes(n_classes, short):
    rng = np.random.default_rng(0)
    matrix = bin_array(rng.normal(size=(300, 4)))
    y = rng.integers(0, n_classes, 300)
    params = TreeParams(max_depth=4, max_features=2, sampling="bootstrap")
    forest = grow_forest(matrix, y, n_classes, params, n_trees=7, seed=0).forest
    votes = forest.votes(matrix)
    counts = np.stack([(votes == c).mean(axis=1) for c in range(n_classes)], axis=1)
    hard = with_hard_votes(forest.with_short_nodes() if short else forest)
    np.testing.assert_allclose(hard.predict_proba(matrix), counts, atol=1e-12)
    np.testing.assert_array_equal(hard.votes(matrix), votes)
