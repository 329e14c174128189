"""Degree × C grids: the errors of machines fitted alone, choices and ties, folds."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

from surewood import PolySVC
from surewood.svm.path import DegreePath


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    return X[order] + 0.3 * np.random.default_rng(1).normal(size=X.shape), y[order]


def test_grid_equals_single_fits(iris):
    X, y = iris
    grid = PolySVC(gamma=0.25).path(X, y, degrees=[1, 3], Cs=[1.0, 0.01])
    assert grid.Cs.tolist() == [0.01, 1.0]
    assert grid.converged.all()
    assert grid.fold_errors is None
    for d, degree in enumerate([1, 3]):
        for c, C in enumerate([0.01, 1.0]):
            alone = PolySVC(gamma=0.25, degree=degree, C=C, calibrate=False).fit(X, y)
            assert abs(grid.train_errors[d, c] - (1 - alone.score(X, y))) <= 1.5 / 150


def test_folds_equal_fits_on_the_folds(iris):
    X, y = iris
    cv = KFold(3)
    grid = PolySVC(scale=False, gamma=0.1).path(X, y, degrees=[2], Cs=[0.5, 5.0], cv=cv)
    assert grid.fold_errors.shape == (3, 1, 2)
    for f, (train, held) in enumerate(cv.split(X)):
        for c, C in enumerate(grid.Cs):
            alone = PolySVC(scale=False, gamma=0.1, degree=2, C=C, calibrate=False).fit(X[train], y[train])
            assert abs(grid.fold_errors[f, 0, c] - (1 - alone.score(X[held], y[held]))) <= 2.5 / 50
    one = PolySVC(scale=False, gamma=0.1).path(
        X, y, degrees=[2], Cs=[0.5, 5.0], validation=(np.arange(100), np.arange(100, 150))
    )
    assert one.fold_errors.shape == (1, 1, 2)


def test_the_choice_prefers_small_degrees_and_small_C_on_ties():
    errors = np.array([[[0.3, 0.2, 0.2], [0.2, 0.3, 0.1 + 0.1]]])
    grid = DegreePath(np.array([1, 4]), np.array([0.1, 1.0, 10.0]), errors[0] * 0, errors, None)
    assert grid.best_C.tolist() == [1.0, 0.1]
    assert grid.best == (1, 1.0)


def test_weights_count_in_the_errors_and_zero_weight_rows_do_not(iris):
    X, y = iris
    weight = np.ones(150)
    weight[:30] = 0.0
    with_zeros = PolySVC().path(X, y, [1], [1.0], cv=3, sample_weight=weight)
    without = PolySVC().path(X[30:], y[30:], [1], [1.0])
    np.testing.assert_allclose(with_zeros.train_errors, without.train_errors)
    assert np.isfinite(with_zeros.fold_errors).all()


def test_errors_say_what_was_wrong(iris):
    X, y = iris
    with pytest.raises(ValueError, match="give cv or validation, not both"):
        PolySVC().path(X, y, [1], [1.0], cv=3, validation=([0], [1]))
    with pytest.raises(ValueError, match="Cs must name at least one value"):
        PolySVC().path(X, y, [1], [])
    with pytest.raises(ValueError, match="split 0 of cv has no training rows or no held-out rows"):
        PolySVC().path(X, y, [1], [1.0], validation=([], [1]))
