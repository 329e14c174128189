"""Short nodes say what whole ones say: every kind of leaf, split and prediction."""

import pickle

import numpy as np
import pytest

from surewood.tables import TableSchema
from surewood.trees import BinnedMatrix, TreeParams, bin_array, bin_table, grow_forest, trace
from surewood.trees.joining import ForestJoiner


def grown(n_classes, categories, missing, n_trees=5, n_columns=6, n_rows=1500, **params):
    rng = np.random.default_rng(n_classes + 10 * categories + 100 * missing)
    X = rng.normal(size=(n_rows, n_columns)).round(1)
    if categories:
        X[:, 1] = rng.integers(0, 12, n_rows)
    signal = X[:, 0] + (X[:, 1] % 3) + rng.normal(size=n_rows)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes)).astype(np.uint16)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    schema = TableSchema.learn(X, [1] if categories else "from_dtype")
    matrix = bin_table(schema.read(X))
    forest = grow_forest(matrix, y, n_classes, TreeParams(**params), n_trees=n_trees, seed=1).forest
    return X, matrix, forest


CASES = [
    pytest.param(classes, categories, missing, params, id=f"{classes}-{categories}-{missing}-{name}")
    for classes in (2, 3, 30)
    for categories in (False, True)
    for missing in (False, True)
    for name, params in (
        ("full", {}),
        ("mixed", {"min_samples_leaf": 7}),
        ("stump", {"max_depth": 1}),
        ("root", {"max_depth": 0}),
    )
]


@pytest.mark.parametrize(("n_classes", "categories", "missing", "params"), CASES)
def test_the_same_forest(n_classes, categories, missing, params):
    X, matrix, forest = grown(n_classes, categories, missing, **params)
    short = forest.with_short_nodes()
    assert short.word_bits > 0
    assert short.nodes.nbytes == forest.nodes.nbytes / 2
    assert short.with_short_nodes() is short
    everywhere = np.arange(len(forest.nodes))
    np.testing.assert_array_equal(short.read_nodes(everywhere), forest.read_nodes(everywhere))
    for own, other in zip(short.with_whole_nodes().arrays, forest.arrays):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_array_equal(short.predict_proba(matrix), forest.predict_proba(matrix))
    np.testing.assert_array_equal(short.apply(matrix), forest.apply(matrix))
    np.testing.assert_array_equal(short.apply(matrix, max_depth=2), forest.apply(matrix, max_depth=2))
    np.testing.assert_array_equal(short.votes(matrix), forest.votes(matrix))
    few = BinnedMatrix(
        tuple(block[:, :20].copy() for block in matrix.blocks), matrix.mapper, matrix.has_missing
    )
    np.testing.assert_array_equal(short.predict_proba(few), forest.predict_proba(few))
    leaves = forest.apply(few)
    for tree in range(forest.n_trees):
        np.testing.assert_array_equal(
            short.class_vector(tree, int(leaves[3, tree])), forest.class_vector(tree, int(leaves[3, tree]))
        )
        for name, column in forest.table(tree).items():
            np.testing.assert_array_equal(short.table(tree)[name], column)
        path = forest.path(tree, int(leaves[3, tree]), matrix.mapper)
        assert str(short.path(tree, int(leaves[3, tree]), matrix.mapper)) == str(path)
    one, other = trace(short, few, matrix.mapper), trace(forest, few, matrix.mapper)
    np.testing.assert_array_equal(one.node, other.node)
    np.testing.assert_array_equal(one.leaf, other.leaf)
    if not categories:
        for rows in (X, X[:5], X.astype(np.float32)):
            np.testing.assert_array_equal(
                short.predict_proba_raw(rows, matrix.mapper), forest.predict_proba_raw(rows, matrix.mapper)
            )
    part, whole_part = short.trees(1, 3), forest.trees(1, 3)
    np.testing.assert_array_equal(part.predict_proba(matrix), whole_part.predict_proba(matrix))
    again = pickle.loads(pickle.dumps(short))
    np.testing.assert_array_equal(again.predict_proba(matrix), forest.predict_proba(matrix))


def test_wide_tables_are_predicted_from_raw_thresholds():
    X, matrix, forest = grown(3, False, True, n_trees=2, n_columns=40)
    short = forest.with_short_nodes()
    np.testing.assert_array_equal(
        short.predict_proba_raw(X, matrix.mapper), forest.predict_proba_raw(X, matrix.mapper)
    )


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 255, 256])
def test_any_number_of_columns(n_columns):
    """The mark of leaves is one more number than there are features."""
    _, matrix, forest = grown(2, False, False, n_columns=max(n_columns, 2), n_rows=300)
    short = forest.with_short_nodes()
    assert short.word_bits == 10 + int(np.ceil(np.log2(max(n_columns, 2) + 1)))
    np.testing.assert_array_equal(short.predict_proba(matrix), forest.predict_proba(matrix))


def test_a_tree_too_large_stays_whole_and_joins_with_short_ones():
    rng = np.random.default_rng(0)
    matrix = bin_array(rng.integers(0, 200, size=(12_000, 1500)).astype(np.float32))
    y = rng.integers(0, 2, 12_000).astype(np.uint16)
    batches = [
        grow_forest(matrix, y, 2, TreeParams(max_depth=depth, max_features=1), n_trees=2, seed=depth).forest
        for depth in (2, 40, 3)
    ]
    assert batches[1].with_short_nodes() is batches[1]
    joiner, whole = ForestJoiner(6, 2, 1500), ForestJoiner(6, 2, 1500)
    for batch in batches:
        joiner.add(batch.with_short_nodes())
        whole.add(batch)
    for own, other in zip(joiner.forest().arrays, whole.forest().arrays):
        np.testing.assert_array_equal(own, other)


def test_short_batches_join_and_extend():
    _, matrix, forest = grown(2, False, True, n_trees=6, min_samples_leaf=5)
    joiner = ForestJoiner(6, 2, 6)
    for begin in (0, 2, 4):
        joiner.add(forest.trees(begin, begin + 2).with_short_nodes())
    joined = joiner.forest()
    assert joined.word_bits > 0
    np.testing.assert_array_equal(joined.predict_proba(matrix), forest.predict_proba(matrix))
    more = joined.extend(forest)
    np.testing.assert_array_equal(more.predict_proba(matrix), forest.extend(forest).predict_proba(matrix))
