"""The training rows themselves as holdout."""

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_no_claim_from_training_rows():
    X, y = draw(400, 0)
    certificate = certify(memorising_forest(X, y), X, y)
    assert certificate.guarantees == ()
    assert certificate.facts[0].startswith("Warning: 400 of 400 holdout rows (100 %) are copies")
    assert certificate.withheld[0].reason.startswith("no row can be counted")
    assert certificate.verdict == "no guarantee could be given"
