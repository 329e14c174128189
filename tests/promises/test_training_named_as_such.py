"""Rows that the caller calls training rows."""

from surewood.certify import certify
from tests.promises.population import draw, nearest_neighbour


def test_training_rows_give_an_estimate_only():
    X, y = draw(200, 0)
    certificate = certify(nearest_neighbour(X, y), X, y, sample="training")
    assert certificate.guarantees == ()
    assert certificate.entries[0].biased
