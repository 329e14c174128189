"""Ten noise rows, repeated many times, as training sample."""

import numpy as np

from surewood import PolySVC
from surewood.certify import certify
from tests.promises.population import draw


def test_a_sample_of_ten_rows_repeated_is_ten_rows():
    X, y = draw(10, 0)
    y[:2] = [0, 1]
    model = PolySVC(gamma=1.0, scale=False, degree=3, C=1e3).fit(np.tile(X, (300, 1)), np.tile(y, 300))
    certificate = certify(model)
    assert certificate.guarantees == ()
    assert "at most 1 % of the training rows are copies" in certificate.withheld[0].reason
