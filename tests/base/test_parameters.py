"""Every rule tells types from values and says what it accepts.

Shared parameters mean one thing: features, bytes, rows, methods and study switches.

Declared parameters: an `__init__` in scikit-learn's sense, rules, and the order of the signature.
"""

from __future__ import annotations

import inspect
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold

from surewood.base import parameters as parameters_module
from surewood.base.parameters import (
    COMMON,
    RunParameters,
    StudyParameter,
    TableParameters,
    TimedRunParameters,
    parameters,
)
from surewood.base.rules import (
    AUTO,
    Boolean,
    Choice,
    Either,
    Fraction,
    Integer,
    ListOf,
    Mapped,
    Nullable,
    Number,
    Rule,
    check_value,
)

CASES = [
    # rule, in words, accepted, wrong values, wrong types
    (Integer(), "an integer", [0, -3, np.int64(2)], [], [1.0, True, "1", None]),
    (Integer(1), "an integer of at least 1", [1, np.uint8(7)], [0, -1], [2.0, np.True_]),
    (Integer(2, 255), "an integer from 2 to 255", [2, 255], [1, 256], ["2"]),
    (Number(0.0), "a number of at least 0", [0, 0.5], [-1, float("nan"), float("inf")], ["1", False]),
    (Number(above=0.0, finite=False), "a number above 0", [1e-9, float("inf")], [0, -1.0], [None]),
    (Number(above=0.0, below=1.0), "a number strictly between 0 and 1", [0.5], [0.0, 1, 1.0], [[0.5]]),
    (Number(most=3.0), "a number of at most 3", [3, -9], [3.1], ["3"]),
    (Fraction(), "a fraction above 0 and at most 1", [0.1, 1.0], [0.0, 1.1], [1, 0]),
    (Boolean(), "True or False", [True, np.False_], [], [1, 0, None, "True"]),
    (Choice("a", "b"), "'a' or 'b'", ["a"], ["c", ""], [1, None]),
    (Nullable(Integer(1)), "an integer of at least 1 or None", [None, 1], [0], [0.5]),
    (Either(AUTO, Boolean(), Integer(0)), "'auto', True, False or an integer of at least 0",
     ["auto", True, 3], ["none", -1], [None, 0.5]),
    (ListOf(Integer(1), "counts"), "a list of counts", [[1], (2, 3), np.array([4])], [[], [0]],
     [1, "1", [0.5], np.ones((2, 2), dtype=int), {1: 2}]),
    (Mapped(("x", "y")), "None or a dictionary with keys among 'x', 'y'", [None, {}, {"x": 1}],
     [{"z": 1}], [["x"], "x"]),
    (Rule("even", lambda v: isinstance(v, int), lambda v: v % 2 == 0), "even", [2], [3], ["2"]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "words", "accepted", "wrong", "odd"), CASES, ids=lambda c: str(c)[:30])
def test_a_rule_accepts_and_refuses(rule, words, accepted, wrong, odd):
    assert rule.accepts == words
    for value in accepted:
        check_value("name", value, rule)
    for values, error in ((wrong, ValueError), (odd, TypeError)):
        for value in values:
            with pytest.raises(error) as caught:
                check_value("name", value, rule)
            assert str(caught.value) == f"name must be {words}, got {value!r}."


