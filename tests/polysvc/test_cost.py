"""Memory of an SVM is counted part by part, and limits it."""

import numpy as np
import pytest

from surewood import PolySVC
from tests.svm.reference import blobs

X, Y = blobs(120, 4, 3, 1)


def test_calibration_costs_five_more_svms():
    with_, without = (PolySVC(calibrate=c).estimate_cost(X, Y) for c in (True, False))
    assert with_.parts["SVMs"] > 5 * without.parts["SVMs"]
    assert with_.seconds[0] > 0


def test_wide_designs_store_inner_products():
    wide = np.hstack([X] * 10)
    assert PolySVC().estimate_cost(wide, Y).parts["inner products"] > 0
    assert PolySVC(calibrate=False).estimate_cost(wide, Y).parts["inner products"] == 0
    assert PolySVC().estimate_cost(X, Y).parts["inner products"] == 0


def test_a_fit_beyond_its_memory_is_refused():
    with pytest.raises(ValueError, match="use fewer rows or a smaller cache_size, or raise it"):
        PolySVC(max_memory="1kB").fit(X, Y)
