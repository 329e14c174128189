"""C by cross-validation, and the methods of calibration by name."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from surewood import PolySVC
from surewood.polysvc.plan import C_GRID
from tests.svm.reference import blobs

X, Y = blobs(240, 5, 4, 3)


def test_auto_takes_the_c_of_smallest_error():
    model = PolySVC(degree=2, C="auto").fit(X[:160], Y[:160])
    assert model.C_ in C_GRID
    fixed = PolySVC(degree=2, C=model.C_).fit(X[:160], Y[:160])
    np.testing.assert_array_equal(model.predict_proba(X), fixed.predict_proba(X))
    assert model.score(X[160:], Y[160:]) >= PolySVC(degree=2, C=1e-3).fit(X[:160], Y[:160]).score(
        X[160:], Y[160:]
    )


def test_a_chosen_c_offers_no_compression_bound():
    given, chosen = (
        PolySVC(degree=1, gamma=1.0, scale=False, C=C).fit(X, Y).__certificate_evidence__()
        for C in (1.0, "auto")
    )
    assert [type(e).__name__ for e in given] == ["CompressionEvidence", "EstimateEvidence"]
    [only] = chosen
    assert only.used_for_selection


def test_one_class_needs_no_choice():
    assert PolySVC(C="auto").fit([[0.0], [1.0]], ["a", "a"]).predict([[3.0]]).tolist() == ["a"]


@pytest.mark.parametrize("method", ["temperature", "offset", "isotonic"])
def test_named_methods_calibrate_without_changing_a_prediction(method):
    model = PolySVC(degree=2, C=0.3, calibrate=method).fit(X[:160], Y[:160])
    reference = PolySVC(degree=2, C=0.3).fit(X[:160], Y[:160])
    proba = model.predict_proba(X[160:])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[160:]))
    assert log_loss(Y[160:], proba) < 0.9 * np.log(4)
