"""A class whose rows the fit ignored."""

import pytest

from surewood import PolySVC
from surewood.certify import Method, certify
from tests.promises.population import draw, is_true


@pytest.mark.parametrize("class_weight", [{0: 1, 1: 0}, {0: 1, 1: 3}, "balanced"])
def test_weights_withhold_in_sample_guarantees(class_weight):
    X, y = draw(150, 0)
    certificate = certify(PolySVC(gamma=1.0, scale=False, degree=1, class_weight=class_weight).fit(X, y))
    assert certificate.guarantees == ()
    assert is_true(certificate)
    assert [w.method for w in certificate.withheld] == [Method.COMPRESSION]
