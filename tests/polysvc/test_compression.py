"""Sample compression: counts, rebuilding from support points, and what a certificate may then promise."""

import numpy as np
import pytest

from surewood import BinnedForestClassifier, PolySVC
from surewood.bounds import CompressionEvidence, EstimateEvidence
from surewood.certify import certify


def blobs(n=400, gap=4.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + gap * y[:, None], y


def evidence(model):
    found = list(model.__certificate_evidence__())
    return next(e for e in found if isinstance(e, CompressionEvidence)), found


def test_counts_and_conditions():
    X, y = blobs(gap=2.0)
    model = PolySVC(degree=1, gamma=1.0, scale=False).fit(X, y)
    own, found = evidence(model)
    assert (own.n_samples, own.n_compressed) == (400, len(model.support_))
    rest = np.setdiff1d(np.arange(400), model.support_)
    assert own.errors == (model.predict(X[rest]) != y[rest]).sum() == 0
    assert all(c.holds for c in own.conditions())
    estimate = next(e for e in found if isinstance(e, EstimateEvidence))
    assert 0.0 <= estimate.value < 0.2
    assert estimate.n == 400


@pytest.mark.parametrize("changes", [{"scale": True}, {"gamma": "scale"}])
def test_scaling_with_the_training_rows_turns_the_guarantee_away(changes):
    own, _ = evidence(PolySVC(**{"degree": 1, "gamma": 1.0, "scale": False, **changes}).fit(*blobs()))
    assert not own.scaling_fixed
    assert "scaling was fixed" in [c.text for c in own.conditions() if not c.holds][-1]


def test_weights_and_equal_rows_turn_it_away():
    X, y = blobs()
    model = PolySVC(degree=1, gamma=1.0, scale=False)
    assert not evidence(model.fit(X, y, sample_weight=1.0 + y))[0].unweighted
    assert not evidence(model.fit(np.vstack([X, X[:5]]), np.r_[y, y[:5]]))[0].unweighted


def test_a_certificate_promises_by_compression():
    X, y = blobs()
    X_new, y_new = blobs(seed=1)
    model = PolySVC(degree=1, gamma=1.0, scale=False).fit(X, y)
    entries = certify(model, X_new, y_new).entries
    own = [e for e in entries if "compression" in e.method.lower()]
    assert own
    assert own[0].status.name == "GUARANTEE"
    assert own[0].value < 0.35
    scaled = certify(PolySVC(degree=1).fit(X, y), X_new, y_new).entries
    assert not [e for e in scaled if "compression" in e.method.lower() and e.status.name == "GUARANTEE"]


def test_a_forest_offers_its_out_of_bag_error_and_no_more():
    X, y = blobs(gap=1.5)
    assert list(BinnedForestClassifier(5, random_state=0).fit(X, y).__certificate_evidence__()) == []
    model = BinnedForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    (own,) = model.__certificate_evidence__()
    assert own.value == pytest.approx(1.0 - model.oob_score_)
    assert own.n == 400
