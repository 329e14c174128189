"""The recommended classifier as a method of the papers."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood.experiments.flagship import FLAGSHIP, fit_flagship, flagship_record


@pytest.fixture(scope="module")
def parts():
    X, y = load_iris(return_X_y=True)
    test = np.arange(len(y)) % 3 == 0
    return X[~test], y[~test], X[test], y[test]


def test_the_record_has_the_test_error_and_the_weights(parts):
    X, y, X_test, y_test = parts
    record = flagship_record(*parts, 0, 1)
    assert record["method"] == FLAGSHIP
    fitted = fit_flagship(X, y, X_test, 0, 1)
    assert record["metrics"]["error"] == np.mean(fitted.predictions != y_test) < 0.2
    assert record["metrics"]["held_out_error"] == fitted.held_out_error
    assert sum(record["chosen"]["weights"].values()) == pytest.approx(1.0, abs=1e-3)
