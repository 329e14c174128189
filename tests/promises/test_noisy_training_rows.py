"""Training rows moved by a billionth."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_tiny_noise_makes_no_new_row():
    X, y = draw(400, 0)
    noise = 1e-9 * np.random.default_rng(1).normal(size=X.shape)
    certificate = certify(memorising_forest(X, y), X * (1 + noise), y)
    assert certificate.guarantees == ()
