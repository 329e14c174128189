"""A classifier told to forget its rows."""

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_the_certificate_says_that_copies_were_not_checked():
    X, y = draw(300, 0)
    model = memorising_forest(X, y, remember_rows=False)
    certificate = certify(model, *draw(100, 1))
    assert "not checked" in certificate.assumptions[0]
    assert certify(model, X, y, X_train=X).guarantees == ()
