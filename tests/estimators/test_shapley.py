"""Sampled Shapley values against the sum over all coalitions."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

from surewood.estimators.row_pools import MatrixPool
from surewood.estimators.shapley import default_orders, sample_values


def all_coalitions(predict, x, background, groups):
    """Interventional Shapley values of one row, by their definition."""

    def value(chosen):
        mixed = background.copy()
        for group in chosen:
            mixed[:, groups[group]] = x[groups[group]]
        return predict(mixed).mean(axis=0)

    m = len(groups)
    out = []
    for j in range(m):
        others = [g for g in range(m) if g != j]
        total = 0.0
        for size in range(m):
            weight = factorial(size) * factorial(m - size - 1) / factorial(m)
            for chosen in combinations(others, size):
                total = total + weight * (value((*chosen, j)) - value(chosen))
        out.append(total)
    return np.array(out)


def probabilities(X):
    """Something with interactions of three columns; column 4 does nothing."""
    score = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) * (X[:, 3] > 0) * X[:, 0] + X[:, 3]
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 5)), rng.normal(size=(40, 5))


def sampled(X, background, groups, n_orders, seed=0, predict=probabilities):
    pool = MatrixPool(X, background, [f"x{j}" for j in range(X.shape[1])])
    return sample_values(lambda at: predict(pool.mixed(at)), pool.codes(), len(X), groups, n_orders, seed)


SINGLE = [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize("groups", [SINGLE, [[0, 3], [1], [2, 4]]])
@pytest.mark.parametrize("n_orders", [12, 40])
def test_values_are_within_their_standard_errors(rows, groups, n_orders):
    X, background = rows
    exact = np.array([all_coalitions(probabilities, x, background, groups) for x in X])
    distances = []
    for seed in range(30):
        found = sampled(X, background, groups, n_orders, seed)
        error = np.maximum(found.standard_error, 1e-12)
        distances.append((found.values - exact) / error)
    distances = np.array(distances)
    moves = np.abs(exact) > 1e-9
    assert np.mean(np.abs(distances[:, moves]) < 3) > 0.97
    # On average they are the values: the mean of 30 runs is nearer by the square root of 30.
    assert np.abs(distances[:, moves].mean(axis=0)).max() < 1.5


@pytest.mark.parametrize("n_orders", [2, 7, 40])
def test_sums_are_exact_and_idle_columns_get_nothing(rows, n_orders):
    X, background = rows
    found = sampled(X, background, SINGLE, n_orders)
    expected = probabilities(background).mean(axis=0)
    np.testing.assert_allclose(found.expected, expected, atol=1e-15)
    np.testing.assert_allclose(found.values.sum(axis=1), probabilities(X) - expected, atol=1e-14)
    assert not found.values[:, 4].any()
    assert not found.standard_error[:, 4].any()


def test_the_standard_error_falls_with_the_number_of_orders(rows):
    X, background = rows
    few, many = (sampled(X, background, SINGLE, n).standard_error.mean() for n in (10, 40))
    assert many < 0.75 * few


def test_a_linear_model_is_exact_with_the_whole_background(rows):
    X, background = rows
    weight = np.array([[1.0, -1.0], [0.5, 0.0], [0.0, 0.0], [2.0, 1.0], [0.1, 0.2]])
    found = sampled(X, background, SINGLE, len(background), predict=lambda rows: rows @ weight)
    exact = (X - background.mean(axis=0))[:, :, None] * weight
    np.testing.assert_allclose(found.values, exact, atol=1e-12)


def test_equal_mixed_rows_are_predicted_once():
    X = np.array([[1.0, 1.0, 1.0]])
    background = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    asked = []

    def predict(rows):
        asked.append(len(rows))
        return rows.sum(axis=1, keepdims=True)

    found = sampled(X, background, [[0], [1], [2]], 3, predict=predict)
    assert asked[0] == 4
    assert asked[1] <= 8 - 2
    np.testing.assert_allclose(found.values[0, :, 0], [1 / 3, 2 / 3, 2 / 3], atol=1e-12)


def test_rows_are_done_in_batches_with_the_same_result(rows, monkeypatch):
    from surewood.estimators import shapley

    X, background = rows
    whole = sampled(X, background, SINGLE, 10)
    monkeypatch.setattr(shapley, "_BATCH_VALUES", 1)
    parts = sampled(X, background, SINGLE, 10)
    np.testing.assert_allclose(whole.expected, parts.expected)
    np.testing.assert_allclose(parts.values.sum(axis=1), whole.values.sum(axis=1), atol=1e-14)
    assert np.abs(parts.values - whole.values).max() < 0.3


def test_orders_depend_on_the_width_and_the_number_of_rows():
    assert default_orders(1, 1, 1000) == 100
    assert default_orders(1, 100_000, 1000) == 6
    assert default_orders(1, 20, 3) == 3
    assert default_orders(10, 20, 200) > default_orders(100, 20, 200) == default_orders(10_000, 20, 200)


def test_a_single_column_gets_all(rows):
    X, background = rows
    found = sampled(X, background, [[0, 1, 2, 3, 4]], 5)
    np.testing.assert_allclose(found.values[:, 0], probabilities(X) - probabilities(background).mean(axis=0))
