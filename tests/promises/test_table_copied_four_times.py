"""A table copied four times, shuffled, and divided by row."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, is_true, memorising_forest


def test_rows_on_both_sides_are_not_counted():
    X, y = draw(200, 0)
    order = np.random.default_rng(1).permutation(800)
    X, y = np.tile(X, (4, 1))[order], np.tile(y, 4)[order]
    certificate = certify(memorising_forest(X[:500], y[:500]), X[500:], y[500:])
    assert is_true(certificate)
    counted = certificate.best.n if certificate.best else 0
    assert counted < 20
