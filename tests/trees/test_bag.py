"""Bags: how often rows are drawn, what weights mean, and that the order of rows means nothing."""

import numpy as np
import pytest

from surewood.trees import TreeParams, bin_array, grow_forest, make_bag

X = np.random.default_rng(0).normal(size=(100, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(("sampling", "n_draws"), [("bootstrap", 50), ("subsample", 50), ("resample", 200)])
def test_draws(sampling, n_draws):
    weight = np.linspace(0.0, 1.0, 100)
    bag = make_bag(bin_array(X), Y, sampling, n_draws, 7, weight)
    counts = np.array([bag.counts(t) for t in range(300)])
    assert len(bag.rows) == 99
    assert (counts.sum(axis=1) == n_draws).all()
    if sampling == "subsample":
        assert counts.max() == 1
    share = counts.mean(axis=0) / n_draws
    expected = weight[1:] / weight.sum() if sampling == "resample" else np.full(99, 1 / 99)
    np.testing.assert_allclose(share, expected, atol=0.004)


def test_whole_weights_are_units_and_others_multiply():
    times = np.arange(100) % 3
    bag = make_bag(bin_array(X), Y, "bootstrap", None, 7, times.astype(float))
    assert bag.weights is None
    assert bag.n_draws == times.sum()
    assert np.bincount(bag.units).tolist() == times[times > 0].tolist()
    bag = make_bag(bin_array(X), Y, "bootstrap", None, 7, times * 0.3)
    assert bag.weights is not None
    assert bag.n_draws == (times > 0).sum()


@pytest.mark.parametrize("sampling", ["bootstrap", "subsample"])
def test_weight_two_is_the_row_twice_in_any_order(sampling):
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, 100)
    again = rng.permutation(np.repeat(np.arange(100), times))
    params = TreeParams(max_features=2, sampling=sampling, n_draws=0.6)
    weighted = grow_forest(
        bin_array(X, times.astype(float)), Y, 2, params, n_trees=5, seed=3, weight=times.astype(float)
    )
    repeated = grow_forest(bin_array(X[again]), Y[again], 2, params, n_trees=5, seed=3)
    np.testing.assert_array_equal(weighted.forest.nodes, repeated.forest.nodes)