class Toy(BaseEstimator):
    """Two parameters and two switches."""

    _parameter_rules: ClassVar = {
        "n_estimators": parameters_module.COMMON["n_estimators"],
        "C": parameters_module.COMMON["C"],
    }
    _study_switches: ClassVar = {
        "max_bins": parameters_module.Switch(255, parameters_module.COMMON["max_bins"]),
        "patience": parameters_module.Switch(3, Integer(1)),
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
    parameters_module.check_parameters(Toy())
    parameters_module.check_parameters(Toy(C=[1.0, 2.0], study={"patience": 1}))
    words = "'auto', a number above 0 or a list of numbers above 0, one per degree"
    assert message(parameters_module.check_parameters, Toy(C=0)) == (ValueError, f"C must be {words}, got 0.")
    assert message(parameters_module.check_parameters, Toy(C=None)) == (
        TypeError,
        f"C must be {words}, got None.",
    )
    assert message(parameters_module.check_parameters, Toy(0))[0] is ValueError


def test_study_switches_change_defaults_and_are_checked():
    assert parameters_module.study_settings(Toy()) == {"max_bins": 255, "patience": 3}
    assert parameters_module.study_settings(Toy(study={"max_bins": 63})) == {"max_bins": 63, "patience": 3}
    assert message(parameters_module.check_parameters, Toy(study={"bins": 3})) == (
        ValueError,
        "study must be None or a dictionary with keys among 'max_bins', 'patience', got {'bins': 3}.",
    )
    assert message(parameters_module.check_parameters, Toy(study={"max_bins": 1})) == (
        ValueError,
        "study['max_bins'] must be an integer from 2 to 255, got 1.",
    )
    assert message(parameters_module.check_parameters, Toy(study=3))[0] is TypeError


@pytest.mark.parametrize(
    ("value", "size"),
    [(None, None), (5, 5), (2.5e3, 2500), (float("inf"), None), ("4GB", 4 * 10**9), ("512MB", 512 * 10**6),
     ("1GiB", 2**30), ("1.5 kib", 1536), ("100b", 100), (".5GB", 5 * 10**8), ("2TB", 2 * 10**12)],
)  # fmt: skip
def test_memory_is_bytes_or_text(value, size):
    assert parameters_module.memory_bytes(value) == size


@pytest.mark.parametrize("value", ["", "GB", "4", "4 G", "-1GB", "0GB", "4GBB", "1iB", 0, -5, float("nan")])
def test_memory_that_means_nothing_is_refused(value):
    error, text = message(parameters_module.memory_bytes, value)
    assert error is ValueError
    assert text == f"max_memory must be {parameters_module.COMMON['max_memory'].accepts}, got {value!r}."


def test_square_roots_and_logarithms_are_rounded_down():
    assert [parameters_module.features_tried("sqrt", d) for d in (1, 3, 8, 15, 16)] == [1, 1, 2, 3, 4]
    assert [parameters_module.features_tried("log2", d) for d in (1, 2, 7, 8)] == [1, 1, 2, 3]
    assert [
        parameters_module.features_tried(value, 10) for value in ("auto", None, 0.05, 0.55, np.int64(4))
    ] == [
        3,
        10,
        1,
        5,
        4,
    ]
    assert message(parameters_module.features_tried, 11, 10) == (
        ValueError,
        "max_features must be at most the number of features, 10, got 11.",
    )
    assert message(parameters_module.features_tried, 0, 10)[0] is ValueError
    assert message(parameters_module.features_tried, True, 10)[0] is TypeError


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
            ["auto", 3, (1, parameters_module.MAX_DEGREE)],
            ["all", 0, [parameters_module.MAX_DEGREE + 1], []],
            [1.5, None, ["a"]],
        ),
        ("max_iter", [-1, 1, 10_000], [0, -2], [1.5, None]),
        ("calibrate", [True, False, "auto", "offset"], ["platt"], [1, None]),
        ("max_depth", [None, 3], [0], ["deep", 1.5]),
    ],
)
def test_common_rules(name, good, wrong, odd):
    for value in good:
        check_value(name, value, parameters_module.COMMON[name])
    for values, error in ((wrong, ValueError), (odd, TypeError)):
        for value in values:
            kind, text = message(check_value, name, value, parameters_module.COMMON[name])
            assert kind is error
            assert text == f"{name} must be {parameters_module.COMMON[name].accepts}, got {value!r}."


@parameters(COMMON)
class Forest(TimedRunParameters, StudyParameter, BaseEstimator):
    """A class with parameters of its own, another default and a fitted attribute."""

    n_estimators: int = field(default=100, kw_only=False)
    max_depth: Any = None
    verbose: int = 1
    model_: Any = field(init=False)


def names(cls):
    return list(inspect.signature(cls).parameters)


def test_own_parameters_come_first_and_only_the_first_has_a_place():
    assert names(Forest) == [
        "n_estimators", "max_depth", "verbose", "time_limit", "n_jobs", "random_state", "study",
    ]  # fmt: skip
    with pytest.raises(TypeError, match="positional"):
        Forest(10, 3)


def test_arguments_are_stored_as_they_are():
    depth = [1, 2]
    model = Forest(5, max_depth=depth)
    assert model.max_depth is depth
    assert vars(model) == model.get_params(deep=False)
    assert (model.n_estimators, model.verbose, model.n_jobs) == (5, 1, None)


def test_scikit_learn_copies_compares_and_prints_it():
    model = Forest(n_jobs=2)
    assert clone(model).get_params() == model.get_params()
    assert clone(model) != model  # compared by identity, as scikit-learn's estimators
    assert repr(model) == "Forest(n_jobs=2)"


def test_a_default_is_no_attribute_of_the_class():
    assert not hasattr(Forest, "n_estimators")
    assert not hasattr(Forest(), "model_")


def test_every_parameter_but_study_has_its_rule():
    assert set(Forest._parameter_rules) == {*names(Forest)} - {"study"}
    with pytest.raises(KeyError):
        parameters({})(type("Odd", (RunParameters,), {}))


def test_groups_are_the_public_vocabulary():
    for group in (TableParameters, RunParameters, TimedRunParameters):
        assert set(names(group)) <= set(COMMON)
