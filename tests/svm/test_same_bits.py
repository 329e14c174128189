"""The same bits for any instruction set, loop, number of threads, memory and company."""

import numpy as np
import pytest

from surewood.svm import dual as dual_module
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec
from tests.instruction_sets import each_instruction_set
from tests.svm.reference import blobs, equal_arrays


def test_same_bits_on_every_instruction_set():
    X, labels = blobs(120, 5, 3, 7)
    arguments = (Gram(X), [np.arange(120), np.arange(50)], labels, [1, 2, 5], [0.1, 10.0])
    expected = solve_many(*arguments)
    rbf = solve_many(*arguments[:3], [1], 1.0, kernel=KernelSpec("rbf", 0.2))
    for _ in each_instruction_set():
        assert equal_arrays(solve_many(*arguments), expected)
        assert equal_arrays(solve_many(*arguments[:3], [1], 1.0, kernel=KernelSpec("rbf", 0.2)), rbf)


@pytest.mark.parametrize("kernel", [None, KernelSpec("rbf", 0.3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_small_problems_have_a_loop_of_their_own_and_the_same_bits(kernel, weighted):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 6))
    labels = rng.integers(3, size=400).astype(np.int32)  # noise: free steps and capped problems too
    groups = [rng.permutation(400)[:m] for m in (3, 5, 9, 16, 17, 30, 41, 58, 64, 65, 90, 97, 150)]
    groups = [rows for rows in groups if len(np.unique(labels[rows])) > 1]
    weights = rng.uniform(0.5, 2, size=400) if weighted else None
    degrees = [1, 2, 9] if kernel is None else [1]
    arguments = (Gram(X), groups, labels, degrees, [0.1, 100.0, np.inf])
    options = {"kernel": kernel, "weights": weights, "max_iter": 3000}
    expected = solve_many(*arguments, **options)
    # Two rows at a time: no kernel is ever whole, so every problem goes through the loop for large ones.
    assert equal_arrays(solve_many(*arguments, **options, cache_size=1), expected)
    assert (expected.arrays["iterations"] > 32 + 4 * 64).any()  # some took free steps
    for _ in each_instruction_set():
        assert equal_arrays(solve_many(*arguments, **options), expected)


@pytest.mark.parametrize("features", [3, 40])
def test_products_are_formed_or_found_with_the_same_bits(features):
    # Three features are multiplied sooner than found in the matrix, forty are not.
    X, labels = blobs(1300, features, 4, 3)
    rng = np.random.default_rng(1)
    groups = [rng.permutation(1300)[:m] for m in (7, 90, 300, 1100)]
    found = solve_many(Gram(X), groups, labels, [1, 3], [1.0])
    assert equal_arrays(solve_many(Gram(X, max_memory=0), groups, labels, [1, 3], [1.0]), found)


def test_same_bits_for_any_threads_memory_chunks_and_company(monkeypatch):
    X, labels = blobs(300, 5, 3, 11)
    rng = np.random.default_rng(0)
    groups = [rng.permutation(300)[:m] for m in (300, 20, 60, 290, 33)]
    C = rng.uniform(0.1, 10, size=(5, 3, 1))
    gram = Gram(X)
    expected = solve_many(gram, groups, labels, [1, 3, 4], C)
    assert equal_arrays(solve_many(gram, groups, labels, [1, 3, 4], C, n_jobs=2), expected)
    assert equal_arrays(solve_many(Gram(X, max_memory=0), groups, labels, [1, 3, 4], C), expected)
    assert equal_arrays(solve_many(gram, groups, labels, [1, 3, 4], C, cache_size=5000), expected)
    monkeypatch.setattr(dual_module, "_CHUNK_WORK", 1.0)
    assert equal_arrays(solve_many(gram, groups, labels, [1, 3, 4], C, n_jobs=2), expected)
    alone = solve_many(gram, [groups[3]], labels, [4], C[3:4, 2:3])
    problem = expected.index(3, 2)
    np.testing.assert_array_equal(alone.coef(0), expected.coef(problem))
    np.testing.assert_array_equal(alone.pair("bias", 0), expected.pair("bias", problem))
    np.testing.assert_array_equal(alone.predicted(0), expected.predicted(problem))


@pytest.mark.parametrize("max_iter", [0, 1, 7, 10_000])
@pytest.mark.parametrize("points", [6, 20, 44, 60])
def test_a_small_problem_does_not_feel_its_company(points, max_iter):
    # Up to eight are worked on together; where there are fewer, or some end sooner, others take their lanes.
    X, labels = blobs(points, 3, 2, 5)
    arguments, options = (Gram(X), [np.arange(points)], labels), {"max_iter": max_iter}
    alone = [solve_many(*arguments, [3], [C], **options) for C in 10.0 ** np.linspace(-2, 2, 19)]
    for count in range(1, 20):
        together = solve_many(*arguments, [3], 10.0 ** np.linspace(-2, 2, 19)[:count], **options)
        for name in ("coef", "bias", "objective", "gap", "iterations", "status", "predicted"):
            parts = np.concatenate([machines.arrays[name] for machines in alone[:count]])
            np.testing.assert_array_equal(together.arrays[name], parts)


@pytest.mark.parametrize("warm", [False, True])
def test_more_coefficients_than_are_held_at_once_change_nothing(warm):
    # 12 degrees x 60 C of 1,500 points and nine pairs' coefficients a point: nearly ten million.
    X, labels = blobs(1500, 3, 10, 2)
    gram, groups, Cs = Gram(X), [np.arange(1500)], 10.0 ** np.linspace(-4, -1, 60)
    machines = solve_many(gram, groups, labels, range(1, 13), Cs, warm_start=warm, max_iter=3)
    last = solve_many(gram, groups, labels, [12], Cs, warm_start=warm, max_iter=3)
    for k in (0, 59):
        here, there = machines.index(0, 11, k), last.index(0, 0, k)
        np.testing.assert_array_equal(machines.coef(here), last.coef(there))
        np.testing.assert_array_equal(machines.pair("bias", here), last.pair("bias", there))
        np.testing.assert_array_equal(machines.predicted(here), last.predicted(there))
