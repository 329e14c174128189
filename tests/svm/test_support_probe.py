"""Support vectors of a large SVM are guessed from two small ones."""

import numpy as np
import pytest

from surewood.svm import Gram, KernelSpec, solve_many
from surewood.svm.support_probe import expected_support


def noisy(n_rows, noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + noise * rng.normal(size=n_rows) > 0).astype(np.int32)


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_the_fraction_is_about_that_of_all_rows(noise):
    X, y = noisy(2500, noise)
    kernel = KernelSpec.default(4)
    guess = expected_support(X.__getitem__, y, kernel, 2, 1.0)
    batch = solve_many(Gram(X, max_memory=0), [np.arange(len(X))], y, [2], [1.0], kernel=kernel)
    assert guess == pytest.approx(batch.n_support.item() / len(X), rel=0.35)


def test_without_two_classes_or_columns_it_is_not_known():
    X, y = noisy(100, 0.0)
    assert expected_support(X.__getitem__, np.zeros(100, dtype=np.int32), KernelSpec(), 1, 1.0) == 1.0
    empty = np.zeros((100, 0))
    assert expected_support(empty.__getitem__, y, KernelSpec(), 1, 1.0) == 1.0
