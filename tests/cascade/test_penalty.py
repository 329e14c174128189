import numpy as np
import pytest
from sklearn.svm import SVC

from surewood.cascade.penalty import best_penalties, penalty_errors
from surewood.cascade.plan import deal_folds
from surewood.cascade.trainer import KernelChoice, Solver
from surewood.svm import Gram


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_errors_are_those_of_a_peer(kernel):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    codes = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=80) > 0).astype(np.int32)
    folds, grid = deal_folds(codes, 4, 0), np.array([0.1, 10.0])
    kernels = KernelChoice(kernel, (1, 2), 2)
    ours = penalty_errors(Gram(X), codes, np.ones(80), kernels, grid, folds, solver=Solver(tol=1e-6))
    for i, degree in enumerate((1, 2)):
        for k, C in enumerate(grid):
            peer = (
                SVC(kernel="poly", degree=degree, gamma=0.5, coef0=1.0, C=C, tol=1e-6)
                if kernel == "poly"
                else SVC(kernel="rbf", gamma=2.0 ** (degree - 1) / 2, C=C, tol=1e-6)
            )
            wrong = sum((peer.fit(X[a], codes[a]).predict(X[b]) != codes[b]).sum() for a, b in folds)
            assert ours[i, k] == wrong


def test_ties_go_to_the_smaller_penalty():
    grid = np.array([10.0, 0.1, 1.0])
    np.testing.assert_array_equal(best_penalties(np.array([[3, 3, 5], [4, 5, 2]]), grid), [0.1, 1.0])


def test_folds_hold_every_row_out_once_and_keep_the_classes_apart():
    codes = np.repeat([0, 1, 2], [11, 5, 2]).astype(np.int32)
    folds = deal_folds(codes, 4, 3)
    held_out = np.sort(np.concatenate([b for _, b in folds]))
    np.testing.assert_array_equal(held_out, np.arange(18))
    for train, held in folds:
        assert not set(train) & set(held)
        assert (codes[held] == 0).sum() in (2, 3)
    assert all((a == b).all() for (a, _), (b, _) in zip(folds, deal_folds(codes, 4, 3)))
