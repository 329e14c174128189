"""Batches of trees joined as they come."""

import numpy as np

from surewood import BinnedForestClassifier
from surewood.trees import ForestJoiner

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)


def test_batches_join_to_the_whole_forest():
    whole = BinnedForestClassifier(9, random_state=0).fit(X, Y).forest_
    joiner = ForestJoiner(9, whole.n_classes, whole.n_features)
    for start in range(0, 9, 4):
        joiner.add(whole.trees(start, start + 4))
    for found, expected in zip(joiner.forest().arrays, whole.arrays):
        np.testing.assert_array_equal(found, expected)


def test_short_and_whole_nodes_may_come_in_one_forest():
    whole = BinnedForestClassifier(4, random_state=0).fit(X, Y).forest_.with_whole_nodes()
    joiner = ForestJoiner(4, whole.n_classes, whole.n_features)
    joiner.add(whole.trees(0, 2).with_short_nodes())
    joiner.add(whole.trees(2, 4))
    joined = joiner.forest()
    assert joined.word_bits == 0
    for found, expected in zip(joined.arrays, whole.arrays):
        np.testing.assert_array_equal(found, expected)
