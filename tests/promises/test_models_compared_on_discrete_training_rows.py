"""§11.7: two models on rows that one of them was trained on, in a table where equal rows are natural."""

import numpy as np
import pytest

from surewood.certify import compare_models
from tests.promises.population import draw, memorising_forest


def coins(seed, n=400):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 12, size=(n, 4)), rng.integers(0, 2, n)


@pytest.mark.parametrize("copies", ["auto", "exclude"])
@pytest.mark.parametrize("swapped", [False, True])
def test_coins_make_no_model_better(copies, swapped):
    """Labels are coins: no model is better than another, whatever one of them remembers."""
    other, knows = memorising_forest(*coins(0)), memorising_forest(*coins(1))
    models = (knows, other) if swapped else (other, knows)
    assert compare_models(*models, *coins(1), copies=copies).guarantees == ()


@pytest.mark.parametrize("noise", [1e-9, 1e-8, 3e-8])
@pytest.mark.parametrize("swapped", [False, True])
def test_training_rows_of_the_second_model_with_noise(noise, swapped):
    X, y = draw(3000, 2)
    models = [memorising_forest(*draw(400, 0)), memorising_forest(X, y)]
    near = X * (1 + noise * np.random.default_rng(0).normal(size=X.shape))
    assert compare_models(*(models[::-1] if swapped else models), near, y).guarantees == ()
