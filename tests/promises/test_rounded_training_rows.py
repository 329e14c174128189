"""Training rows written with seven digits and read back."""

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_rows_that_went_through_a_file_are_recognised():
    X, y = draw(400, 0)
    text = [[f"{value:.7e}" for value in row] for row in X]
    certificate = certify(memorising_forest(X, y), np.array(text, dtype=float), y)
    assert certificate.guarantees == ()
