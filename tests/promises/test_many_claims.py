"""Fifty claims, of which the best is quoted."""

import math

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_all_claims_share_delta():
    model = memorising_forest(*draw(300, 0))
    names = ["recall:0", "recall:1", "precision:0", "precision:1", "error"] * 10
    certificate = certify(model, *draw(200, 1), claims=names)
    assert len(certificate.guarantees) == 50
    assert math.fsum(entry.delta for entry in certificate.guarantees) <= 0.05 * (1 + 1e-9)
    assert certificate.best.value > certify(model, *draw(200, 1)).best.value
