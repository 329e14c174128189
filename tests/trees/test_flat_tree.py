"""Grown trees: prediction, joining, hard votes, tables and paths, whole and short nodes, their bits."""

import pickle

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier
from surewood.tables import TableSchema, begin_predict
from surewood.trees import node_codec
from surewood.trees.binning import BinnedMatrix, bin_array, bin_table
from surewood.trees.flat_tree import FlatForest, ForestJoiner, with_hard_votes
from surewood.trees.growing import TreeParams, grow_forest
from surewood.trees.tracing import trace

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


@pytest.fixture(scope="module")
def model_tree_paths():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(list("abcd"), 300)})
    frame.loc[::17, "x"] = np.nan
    y = (frame["x"].fillna(0) + (frame["c"] == "b") > 0.3).astype(int)
    forest = BinnedForestClassifier(3, random_state=0, max_depth=4).fit(frame, y)
    return forest, frame


def test_children_parents_and_depths_fit_together(model_tree_paths):
    forest = model_tree_paths[0].forest_
    for tree in range(forest.n_trees):
        table = forest.table(tree)
        inner = np.flatnonzero(table["left"] >= 0)
        for node in inner:
            for child in (table["left"][node], table["right"][node]):
                assert table["parent"][child] == node
                assert table["depth"][child] == table["depth"][node] + 1
        assert (table["parent"] == -1).sum() == 1
        assert ((table["feature"] >= 0) == (table["left"] >= 0)).all()


def test_a_row_meets_every_split_of_its_path_on_the_side_that_the_path_takes(model_tree_paths):
    classifier, frame = model_tree_paths
    forest, mapper = classifier.forest_, classifier.mapper_
    leaves = classifier.apply(frame)
    categories = {value: k for k, value in enumerate(sorted(frame["c"].unique()))}
    for row in range(0, 300, 7):
        for tree in range(forest.n_trees):
            for split in forest.path(tree, int(leaves[row, tree]), mapper):
                value = frame.iloc[row, split.feature]
                if split.categories is not None:
                    left = categories[value] in split.categories
                else:
                    left = split.missing_left if np.isnan(value) else value <= split.threshold
                assert left == split.went_left


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


LEAF = ((1 << 22) - 1) << 10


def number_split(feature, last_bin, missing_left):
    """The word of a split by number: feature, last bin of the left side, side of missing values."""
    return feature << 10 | (last_bin + missing_left) << 2 | missing_left << 1


@pytest.mark.parametrize("missing_left", [0, 1])
@pytest.mark.parametrize(("feature", "last_bin"), [(0, 0), (7, 3), (4_000_000, 253)])
def test_splits_by_number(feature, last_bin, missing_left):
    word = np.array([number_split(feature, last_bin, missing_left)])
    assert node_codec.is_split(word).all()
    assert not node_codec.is_category(word).any()
    assert node_codec.feature_of(word).tolist() == [feature]
    assert node_codec.last_bin(word).tolist() == [last_bin]
    assert node_codec.missing_left(word).tolist() == [bool(missing_left)]
    codes = np.arange(256)
    expected = np.where(codes == 255, bool(missing_left), codes <= last_bin)
    np.testing.assert_array_equal(node_codec.goes_left(word.repeat(256), codes), expected)


def test_splits_by_category_and_leaves():
    word = np.array([5 << 10 | 1, LEAF, LEAF + 1, LEAF + 2])
    np.testing.assert_array_equal(node_codec.is_category(word), [True, False, False, False])
    np.testing.assert_array_equal(node_codec.is_pure(word), [False, True, False, False])
    np.testing.assert_array_equal(node_codec.is_mixed(word), [False, False, True, False])
    np.testing.assert_array_equal(node_codec.is_binary(word), [False, False, False, True])
    np.testing.assert_array_equal(node_codec.is_split(word), [True, False, False, False])


def test_binary_leaves_hold_float_bits():
    bits = np.array([0.25, 1.0], dtype=np.float32).view(np.uint32).astype(np.int64)
    np.testing.assert_array_equal(node_codec.probability(bits), np.array([0.25, 1.0], dtype=np.float32))


def test_sets_of_categories():
    members = [0, 63, 64, 200, 255]
    words = np.zeros(4, dtype=np.uint64)
    for code in members:
        words[code // 64] |= np.uint64(1) << np.uint64(code % 64)
    assert node_codec.set_members(words) == members
    codes = np.arange(256)
    found = node_codec.in_set(np.tile(words, (256, 1)), codes)
    np.testing.assert_array_equal(found, np.isin(codes, members))


def test_short_nodes_are_read_as_whole_ones():
    bits = 16
    small_leaf = ((1 << (bits - 10)) - 1) << 10
    nodes = np.array(
        [9 << bits | number_split(3, 5, 1), 2 << bits | small_leaf, 4 << bits | 3 << 10 | 1], dtype=np.uint32
    )
    number, word, near = node_codec.read_short(nodes, bits)
    assert number.tolist() == [9, 2, 4]
    assert near.tolist() == [True, False, False]
    assert node_codec.feature_of(word[:1]).tolist() == [3]
    assert node_codec.is_pure(word).tolist() == [False, True, False]
