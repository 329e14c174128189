"""A holdout that is half training rows."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, is_true, memorising_forest


def test_only_the_new_half_counts():
    X, y = draw(400, 0)
    new, labels = draw(416, 1)
    model = memorising_forest(X, y)
    certificate = certify(model, np.vstack([X, new]), np.r_[y, labels])
    assert is_true(certificate)
    assert certificate.best.n == 416
    assert certificate.best.value == certify(model, new, labels).best.value
    assert certificate.best.population == "new rows that are not copies of training rows"
    assert certificate.facts[0].startswith("Warning: 400 of 816 holdout rows (49 %)")
