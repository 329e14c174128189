import numpy as np
import pytest

from surewood import DeepCascadeSVMClassifier
from surewood.bounds import cascade_ledger
from surewood.certify import certify


def test_ledger_is_that_of_the_bounds(model):
    found = model.search_[0]
    ledger = model.ledger()
    expected = cascade_ledger(
        found.plus, found.minus, model.cascades_[0].degrees, n_features=2, gamma_scale=1e-3
    )
    np.testing.assert_allclose(ledger.complexity_term, expected.complexity_term)
    np.testing.assert_array_equal(ledger.correct, expected.correct)
    score = found.minus.sum() / 160 + ledger.term.sum()
    assert score == pytest.approx(found.score / 160)
    assert ledger.path[0].startswith("|f1| > ")
    assert ledger.path[-1].count("<=") == 2


def test_certificates(model, moons):
    X, y = moons
    own = model.__certificate_evidence__()
    cascade, estimate = own
    assert cascade.n_samples == 160
    assert cascade.conditions()
    assert all(condition.holds for condition in cascade.conditions())
    assert 0 <= estimate.value < 0.5
    assert "GUARANTEE" in str(certify(model, X[160:], y[160:]))
    weighted = DeepCascadeSVMClassifier(max_leaves=1, random_state=0).fit(X, y, np.full(len(y), 0.5))
    evidence = weighted.__certificate_evidence__()[0]
    assert not all(condition.holds for condition in evidence.conditions())
