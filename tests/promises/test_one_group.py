"""All rows in one group."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_one_group_allows_no_claim():
    certificate = certify(memorising_forest(*draw(200, 0)), *draw(100, 1), groups=np.zeros(100))
    assert certificate.guarantees == ()
    assert certificate.withheld[0].reason == "needs at least two groups, got one"
