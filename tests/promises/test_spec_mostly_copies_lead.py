"""[D-33]: more than 20 % copies in a user's holdout lead the certificate; only copies give no claim."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def _with_copies(n_copies, n_new):
    X, y = draw(400, 0)
    new, labels = draw(n_new, 1)
    return memorising_forest(X, y), np.vstack([X[:n_copies], new]), np.r_[y[:n_copies], labels]


def test_a_quarter_of_copies_is_said_first():
    model, X, y = _with_copies(100, 300)
    certificate = certify(model, X, y)
    assert "100 of 400" in str(certificate).split("GUARANTEE")[0]
    assert certificate.facts[0].startswith("Warning: ")


def test_a_few_copies_are_not_the_headline():
    model, X, y = _with_copies(20, 380)
    certificate = certify(model, X, y)
    assert not any(fact.startswith("Warning: ") for fact in certificate.facts)
    assert certificate.best.n == 380


def test_only_copies_give_no_claim():
    model, X, y = _with_copies(400, 0)
    assert not [entry for entry in certify(model, X, y).guarantees if entry.sample == "holdout"]
