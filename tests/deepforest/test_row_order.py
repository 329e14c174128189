import numpy as np

from surewood.deepforest.row_order import content_keys, equal_contents, order_rows, take_rows
from surewood.tables import TableSchema
from surewood.trees import bin_array


def codes_of(X):
    return bin_array(X).blocks[0]


def test_any_order_of_rows_gives_the_same_sequence():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, size=(50, 3)).astype(float), rng.integers(0, 2, 50).astype(np.int32)
    shuffle = rng.permutation(50)
    one = order_rows(content_keys(codes_of(X)), y, None)
    two = order_rows(content_keys(codes_of(X[shuffle])), y[shuffle], None)
    np.testing.assert_array_equal(X[one.source], X[shuffle][two.source])
    np.testing.assert_array_equal(y[one.source], y[shuffle][two.source])


def test_whole_numbers_are_counts_and_zero_is_absent():
    X = np.array([[1.0], [2.0], [3.0]])
    ordered = order_rows(content_keys(codes_of(X)), np.zeros(3, np.int32), np.array([2.0, 0.0, 1.0]))
    assert sorted(ordered.source.tolist()) == [0, 0, 2]
    assert ordered.weight is None


def test_other_weights_stay_weights_with_mean_one():
    X = np.array([[1.0], [2.0], [3.0]])
    keys = content_keys(codes_of(X))
    for weight in ([0.5, 1.0, 1.5], [1e6, 1.0, 1.0]):
        ordered = order_rows(keys, np.zeros(3, np.int32), np.array(weight))
        assert sorted(ordered.source.tolist()) == [0, 1, 2]
        np.testing.assert_allclose(ordered.weight.mean(), 1.0)
        np.testing.assert_allclose(ordered.weight, np.array(weight)[ordered.source] / np.mean(weight))
    assert order_rows(keys, np.zeros(3, np.int32), np.full(3, 0.3)).weight is None


def test_values_come_back_in_the_users_order():
    ordered = order_rows(np.arange(3).astype(np.uint64), np.zeros(3, np.int32), np.array([2.0, 0.0, 1.0]))
    values = np.where(ordered.source == 0, 5.0, 7.0)[:, None]
    values[0] += 2.0  # one of the two copies of row 0
    back = ordered.to_user_rows(values, 3)
    assert back[:, 0].tolist()[::2] == [6.0, 7.0]
    assert np.isnan(back[1, 0])


def test_taken_rows_share_the_bins():
    matrix = bin_array(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, np.nan]]))
    part = take_rows(matrix, np.array([2, 0]))
    assert part.blocks[0].flags.c_contiguous
    np.testing.assert_array_equal(part.blocks[0], matrix.blocks[0][:, [2, 0]])
    assert part.mapper is matrix.mapper


def test_equal_rows_in_different_folds_have_an_order_of_their_own():
    keys, y, fold = np.zeros(4, np.uint64), np.zeros(4, np.int32), np.array([1, 0, 1, 0])
    shuffle = np.array([3, 2, 1, 0])
    one, two = order_rows(keys, y, None, fold), order_rows(keys, y, None, fold[shuffle])
    np.testing.assert_array_equal(fold[one.source], fold[shuffle][two.source])


def contents(X, weight=None):
    table = TableSchema.learn(X).read(X)
    return equal_contents(table, content_keys(codes_of(X)), weight)


def test_rows_with_equal_values_are_one_content_in_any_order():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [np.nan, 4.0], [np.nan, 4.0], [5.0, 6.0]])
    found = contents(X)
    assert (found[:, None] == found).tolist() == [
        [np.array_equal(a, b, equal_nan=True) for b in X] for a in X
    ]
    assert contents(X[[0, 1, 5]]) is None
    assert contents(X[[0, 1, 5]], np.array([2.0, 1.0, 1.0])) is not None
    assert contents(X[[0, 1, 5]], np.array([1.0, 0.0, 1.0])) is None


def test_rows_of_one_bin_and_different_values_have_an_order():
    X = np.arange(4000.0)[:, None]  # more values than bins
    X[1] = X[0]
    y = np.zeros(4000, np.int32)
    shuffle = np.random.default_rng(0).permutation(4000)
    one = order_rows(content_keys(codes_of(X)), y, None, None, contents(X))
    two = order_rows(content_keys(codes_of(X[shuffle])), y, None, None, contents(X[shuffle]))
    np.testing.assert_array_equal(X[one.source], X[shuffle][two.source])
    groups = one.content(contents(X))
    assert len(np.unique(groups)) == 3999
