"""Three discrete columns: equal rows are natural and the plain claim stays."""

import numpy as np

from surewood.bounds import clopper_pearson
from surewood.certify import certify
from tests.promises.population import memorising_forest


def discrete(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 3))
    return X, ((X[:, 0] > 0) ^ (rng.random(n) < 0.25)).astype(int)


def test_all_rows_count_and_the_rule_is_named():
    X, y = discrete(500, 0)
    model = memorising_forest(X, y)
    new, labels = discrete(400, 1)
    certificate = certify(model, new, labels)
    errors = int((model.predict(new) != labels).sum())
    assert certificate.best.n == 400
    assert certificate.best.value == clopper_pearson(errors, 400)
    assert 'copies="natural": every column is discrete' in certificate.facts[0]
    assert certificate.best.value >= 0.25
