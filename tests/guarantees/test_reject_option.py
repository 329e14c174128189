"""The reject option's bounds hold for all leaves at once, as often as they say."""

import numpy as np
import pytest

from surewood import DeepCascadeSVMClassifier

pytestmark = pytest.mark.slow
DELTA = 0.1


def draw(n, rng):
    X = rng.normal(size=(n, 2))
    chance = 1.0 / (1.0 + np.exp(-4.0 * X[:, 0] - 2.0 * X[:, 0] * X[:, 1]))
    return X, (rng.random(n) < chance).astype(int)


@pytest.mark.parametrize("bands", [1, 3])
def test_all_leaf_bounds_hold_together(bands):
    rng = np.random.default_rng(0)
    model = DeepCascadeSVMClassifier(max_leaves=3, n_leaves=3, degrees=(1, 2), random_state=0)
    model.fit(*draw(200, rng))
    X, y = draw(200_000, rng)
    truth = model.reject_option(1.0, X, y, bands=bands).groups
    true_error = (truth["errors"] / truth["points"].clip(lower=1)).to_numpy()
    failures = 0
    for _ in range(400):
        bounds = model.reject_option(0.2, *draw(150, rng), delta=DELTA, bands=bands).groups["upper_bound"]
        failures += bool((bounds.to_numpy() < true_error).any())
    # Three standard deviations of a binomial count with probability DELTA.
    assert failures <= 400 * DELTA + 3 * np.sqrt(400 * DELTA * (1 - DELTA))
