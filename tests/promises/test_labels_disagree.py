"""Equal rows with both labels."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_a_content_with_both_labels_is_half_wrong():
    model = memorising_forest(*draw(300, 0))
    X, _ = draw(150, 1)
    certificate = certify(model, np.vstack([X, X]), np.r_[np.zeros(150, int), np.ones(150, int)])
    assert (certificate.best.n, certificate.best.unit) == (150, "contents")
    assert 0.5 <= certificate.best.value < 0.75
