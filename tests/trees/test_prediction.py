"""The ways down a tree (packed words of either size, few rows, raw numbers) against a walk node by node."""

import numpy as np
import pytest

from surewood.trees import FlatForest, ForestJoiner, TreeParams, bin_array, grow_forest

N_ROWS = 400  # more than the core wants for packing trees, and no multiple of eight


def leaf_of(table, codes):
    """The leaf of one row, by the meaning of the columns of `FlatForest.table`."""
    node = 0
    while table["feature"][node] >= 0:
        code = codes[table["feature"][node]]
        left = table["missing_left"][node] if code == 255 else code <= table["last_bin"][node]
        node = table["left"][node] if left else table["right"][node]
    return node


def problem(n_columns, n_classes, missing, n_rows=N_ROWS - 3):
    rng = np.random.default_rng(n_columns + n_classes)
    X = rng.normal(size=(n_rows, n_columns)).round(1)
    y = (
        np.digitize(X[:, :3].sum(axis=1) + rng.normal(size=n_rows), np.linspace(-2, 2, n_classes - 1))
    ).astype(np.uint16)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "n_columns", [5, 140, 300]
)  # 140 need wide words where values are missing, 300 always
@pytest.mark.parametrize("n_trees", [3, 20])  # few trees keep the rows as they come, more sort them
def test_leaves_and_vectors_are_those_of_a_walk(n_columns, n_classes, missing, n_trees):
    X, y = problem(n_columns, n_classes, missing)
    matrix = bin_array(X)
    params = TreeParams(max_features=n_columns, min_samples_leaf=2)
    forest = grow_forest(matrix, y, n_classes, params, n_trees=n_trees, seed=1).forest
    leaves = forest.apply(matrix)
    sums = np.zeros((len(X), n_classes))
    for tree in range(n_trees):
        table = forest.table(tree)
        expected = [leaf_of(table, codes) for codes in matrix.blocks[0].T]
        assert leaves[:, tree].tolist() == expected
        vectors = {leaf: forest.class_vector(tree, leaf) for leaf in set(expected)}
        sums += np.array([vectors[leaf] for leaf in expected])
    assert np.allclose(forest.predict_proba(matrix), sums / n_trees, rtol=1e-15)
    assert (forest.predict_proba_raw(X, matrix.mapper) == forest.predict_proba(matrix)).all()


def test_many_rows_at_once_or_few_make_no_difference():
    X, y = problem(6, 4, missing=True, n_rows=40_000)
    matrix = bin_array(X)
    forest = grow_forest(matrix, y, 4, TreeParams(), n_trees=20, seed=1).forest
    whole = forest.predict_proba(matrix)
    assert (whole == forest.predict_proba(matrix, n_jobs=3)).all()
    few = np.concatenate(
        [forest.predict_proba_raw(X[at : at + 100], matrix.mapper) for at in range(0, 3000, 100)]
    )
    assert (whole[:3000] == few).all()


def test_trees_with_more_nodes_than_half_a_word_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80_000, 4))
    y = rng.integers(0, 2, len(X)).astype(np.uint16)
    matrix = bin_array(X)
    forest = grow_forest(
        matrix,
        y,
        2,
        TreeParams(max_features=1, sampling="all", splitter="completely_random"),
        n_trees=1,
        seed=1,
    ).forest
    assert len(forest.nodes) > 65_536
    table = forest.table(0)
    leaves = forest.apply(matrix)[:, 0]
    for row in range(0, len(X), 1000):
        assert leaves[row] == leaf_of(table, matrix.blocks[0][:, row])


def test_batches_join_to_the_forest_of_all_trees():
    X, y = problem(6, 3, missing=True)
    matrix = bin_array(X)
    small, large = (
        TreeParams(max_depth=1),
        TreeParams(min_samples_leaf=3),
    )  # the second needs more room than thought
    batches = [
        grow_forest(matrix, y, 3, params, n_trees=n_trees, seed=1).forest
        for params, n_trees in ((small, 2), (large, 5), (small, 1))
    ]
    joiner = ForestJoiner(8, 3, 6)
    for batch in batches:
        joiner.add(batch)
    expected = FlatForest.join([batch.arrays for batch in batches], 3, 6)
    for ours, theirs in zip(joiner.forest().arrays, expected.arrays):
        assert ours.dtype == theirs.dtype
        assert (ours == theirs).all()
