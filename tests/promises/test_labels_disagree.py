"""Equal rows with both labels."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_a_content_with_both_labels_is_half_wrong():
    model = memorising_forest(*draw(300, 0))
    values = []
    for seed in range(1, 81):
        X, _ = draw(150, seed)
        best = certify(model, np.vstack([X, X]), np.r_[np.zeros(150, int), np.ones(150, int)]).best
        assert (best.n, best.unit) == (150, "contents")
        values.append(best.value)
    assert 0.5 < np.median(values) < 0.6
    assert np.mean(np.array(values) < 0.5) <= 0.1125  # 4 expected at delta = 0.05, 10 with probability 0.006
