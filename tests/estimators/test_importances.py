"""Importances sum to 1, or are all 0."""

import numpy as np

from surewood.estimators.importances import normalised


def test_sums():
    assert normalised(np.array([2.0, 6.0])).tolist() == [0.25, 0.75]
    assert normalised(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
