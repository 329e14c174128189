"""[D-38]: a sample of ten rows repeated is ten rows, for every classifier with guarantees of its own."""

import numpy as np
import pytest

from surewood.certify import certify
from tests.contract.estimators import classifiers, small


@pytest.mark.parametrize("kind", classifiers())
def test_noise_repeated_guarantees_nothing(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 3)), np.tile([0, 1], 5)
    rows = rng.permutation(np.repeat(np.arange(10), 60))
    model = small(kind).fit(X[rows], y[rows])
    assert all(entry.value >= 0.5 for entry in certify(model).guarantees if entry.quantity == "error")
