"""Declared parameters: an `__init__` in scikit-learn's sense, rules, and the order of the signature."""

import inspect
from dataclasses import field
from typing import Any

import pytest
from sklearn.base import BaseEstimator, clone

from surewood.estimators.declaring import (
    RunParameters,
    StudyParameter,
    TableParameters,
    TimedRunParameters,
    parameters,
)
from surewood.estimators.parameters import COMMON


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
