import numpy as np

from surewood.deepforest.row_order import order_rows
from surewood.deepforest.window_forests import WindowRows, row_folds, row_keys
from surewood.deepforest.window_views import Grain


def test_the_fold_of_a_row_is_in_its_values():
    X = np.random.default_rng(0).normal(size=(300, 12))
    X32 = X.astype(np.float32)
    np.testing.assert_array_equal(row_keys(X32), row_keys(X32.astype(np.float64)))
    np.testing.assert_array_equal(row_folds(X, 3)[::-1], row_folds(X[::-1], 3))
    assert np.bincount(row_folds(X, 3), minlength=3).min() > 60
    assert row_keys(np.array([[0.0]]))[0] == row_keys(np.array([[-0.0]]))[0]


def test_windows_are_all_drawn_or_sampled():
    rows, y = np.arange(20.0).reshape(5, 4), np.zeros(5, np.int32)
    ordered = order_rows(row_keys(rows), y, None)
    training = WindowRows(rows, y, 1, ordered, row_folds(rows, 2))
    grain = Grain((4, 1), (2,), (1,))
    row, position, weight = training.draw(grain, 100, seed=0)
    assert sorted(zip(row.tolist(), position.tolist())) == [(r, p) for r in range(5) for p in range(3)]
    assert weight is None
    row, _, _ = training.draw(grain, 6, seed=0)
    assert len(row) == 6
