"""Trees as arrays: parts, joins, votes and class vectors."""

import pickle

import numpy as np
import pytest

from surewood import BinnedForestClassifier
from surewood.tables import begin_predict
from surewood.trees.flat_tree import join_starts

rng = np.random.default_rng(1)
X = rng.normal(size=(250, 5))


@pytest.fixture(scope="module", params=[2, 4], ids=["two classes", "four classes"])
def model(request):
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=250), np.linspace(-1, 1, request.param - 1))
    return BinnedForestClassifier(6, random_state=0, min_samples_leaf=5).fit(X, y)


def matrix_of(model):
    return model.model_.binned(begin_predict(model, X))


def test_the_mean_over_parts_is_the_whole(model):
    forest, matrix = model.forest_, matrix_of(model)
    parts = [forest.trees(0, 2), forest.trees(2, 6)]
    mixed = sum(part.n_trees * part.predict_proba(matrix) for part in parts) / 6
    np.testing.assert_allclose(mixed, forest.predict_proba(matrix))
    again = parts[0].extend(parts[1])
    np.testing.assert_array_equal(again.predict_proba(matrix), forest.predict_proba(matrix))


def test_class_vectors_of_the_leaves_make_the_prediction(model):
    forest, matrix = model.forest_, matrix_of(model)
    leaves = forest.apply(matrix)
    for row in (0, 100, 249):
        mean = np.mean([forest.class_vector(t, int(leaves[row, t])) for t in range(forest.n_trees)], axis=0)
        np.testing.assert_allclose(mean, forest.predict_proba(matrix)[row], rtol=1e-6)


def test_votes_are_the_largest_entries_of_the_class_vectors(model):
    forest, matrix = model.forest_, matrix_of(model)
    leaves, votes = forest.apply(matrix), forest.votes(matrix)
    for row in (3, 77):
        for tree in range(forest.n_trees):
            vector = forest.class_vector(tree, int(leaves[row, tree]))
            assert vector[votes[row, tree]] == vector.max()


def test_an_inner_node_has_no_class_vector(model):
    with pytest.raises(ValueError, match="node 0 of tree 0 is not a leaf"):
        model.forest_.class_vector(0, 0)


def test_depth_can_be_cut_at_prediction(model):
    forest, matrix = model.forest_, matrix_of(model)
    shallow = forest.apply(matrix, max_depth=1)
    for tree in range(forest.n_trees):
        assert set(np.unique(shallow[:, tree])) <= set(np.flatnonzero(forest.table(tree)["depth"] <= 1))


def test_values_of_leaves_are_looked_up(model):
    forest, matrix = model.forest_, matrix_of(model)
    values = np.arange(len(forest.nodes), dtype=np.int32) * 3
    leaves = forest.apply(matrix).astype(np.int64) + forest.node_start[:-1]
    np.testing.assert_array_equal(forest.look_up(matrix, values), values[leaves])


def test_short_nodes_pickles_and_back(model):
    forest, matrix = model.forest_, matrix_of(model)
    for other in (forest.with_short_nodes(), forest.with_whole_nodes(), pickle.loads(pickle.dumps(forest))):
        np.testing.assert_array_equal(other.predict_proba(matrix), forest.predict_proba(matrix))


def test_starts_of_batches_become_starts_of_all():
    assert join_starts([np.array([0, 2, 5]), np.array([0, 4])]).tolist() == [0, 2, 5, 9]
