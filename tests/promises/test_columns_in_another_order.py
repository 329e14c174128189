"""Training rows with their columns in another order."""

import pandas as pd

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_columns_are_found_by_name():
    X, y = draw(300, 0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    certificate = certify(memorising_forest(frame, y), frame, y, X_train=frame[list("dcba")])
    assert certificate.guarantees == ()
