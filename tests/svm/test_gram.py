"""Inner products and grids of degrees and C over them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.svm.gram import Gram, KernelSpec, products
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


def test_blocks_are_the_same_with_and_without_the_stored_matrix():
    X = np.random.default_rng(1).normal(size=(60, 5))
    stored, unstored = Gram(X), Gram(X, max_memory=60 * 60 * 4 - 1)
    assert stored.products is not None
    assert unstored.products is None
    rows, columns = [3, 1, 59], [0, 3, 44, 44]
    np.testing.assert_array_equal(stored.block(rows, columns), unstored.block(rows, columns))
    np.testing.assert_array_equal(np.diag(stored.products), stored.norms)
    assert Gram.bytes_stored(60) == 14400


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


def test_kernel_values_are_the_formula():
    X = np.random.default_rng(2).normal(size=(5, 3))
    inner, norms = X @ X.T, (X**2).sum(axis=1)
    np.testing.assert_allclose(KernelSpec("poly", 0.5, 2.0).values(inner, 3), (0.5 * inner + 2) ** 3)
    expected = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(KernelSpec("rbf", 0.3).values(inner, 1, norms, norms), expected)
