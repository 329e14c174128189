"""Rows sorted by label, so that all correct ones come first."""

import numpy as np

from surewood.certify import Claim, certify
from tests.promises.population import draw, memorising_forest


def test_the_order_of_the_rows_does_not_matter():
    model = memorising_forest(*draw(300, 0))
    X, y = draw(200, 1)
    order = np.argsort(model.predict(X) != y, kind="stable")
    claims = ["brier", Claim("cost", cost=[[0, 1], [7, 0]])]
    given, sorted_ = (certify(model, X[o], y[o], claims=claims) for o in (np.arange(200), order))
    assert [e.value for e in given.guarantees] == [e.value for e in sorted_.guarantees]
