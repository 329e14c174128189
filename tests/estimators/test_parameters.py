"""Shared parameters mean one thing: features, bytes, rows, methods and study switches."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from surewood.estimators import parameters
from surewood.estimators.rules import Integer, check_value


class Toy(BaseEstimator):
    """Two parameters and two switches."""

    _parameter_rules: ClassVar = {
        "n_estimators": parameters.COMMON["n_estimators"],
        "C": parameters.COMMON["C"],
    }
    _study_switches: ClassVar = {
        "max_bins": parameters.Switch(255, parameters.COMMON["max_bins"]),
        "patience": parameters.Switch(3, Integer(1)),
    }

    def __init__(self, n_estimators=10, C="auto", study=None):
        self.n_estimators = n_estimators
        self.C = C
        self.study = study


def message(function, *arguments):
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*arguments)
    return type(caught.value), str(caught.value)


def test_every_parameter_is_checked():
    parameters.check_parameters(Toy())
    parameters.check_parameters(Toy(C=[1.0, 2.0], study={"patience": 1}))
    words = "'auto', a number above 0 or a list of numbers above 0, one per degree"
    assert message(parameters.check_parameters, Toy(C=0)) == (ValueError, f"C must be {words}, got 0.")
    assert message(parameters.check_parameters, Toy(C=None)) == (TypeError, f"C must be {words}, got None.")
    assert message(parameters.check_parameters, Toy(0))[0] is ValueError


def test_study_switches_change_defaults_and_are_checked():
    assert parameters.study_settings(Toy()) == {"max_bins": 255, "patience": 3}
    assert parameters.study_settings(Toy(study={"max_bins": 63})) == {"max_bins": 63, "patience": 3}
    assert message(parameters.check_parameters, Toy(study={"bins": 3})) == (
        ValueError,
        "study must be None or a dictionary with keys among 'max_bins', 'patience', got {'bins': 3}.",
    )
    assert message(parameters.check_parameters, Toy(study={"max_bins": 1})) == (
        ValueError,
        "study['max_bins'] must be an integer from 2 to 255, got 1.",
    )
    assert message(parameters.check_parameters, Toy(study=3))[0] is TypeError


@pytest.mark.parametrize(
    ("value", "size"),
    [(None, None), (5, 5), (2.5e3, 2500), (float("inf"), None), ("4GB", 4 * 10**9), ("512MB", 512 * 10**6),
     ("1GiB", 2**30), ("1.5 kib", 1536), ("100b", 100), (".5GB", 5 * 10**8), ("2TB", 2 * 10**12)],
)  # fmt: skip
def test_memory_is_bytes_or_text(value, size):
    assert parameters.memory_bytes(value) == size


@pytest.mark.parametrize("value", ["", "GB", "4", "4 G", "-1GB", "0GB", "4GBB", "1iB", 0, -5, float("nan")])
def test_memory_that_means_nothing_is_refused(value):
    error, text = message(parameters.memory_bytes, value)
    assert error is ValueError
    assert text == f"max_memory must be {parameters.COMMON['max_memory'].accepts}, got {value!r}."


def test_square_roots_and_logarithms_are_rounded_down():
    assert [parameters.features_tried("sqrt", d) for d in (1, 3, 8, 15, 16)] == [1, 1, 2, 3, 4]
    assert [parameters.features_tried("log2", d) for d in (1, 2, 7, 8)] == [1, 1, 2, 3]
    assert [parameters.features_tried(value, 10) for value in ("auto", None, 0.05, 0.55, np.int64(4))] == [
        3,
        10,
        1,
        5,
        4,
    ]
    assert message(parameters.features_tried, 11, 10) == (
        ValueError,
        "max_features must be at most the number of features, 10, got 11.",
    )
    assert message(parameters.features_tried, 0, 10)[0] is ValueError
    assert message(parameters.features_tried, True, 10)[0] is TypeError


def test_rows_are_counts_or_fractions():
    assert [parameters.rows_counted(value, 10) for value in (3, 0.11, 1e-9)] == [3, 2, 1]
    assert parameters.rows_counted(0.1, 10, least=2) == 2


def test_calibration_is_switched_or_named():
    assert [parameters.calibration_method(value) for value in (True, np.False_, "offset")] == [
        "auto",
        None,
        "offset",
    ]


@pytest.mark.parametrize(
    ("name", "good", "wrong", "odd"),
    [
        ("cv", [2, 0.25, KFold(3), [([0], [1])]], [1, 1.5], ["five", None]),
        ("random_state", [None, 0, np.random.RandomState(1)], [-1], ["seed", 1.5]),
        ("n_jobs", [None, -1, 4], [0], [1.5, "all"]),
        ("verbose", [0, 2, True], [-1], ["yes", None]),
        ("time_limit", [None, 0, 2.5, float("inf")], [-1.0], ["1h"]),
        ("class_weight", [None, "balanced", {0: 1.0}], ["equal"], [3, [1, 2]]),
        ("categorical_features", [None, "from_dtype", [0, 1], np.array([True])], ["dtype"], [3]),
        (
            "degrees",
            ["auto", 3, (1, parameters.MAX_DEGREE)],
            ["all", 0, [parameters.MAX_DEGREE + 1], []],
            [1.5, None, ["a"]],
        ),
        ("max_iter", [-1, 1, 10_000], [0, -2], [1.5, None]),
        ("calibrate", [True, False, "auto", "offset"], ["platt"], [1, None]),
        ("max_depth", [None, 3], [0], ["deep", 1.5]),
    ],
)
def test_common_rules(name, good, wrong, odd):
    for value in good:
        check_value(name, value, parameters.COMMON[name])
    for values, error in ((wrong, ValueError), (odd, TypeError)):
        for value in values:
            kind, text = message(check_value, name, value, parameters.COMMON[name])
            assert kind is error
            assert text == f"{name} must be {parameters.COMMON[name].accepts}, got {value!r}."
