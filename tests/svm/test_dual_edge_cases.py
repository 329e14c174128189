"""The batch solver where nothing is general: one class, one point, equal points, zero and huge kernels."""

import numpy as np
import pytest

from surewood.svm import Gram, KernelSpec, solve_many
from tests.svm.reference import blobs, check_kkt

UNCAPPED = 10_000_000
ENOUGH = 50_000


def test_one_class_is_a_constant():
    machines = solve_many(Gram(np.eye(3)), [np.arange(3), [1]], [4, 4, 4], [1, 2], 1.0)
    assert (machines.n_classes == 1).all()
    assert machines.n_correct.ravel().tolist() == [3, 3, 1, 1]
    assert machines.converged.all()
    assert machines.support(0).size == 0
    assert (machines.predictor().predict(np.ones((5, 3)), np.tile([0, 3], (5, 1))) == 4).all()


def test_one_point_a_class():
    X, labels = np.array([[0.0], [1.0], [2.0]]), np.arange(3)
    machines = solve_many(Gram(X), [np.arange(3)], labels, [1], 1.0)
    check_kkt(machines, 0, X, labels, 1.0)
    pair = solve_many(Gram(X), [[0, 2]], labels, [1], 100.0, kernel=KernelSpec("poly", 1.0, 0.0))
    np.testing.assert_allclose(pair.predictor().decisions([[0.0], [1.0], [2.0]])[:, 0], [1, 0, -1], atol=1e-3)


def test_equal_points_with_opposite_labels():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 1.0], [3.0, 1.0]])
    labels = np.array([0, 1, 0, 1])
    machines = solve_many(Gram(X), [np.arange(4)], labels, [1, 9], [0.1, 10.0])
    assert machines.converged.all()
    assert (machines.n_correct == 2).all()
    for problem in range(4):
        check_kkt(machines, problem, X, labels, machines.C[problem])
    hard = solve_many(Gram(X), [np.arange(4)], labels, [1], np.inf)
    assert not hard.converged.any()  # cannot be separated: the cap is met and said
    assert np.isfinite(hard.arrays["coef"]).all()
    assert np.isfinite(hard.arrays["bias"]).all()


def test_zero_kernel_and_degree_zero_follow_the_majority():
    labels = np.array([0, 0, 1, 1, 1])
    zero = solve_many(
        Gram(np.zeros((5, 2))), [np.arange(5)], labels, [1], 1.0, kernel=KernelSpec("poly", 1.0, 0.0)
    )
    constant = solve_many(Gram(np.eye(5)), [np.arange(5)], labels, [0], 1.0)
    for machines in (zero, constant):
        assert machines.converged.all()
        assert machines.predicted(0).tolist() == [1] * 5
        check_kkt(machines, 0, np.zeros((5, 2)) if machines is zero else np.eye(5), labels, 1.0)


def test_infinite_C_separates_what_can_be_separated():
    X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    machines = solve_many(
        Gram(X), [np.arange(4)], [0, 0, 1, 1], [1], np.inf, kernel=KernelSpec("poly", 1.0, 0.0)
    )
    assert machines.converged.all()
    np.testing.assert_allclose(machines.predictor().decisions(X)[:, 0], [2, 1, -1, -3], atol=2e-3)


@pytest.mark.parametrize("degree", [20, 50, 100])
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_high_degrees_stay_finite(degree, size):
    X, labels = blobs(40, 4, 2, 2)
    machines = solve_many(Gram(X * size), [np.arange(40)], labels, [degree], 1.0)
    for name in ("coef", "bias", "objective", "gap"):
        assert np.isfinite(machines.arrays[name]).all()
    scaled = machines.scale.ravel()[0]
    assert np.log2(scaled) == np.floor(np.log2(scaled))
    values = machines.predictor().decisions(np.vstack([X * size, 1e6 * X, 1e200 * X]))
    assert np.isfinite(values).all()
    own = machines.predictor().predict(X * size)[:, 0]
    assert (own == machines.predicted(0)).mean() > 0.95
