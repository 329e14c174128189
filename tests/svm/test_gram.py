"""Inner products and grids of degrees and C over them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

from surewood import PolySVC
from surewood.svm.gram import Gram, KernelSpec, products
from surewood.svm.path import DegreePath
from tests.instruction_sets import each_instruction_set
from tests.svm.reference import inner_products


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 20), st.integers(0, 10**6))
def test_products_equal_the_reference_bit_for_bit(n, m, d, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4), rng.normal(size=(m, d))
    np.testing.assert_array_equal(products(a, b), inner_products(a, b))


def test_any_block_any_threads_any_instruction_set():
    X = np.random.default_rng(0).normal(size=(1100, 13))
    whole = products(X, X)
    np.testing.assert_array_equal(products(X, X, n_jobs=2), whole)
    np.testing.assert_array_equal(products(X[3:5].copy(), X[7:100].copy()), whole[3:5, 7:100])
    np.testing.assert_array_equal(whole, whole.T)
    for _ in each_instruction_set():
        np.testing.assert_array_equal(products(X, X), whole)


def test_the_matrix_is_stored_where_memory_allows_it():
    X = np.random.default_rng(1).normal(size=(60, 5))
    stored = Gram(X, max_memory=60 * 60 * 4)
    assert stored.products is not None
    np.testing.assert_array_equal(np.diag(stored.products), stored.norms)
    assert Gram(X, max_memory=60 * 60 * 4 - 1).products is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
def test_products_that_are_not_finite_are_refused(bad):
    X = np.ones((4, 2))
    X[2, 1] = bad
    with pytest.raises(
        ValueError, match=r"inner products are not finite in single precision \(first at row 2\)"
    ):
        Gram(X)


@pytest.mark.parametrize("shape", [(3,), (0, 2), (2, 0)])
def test_a_table_is_needed(shape):
    with pytest.raises(ValueError, match="X must be a table with rows and columns"):
        Gram(np.zeros(shape))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cubic", 1.0, 0.0), "kind must be 'poly' or 'rbf', got 'cubic'"),
        (("poly", 0.0, 0.0), "gamma must be positive"),
        (("poly", 1e-60, 0.0), "gamma must be positive"),
        (("poly", np.inf, 0.0), "gamma must be positive"),
        (("poly", 1.0, np.nan), "coef0 must be finite"),
    ],
)
def test_kernel_specs_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        KernelSpec(*arguments)


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
    split = [(np.arange(100), np.arange(100, 150))]
    one = PolySVC(scale=False, gamma=0.1).path(X, y, degrees=[2], Cs=[0.5, 5.0], cv=split)
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
    with pytest.raises(ValueError, match="Cs must name at least one value"):
        PolySVC().path(X, y, [1], [])
    with pytest.raises(ValueError, match="split 0 of cv has no training rows or no held-out rows"):
        PolySVC().path(X, y, [1], [1.0], cv=[([], [1])])
