"""What is measured about prediction sets."""

import numpy as np
import pytest

from surewood.bounds import clopper_pearson_lower
from surewood.certify.set_coverage import SetCoverage


def test_fractions_sizes_and_the_lower_limit():
    inside = np.array([[True, False, False], [True, True, False], [False, True, False], [True, True, True]])
    found = SetCoverage.measured(inside, np.array([True, True, False, True]), 0.1)
    assert (found.coverage, found.mean_size, found.single, found.n) == (0.75, 1.75, 0.5, 4)
    assert found.lower == pytest.approx(clopper_pearson_lower(3, 4, delta=0.1))
