"""Training rows of discrete columns with so many values that equal rows are no accident."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import memorising_forest


def test_more_copies_than_chance_allows_are_excluded():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (400, 4))
    y = rng.integers(0, 2, 400)
    certificate = certify(memorising_forest(X, y), X, y)
    assert certificate.guarantees == ()
    assert "more copies than independent rows" in certificate.facts[1]
