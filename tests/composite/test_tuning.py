"""C of every degree by cross-validation."""

import numpy as np

from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.tuning import best_C, tune_C
from tests.composite.composite_samples import prepared, sample


def test_ties_go_to_the_smaller_C():
    errors = np.array([[3.0, 1.0, 1.0], [0.0, 0.0, 2.0]])
    assert best_C(errors, (0.1, 1.0, 10.0)) == (1.0, 0.1)
    assert best_C(errors, (10.0, 1.0, 0.1)) == (0.1, 1.0)


def test_tuning_counts_every_row_once():
    data = prepared(*sample(90))
    C, errors = tune_C(data, (1, 2), 0, SolverOptions(), (1e-3, 1.0))
    assert errors.shape == (2, 2)
    assert (errors <= 90).all()
    assert C[0] in (1e-3, 1.0)
