"""Weights as integers."""

import numpy as np
import pytest

from surewood.trees.weights import quantise_weights


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([1.0, 2.0], [1, 2]), ([0.25, 1.0], [1, 4]), ([5.0, 5.0], None), ([1.0], None), ([], None)],
)
def test_dyadic_weights_are_exact(weights, expected):
    found = quantise_weights(np.array(weights))
    assert (None if found is None else found.tolist()) == expected


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e300])
def test_other_weights_keep_their_ratios_and_stay_positive(scale):
    weights = np.random.default_rng(0).random(1000) * scale + scale * 1e-12
    found = quantise_weights(weights)
    assert found.min() >= 1
    assert found.sum() < 2**31
    np.testing.assert_allclose(found / found.sum(), weights / weights.sum(), atol=1e-8)
