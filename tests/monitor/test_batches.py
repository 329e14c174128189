"""Keys of batches."""

import numpy as np

from surewood.monitor.batches import batch_key


def test_the_key_knows_the_rows_and_not_their_order():
    X = np.random.default_rng(0).random((50, 3))
    assert batch_key(X) == batch_key(X[::-1])
    changed = X.copy()
    changed[7, 1] += 0.001
    assert batch_key(X) != batch_key(changed)
    assert batch_key(X) != batch_key(X[:49])
