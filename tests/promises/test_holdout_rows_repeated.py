"""Few holdout rows, each repeated 500 times."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_each_content_counts_once():
    X, y = draw(400, 0)
    model = memorising_forest(X, y)
    new, labels = draw(20, 1)
    right = model.predict(new) == labels
    new, labels = new[right], labels[right]  # the most flattering choice
    certificate = certify(model, np.repeat(new, 500, axis=0), np.repeat(labels, 500))
    assert (certificate.best.n, certificate.best.unit) == (len(new), "contents")
    assert certificate.best.value > 0.15
    assert "equal rows count once" in certificate.facts[0]
