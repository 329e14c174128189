"""The result of a batch: the same whether it comes in one part or in many."""

import numpy as np
import pytest

from surewood.svm import Gram, solve_many

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5]).astype(np.int32)
GROUPS = [np.arange(0, 40), np.arange(20, 60), np.arange(60)]


@pytest.fixture(scope="module")
def batch():
    return solve_many(Gram(X), GROUPS, Y, [1, 2], [0.1, 1.0])


def test_problems_are_ordered_by_group_degree_and_C(batch):
    assert batch.shape == (3, 2, 2)
    assert [batch.index(g, d, c) for g in range(3) for d in range(2) for c in range(2)] == list(range(12))
    assert batch.degree.tolist() == [1, 1, 2, 2] * 3
    np.testing.assert_allclose(batch.C.reshape(3, 2, 2)[..., 1] / batch.C.reshape(3, 2, 2)[..., 0], 10.0)


def test_correct_counts_are_those_of_the_predictions(batch):
    for group, rows in enumerate(GROUPS):
        for degree in range(2):
            problem = batch.index(group, degree, 1)
            np.testing.assert_array_equal(batch.group_rows(problem), rows)
            assert batch.n_correct[group, degree, 1] == (batch.predicted(problem) == Y[rows]).sum()


def test_support_vectors_belong_to_the_group_and_have_coefficients(batch):
    for problem in range(12):
        support = batch.support(problem)
        assert set(support) <= set(batch.group_rows(problem))
        assert batch.coef(problem).shape == (len(support), len(batch.classes(problem)) - 1)
        assert len(support) == batch.n_support.ravel()[problem]


def test_threads_join_the_same_batch(batch):
    again = solve_many(Gram(X), GROUPS, Y, [1, 2], [0.1, 1.0], n_jobs=2)
    for name, array in batch.arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array)


def test_decisions_must_be_asked_for(batch):
    with pytest.raises(ValueError, match="pass decisions=True to solve_many"):
        batch.decision(0)
