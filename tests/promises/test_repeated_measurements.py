"""Many rows of few patients."""

import numpy as np

from surewood.certify import Method, certify
from tests.promises.population import draw, memorising_forest


def test_the_group_is_the_unit():
    X, y = draw(400, 0)
    model = memorising_forest(X, y)
    patients, labels = draw(12, 1)
    right = model.predict(patients) == labels
    patients, labels = patients[right], labels[right]
    jitter = 1e-3 * np.random.default_rng(2).normal(size=(len(patients), 50, 4))
    rows = (patients[:, None] + jitter).reshape(-1, 4)
    groups = np.repeat(np.arange(len(patients)), 50)
    certificate = certify(model, rows, np.repeat(labels, 50), groups=groups)
    assert (certificate.best.n, certificate.best.unit) == (len(patients), "groups")
    assert certificate.best.method is Method.BETTING
    assert certificate.best.value > 0.2
    assert certificate.best.population.startswith("rows of new groups")
