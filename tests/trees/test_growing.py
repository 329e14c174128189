"""Growing: bags, the rules of splits, and the same trees as the plain reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from surewood.tables.schema import row_weight
from surewood.trees.binning import BinMapper, BinnedMatrix, as_table, bin_array
from surewood.trees.growing import TreeParams, grow_forest, make_bag, out_of_bag
from tests.instruction_sets import each_instruction_set
from tests.trees.reference_tree import ReferenceTree, assert_same_tree, tree_key


def matrix_of(codes, is_category, scale=1.0):
    """A matrix with the given codes (n, F) and irregular representative values."""
    n_columns = codes.shape[1]
    values = np.tile(np.arange(255.0) ** 1.5 * scale, n_columns)
    mapper = BinMapper(
        np.arange(n_columns + 1, dtype=np.int64) * 255, values, values, np.array(is_category, dtype=np.uint8)
    )
    return BinnedMatrix.of(np.ascontiguousarray(codes.T), mapper)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_columns = draw(st.integers(1, 40)), draw(st.integers(1, 6))
    n_classes = draw(st.sampled_from([1, 2, 3, 5, 9, 20, 70]))
    n_codes = draw(st.sampled_from([1, 2, 4, 30, 255]))
    codes = rng.integers(0, n_codes, (n, n_columns)).astype(np.uint8)
    if draw(st.booleans()):
        codes[rng.random(codes.shape) < 0.2] = 255
    is_category = rng.random(n_columns) < draw(st.sampled_from([0.0, 0.5]))
    labels = rng.integers(0, n_classes, n)
    weight = {
        "none": None,
        "counts": rng.integers(0, 4, n).astype(float),
        "large": rng.integers(1, 10**6, n).astype(float),
    }[draw(st.sampled_from(["none", "counts", "large"]))]
    if weight is not None:
        weight[0] = 1.0
    params = TreeParams(
        splitter=draw(st.sampled_from(["best", "random", "completely_random"])),
        criterion=draw(st.sampled_from(["gini", "entropy"])),
        max_depth=draw(st.sampled_from([None, 1, 3])),
        stop_depth=draw(st.sampled_from([0, 2])),
        stop_rows=draw(st.sampled_from([0, 0, 6])),
        min_samples_split=draw(st.sampled_from([2, 5])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 3])),
        min_impurity_decrease=draw(st.sampled_from([0.0, 0.02])),
        max_features=draw(st.integers(1, n_columns)),
        sampling=draw(st.sampled_from(["all", "bootstrap", "subsample", "resample"])),
        n_draws=draw(st.sampled_from([None, max(1, n // 2)])),
    )
    return codes, is_category, labels, n_classes, weight, params, draw(st.integers(0, 2**63))


@settings(max_examples=400, deadline=None)
@given(problem=problems(), fast=st.booleans(), row_copy=st.booleans())
def test_equals_the_reference_node_by_node(problem, fast, row_copy):
    codes, is_category, labels, n_classes, weight, params, seed = problem
    matrix = matrix_of(codes, is_category)
    if row_copy:
        matrix = matrix.with_row_copy()
    grown = grow_forest(
        matrix, labels, n_classes, params, n_trees=2, seed=seed, weight=weight, fast_kernels=fast
    )
    values = [np.arange(255.0) ** 1.5] * codes.shape[1]
    for tree in range(2):
        counts = grown.bag.counts(tree).astype(np.int64)
        if grown.bag.weights is not None:
            counts *= grown.bag.weights
        bagged = counts > 0
        rows = grown.bag.rows[bagged]
        reference = ReferenceTree(
            codes[rows],
            values,
            is_category,
            labels[rows],
            counts[bagged],
            n_classes,
            params,
            tree_key(seed, tree),
            row_weight(grown.bag.weights) * (2.0 if params.sampling in ("bootstrap", "resample") else 1.0),
        )
        assert_same_tree(grown.forest, tree, reference)


X = np.random.default_rng(0).normal(size=(100, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(("sampling", "n_draws"), [("bootstrap", 50), ("subsample", 50), ("resample", 200)])
def test_draws(sampling, n_draws):
    weight = np.linspace(0.0, 1.0, 100)
    bag = make_bag(bin_array(X), Y, sampling, n_draws, 7, weight)
    counts = np.array([bag.counts(t) for t in range(300)])
    assert len(bag.rows) == 99
    assert (counts.sum(axis=1) == n_draws).all()
    if sampling == "subsample":
        assert counts.max() == 1
    share = counts.mean(axis=0) / n_draws
    expected = weight[1:] / weight.sum() if sampling == "resample" else np.full(99, 1 / 99)
    np.testing.assert_allclose(share, expected, atol=0.004)


def test_whole_weights_are_units_and_others_multiply():
    times = np.arange(100) % 3
    bag = make_bag(bin_array(X), Y, "bootstrap", None, 7, times.astype(float))
    assert bag.weights is None
    assert bag.n_draws == times.sum()
    assert np.bincount(bag.units).tolist() == times[times > 0].tolist()
    bag = make_bag(bin_array(X), Y, "bootstrap", None, 7, times * 0.3)
    assert bag.weights is not None
    assert bag.n_draws == (times > 0).sum()


@pytest.mark.parametrize("sampling", ["bootstrap", "subsample"])
def test_weight_two_is_the_row_twice_in_any_order(sampling):
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, 100)
    again = rng.permutation(np.repeat(np.arange(100), times))
    params = TreeParams(max_features=2, sampling=sampling, n_draws=0.6)
    weighted = grow_forest(
        bin_array(X, times.astype(float)), Y, 2, params, n_trees=5, seed=3, weight=times.astype(float)
    )
    repeated = grow_forest(bin_array(X[again]), Y[again], 2, params, n_trees=5, seed=3)
    np.testing.assert_array_equal(weighted.forest.nodes, repeated.forest.nodes)


SPLITTERS = ["best", "random", "completely_random"]


def data(n=300, n_columns=5, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)).round(1)
    return X, (X[:, 0] * 2 + X[:, 1] + rng.normal(size=n)).argsort().argsort() * n_classes // n


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first.arrays, second.arrays))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("seed", range(3))
def test_equals_a_scikit_learn_tree_where_gains_are_distinct(seed, criterion):
    rng = np.random.default_rng(seed)
    X = rng.permuted(np.tile(np.arange(200.0), (4, 1)), axis=1).T ** 1.3
    y = rng.integers(0, 3, 200)
    weight = rng.integers(1, 1000, 200).astype(float)  # distinct gains
    matrix = bin_array(X)
    params = TreeParams(criterion=criterion, max_features=4, min_samples_split=20)
    forest = grow_forest(matrix, y, 3, params, n_trees=1, seed=0, weight=weight).forest
    peer = (
        DecisionTreeClassifier(criterion=criterion, min_samples_split=20, random_state=0)
        .fit(X, y, weight)
        .tree_
    )
    table = forest.table(0)

    def compare(ours, theirs, rows):
        assert (table["feature"][ours] < 0) == (peer.children_left[theirs] < 0)
        if table["feature"][ours] < 0:
            np.testing.assert_allclose(forest.class_vector(0, ours), peer.value[theirs][0], atol=1e-9)
            return
        feature = table["feature"][ours]
        assert feature == peer.feature[theirs]
        left = matrix.blocks[0][feature, rows] <= table["last_bin"][ours]
        np.testing.assert_array_equal(left, X[rows, feature] <= peer.threshold[theirs])
        compare(table["left"][ours], peer.children_left[theirs], rows[left])
        compare(table["right"][ours], peer.children_right[theirs], rows[~left])

    compare(0, 0, np.arange(200))


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_weight_two_is_the_row_twice(splitter, criterion):
    X, y = data()
    times = np.random.default_rng(1).integers(0, 4, len(y))
    params = TreeParams(splitter=splitter, criterion=criterion, max_features=2)
    weighted = grow_forest(
        bin_array(X, times.astype(float), 20), y, 4, params, n_trees=3, seed=5, weight=times.astype(float)
    )
    again = np.repeat(np.arange(len(y)), times)
    repeated = grow_forest(bin_array(X[again], max_bins=20), y[again], 4, params, n_trees=3, seed=5)
    assert np.array_equal(weighted.forest.nodes, repeated.forest.nodes)
    np.testing.assert_array_equal(weighted.importances, repeated.importances)


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_same_trees_for_any_number_of_threads_batches_and_kernels(splitter):
    X, y = data(2000)
    matrix, params = bin_array(X), TreeParams(splitter=splitter, max_features=2, sampling="bootstrap")
    one = grow_forest(matrix, y, 4, params, n_trees=20, seed=3)
    two = grow_forest(matrix, y, 4, params, n_trees=20, seed=3, n_jobs=2)
    plain = grow_forest(matrix.with_row_copy(), y, 4, params, n_trees=20, seed=3, fast_kernels=False)
    start = grow_forest(matrix, y, 4, params, n_trees=7, seed=3)
    rest = grow_forest(matrix, y, 4, params, n_trees=13, seed=3, first_tree=7)
    assert same(one.forest, two.forest)
    np.testing.assert_array_equal(one.importances, two.importances)
    assert same(one.forest, plain.forest)
    assert same(one.forest, start.forest.extend(rest.forest))


@pytest.mark.parametrize("n_classes", [2, 3, 12, 30, 60, 200])
@pytest.mark.parametrize("total", ["small", "large"])
@pytest.mark.parametrize("splitter", ["best", "completely_random"])
def test_every_kernel_tier_and_instruction_set_gives_the_tree_of_the_plain_way(n_classes, total, splitter):
    rng = np.random.default_rng(n_classes)
    n = 3000
    X = np.column_stack([rng.integers(0, 20, n), rng.normal(size=n), rng.normal(size=n)]).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    known = np.nan_to_num(X)
    y = ((known[:, 1] * 3 + known[:, 0]).round().astype(int) + rng.integers(0, 3, n)) % n_classes
    weight = None if total == "small" else rng.random(n) + 0.1
    min_samples_leaf = 2 if n_classes == 12 else 1
    params = TreeParams(splitter, max_features=2, sampling="bootstrap", min_samples_leaf=min_samples_leaf)

    def grown(fast=True):
        matrix = bin_array(X)
        return grow_forest(matrix, y, n_classes, params, n_trees=3, seed=1, weight=weight, fast_kernels=fast)

    plain = grown(fast=False)
    for _ in each_instruction_set():
        quick = grown()
        assert same(quick.forest, plain.forest)
        np.testing.assert_allclose(quick.importances, plain.importances, rtol=1e-12)


def test_a_class_without_a_row_in_the_bag_gets_no_share():
    """One row of class 2 among 400: bags of 60 rows seldom have it."""
    X, y = data(400, n_classes=2)
    y[7] = 2
    params = TreeParams(max_features=2, sampling="subsample", n_draws=60)
    grown = grow_forest(bin_array(X), y, 3, params, n_trees=30, seed=0)
    seen = np.array([grown.bag.counts(t)[7] > 0 for t in range(30)])
    assert 0 < seen.sum() < 30
    for t in range(30):
        share = grown.forest.trees(t, t + 1).predict_proba(bin_array(X))
        assert np.allclose(share.sum(axis=1), 1.0)
        assert (share[:, 2].max() > 0) == seen[t]
    sums, votes = out_of_bag(grown.forest, grown.bag, bin_array(X))
    assert votes[7] == 30 - seen.sum()
    assert sums[7, 2] == 0.0


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_the_shallow_tree_is_the_top_of_the_deep_one(splitter):
    X, y = data()
    matrix = bin_array(X)
    deep, shallow = (
        grow_forest(
            matrix, y, 4, TreeParams(splitter=splitter, max_features=2, max_depth=depth), n_trees=4, seed=2
        ).forest
        for depth in (None, 3)
    )
    ends, tops = shallow.apply(matrix), deep.apply(matrix, max_depth=3)
    for tree in range(4):  # the same partition of the rows; node numbers may differ
        pairs = set(zip(ends[:, tree].tolist(), tops[:, tree].tolist()))
        assert len(pairs) == len(set(ends[:, tree])) == len(set(tops[:, tree]))


def test_rows_train_a_fold_and_blocks_are_one_matrix():
    X, y = data()
    rows = np.arange(0, 300, 2)
    params = TreeParams(max_features=2, sampling="bootstrap")
    whole = bin_array(X)
    base, extra = bin_array(X[:, :3]), bin_array(X[:, 3:])
    fold = grow_forest(whole, y, 4, params, n_trees=3, seed=1, rows=rows).forest
    joined = grow_forest(base.append(extra), y, 4, params, n_trees=3, seed=1, rows=rows).forest
    assert same(fold, joined)
    part = BinnedMatrix.of(np.ascontiguousarray(whole.blocks[0][:, rows]), whole.mapper)
    assert same(fold, grow_forest(part, y[rows], 4, params, n_trees=3, seed=1).forest)


def test_out_of_bag_sums_come_from_the_trees_that_did_not_see_the_row():
    X, y = data(120)
    matrix = bin_array(X)
    grown = grow_forest(matrix, y, 4, TreeParams(max_features=2, sampling="bootstrap"), n_trees=9, seed=1)
    sums, votes = out_of_bag(grown.forest, grown.bag, matrix)
    expected, number = np.zeros((120, 4)), np.zeros(120)
    for tree in range(9):
        outside = grown.bag.counts(tree) == 0
        shares = grown.forest.trees(tree, tree + 1).predict_proba(matrix)
        expected[outside] += shares[outside]
        number += outside
    np.testing.assert_array_equal(votes, number)
    np.testing.assert_allclose(sums, expected)


def test_thousands_of_classes_and_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = np.arange(6000) // 2
    forest = grow_forest(bin_array(X), y, 3000, TreeParams(max_features=2), n_trees=1, seed=0).forest
    proba = forest.predict_proba(bin_array(X))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (proba[np.arange(6000), y] > 0).all()
    single = grow_forest(bin_array(X), np.zeros(6000, int), 1, TreeParams(), n_trees=2, seed=0).forest
    assert len(single.nodes) == 2


def test_a_million_columns():
    X = np.zeros((4, 10**6), dtype=np.float32)
    X[2:, 777] = 1.0
    codes = np.ascontiguousarray(X.T.astype(np.uint8))
    few = bin_array(X[:, 777:778])
    mapper = few.mapper.__class__(
        np.arange(10**6 + 1, dtype=np.int64) * 2,
        np.tile([0.0, 1.0], 10**6),
        np.tile([0.5, np.inf], 10**6),
        np.zeros(10**6, dtype=np.uint8),
    )
    matrix = BinnedMatrix((codes,), mapper, np.zeros(10**6, dtype=np.uint8))
    forest = grow_forest(
        matrix, np.array([0, 0, 1, 1]), 2, TreeParams(max_features=1000), n_trees=1, seed=0
    ).forest
    assert forest.table(0)["feature"][0] == 777


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_classes": 70000}, "at most 65535 classes, got 70000"),
        ({"weight": np.array([1.0, -1.0])}, "weights must be finite and not negative"),
        ({"weight": np.array([1.0, np.nan])}, "weights must be finite and not negative"),
        ({"weight": np.zeros(2)}, "no row of positive weight"),
        ({"rows": np.array([5])}, "rows: an index is past the last row"),
        ({"y": np.array([0, 3])}, "labels: a label is not below n_classes"),
    ],
)
def test_bad_input_is_refused(arguments, sentence):
    matrix = bin_array(np.array([[0.0], [1.0]]))
    given = {"y": np.array([0, 1]), "n_classes": 2} | arguments
    y, n_classes = given.pop("y"), given.pop("n_classes")
    with pytest.raises(ValueError, match=sentence):
        grow_forest(matrix, y, n_classes, TreeParams(), n_trees=1, seed=0, **given)


def test_raw_and_binned_prediction_agree_also_on_new_values():
    X, y = data(500, 6)
    matrix = bin_array(X, max_bins=13)
    forest = grow_forest(
        matrix, y, 4, TreeParams(max_features=2, sampling="bootstrap"), n_trees=10, seed=0
    ).forest
    rng = np.random.default_rng(9)
    for dtype in (np.float32, np.float64):
        for n in (1, 5, 300):
            new = rng.normal(size=(n, 6)).astype(dtype)
            new[rng.random(new.shape) < 0.1] = np.nan
            new[0, :2] = matrix.mapper.edges[:2]  # exactly on an edge
            codes = BinnedMatrix.of(matrix.mapper.codes(as_table(new)), matrix.mapper)
            np.testing.assert_array_equal(
                forest.predict_proba(codes), forest.predict_proba_raw(new, matrix.mapper)
            )
            few = forest.trees(0, 1)  # many columns a tree: raw thresholds
            np.testing.assert_array_equal(few.predict_proba(codes), few.predict_proba_raw(new, matrix.mapper))
