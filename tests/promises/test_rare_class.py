"""A class that the holdout does not have."""

from surewood.certify import certify
from tests.promises.population import draw, is_true, memorising_forest


def test_nothing_is_said_about_a_class_without_rows():
    model = memorising_forest(*draw(300, 0))
    X, y = draw(200, 1)
    zero = y == 0
    certificate = certify(model, X[zero], y[zero], claims=["recall:1", "error"])
    recall, _ = certificate.guarantees
    assert recall.value == 0.0
    assert "too few rows" in recall.note
    assert is_true(certificate, 0.0)
