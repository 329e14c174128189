"""Every parameter of PolySVC out of its range is named in the error."""

import numpy as np
import pytest

from surewood import PolySVC


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("C", 0.0, "C must be a positive number"),
        ("C", "1", "C must be a positive number"),
        ("kernel", "sigmoid", "kernel must be 'poly', 'rbf' or 'linear', got 'sigmoid'"),
        ("degree", -1, "degree must be an integer from 0 to 100, got -1"),
        ("degree", 2.0, "degree must be an integer"),
        ("gamma", "big", "gamma must be 'scale', 'auto' or a positive number, got 'big'"),
        ("gamma", np.inf, "gamma must be"),
        ("coef0", np.nan, "coef0 must be a finite number"),
        ("tol", 0, "tol must be a positive number"),
        ("max_iter", -2, "max_iter must be -1 or a number of iterations"),
        ("decision_function_shape", "ova", "decision_function_shape must be 'ovr' or 'ovo'"),
        ("max_memory", -1, "max_memory must be None or a number of bytes"),
        ("cache_size", 0, "cache_size must be a positive number of MB"),
    ],
)
def test_the_error_names_parameter_rule_and_value(parameter, value, message):
    model = PolySVC(**{parameter: value})
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "classes_")
