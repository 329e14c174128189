"""Parameters of estimators: declared once, checked by one validator, with one meaning everywhere.

:func:`parameters` makes the ``__init__`` of scikit-learn's contract from annotated attributes (every argument
is stored as it is, nothing else happens) and picks the rule of each. The groups of parameters are what
several estimators have; a class that derives from one has its parameters and may declare another default.

An estimator class lists its rules in ``_parameter_rules`` (all of its parameters) and its study switches in
``_study_switches``; ``check_parameters(self)`` is the first line of ``fit``. A parameter that several
estimators have takes its rule from :data:`COMMON`, so that it accepts the same values, with the same
sentence, everywhere.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from surewood.base import rules
from surewood.base.calibration import METHODS
from surewood.base.rules import Rule
from surewood.base.time_limit import TimeLimit

MAX_DEGREE = 100  # of polynomial kernels, as in the core
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b\s*", re.IGNORECASE)
_MOST_SEED = 2**32 - 1


def _is_size(text: str) -> bool:
    match = _SIZE.fullmatch(text)
    return match is not None and float(match[1]) > 0 and not (match[3] and not match[2])


def _is_splitter(value: Any) -> bool:
    is_pairs = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return is_pairs or (callable(getattr(value, "split", None)) and not isinstance(value, str | bytes))


def _is_column_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


#: Rules of the parameters that estimators share. Names that an estimator does not have do not matter to it.
COMMON: Mapping[str, rules.Rule] = {
    "n_estimators": rules.Integer(1),
    "max_depth": rules.Nullable(rules.Integer(1)),
    "max_features": rules.Nullable(rules.Choice("auto", "sqrt", "log2"), rules.Integer(1), rules.Fraction()),
    "min_samples_leaf": rules.Either(rules.Integer(1), rules.Fraction()),
    "min_samples_split": rules.Either(rules.Integer(2), rules.Fraction()),
    "min_weight_fraction_leaf": rules.Number(0.0, 0.5),
    "min_impurity_decrease": rules.Number(0.0),
    "max_bins": rules.Integer(2, 255),
    "bootstrap": rules.Boolean(),
    "max_samples": rules.Nullable(rules.AUTO, rules.Integer(1), rules.Fraction()),
    "criterion": rules.Choice("gini", "entropy", "log_loss"),
    "class_weight": rules.Nullable(
        rules.Rule("a dictionary", lambda value: isinstance(value, Mapping)), rules.Choice("balanced")
    ),
    "random_state": rules.Nullable(
        rules.Integer(0, _MOST_SEED),
        rules.Rule("a RandomState", lambda value: isinstance(value, np.random.RandomState)),
    ),
    "n_jobs": rules.Nullable(
        rules.Rule("a nonzero integer", rules.Integer().is_kind, lambda value: value != 0),
    ),
    "verbose": rules.Either(rules.Boolean(), rules.Integer(0)),
    "warm_start": rules.Boolean(),
    "max_memory": rules.Nullable(
        rules.Number(above=0.0, finite=False, what="a number of bytes"),
        rules.Rule("text such as '4GB' or '512MiB'", lambda value: isinstance(value, str), _is_size),
    ),
    "time_limit": rules.Nullable(rules.Number(0.0, finite=False, what="a number of seconds")),
    "calibrate": rules.Either(rules.Boolean(), rules.Choice(*METHODS)),
    "cv": rules.Either(
        rules.Integer(2),
        rules.Number(above=0.0, below=1.0, what="a validation fraction"),
        rules.Rule("a scikit-learn splitter or an iterable of (train, test) pairs", _is_splitter),
    ),
    "refit": rules.Boolean(),
    "degrees": rules.Either(
        rules.AUTO,
        rules.Integer(1, MAX_DEGREE),
        rules.ListOf(rules.Integer(1, MAX_DEGREE), f"integers from 1 to {MAX_DEGREE}"),
    ),
    "C": rules.Either(
        rules.AUTO,
        rules.Number(above=0.0, finite=False),
        rules.ListOf(rules.Number(above=0.0, finite=False), "numbers above 0, one per degree"),
    ),
    "C_grid": rules.ListOf(rules.Number(above=0.0), "numbers above 0"),
    "gamma_scale": rules.Either(rules.AUTO, rules.Number(0.0)),
    "tol": rules.Number(above=0.0),
    "max_iter": rules.Either(
        rules.Rule("-1", lambda value: rules.Integer().is_kind(value), lambda value: value == -1),
        rules.Integer(1),
    ),
    "categorical_features": rules.Nullable(
        rules.Choice("from_dtype"), rules.Rule("a list of column names or positions, a mask", _is_column_list)
    ),
    "remember_rows": rules.Boolean(),
}


@dataclass(frozen=True)
class Switch:
    """A study switch: its default and what it may be."""

    default: Any
    rule: rules.Rule


def check_parameters(estimator: Any) -> None:
    """Check every parameter of an estimator against its rule, study switches included.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier
    >>> check_parameters(BinnedForestClassifier(n_estimators="many"))
    Traceback (most recent call last):
    ...
    TypeError: n_estimators must be an integer of at least 1, got 'many'.
    """
    for name, value in estimator.get_params(deep=False).items():
        if name != "study":
            rules.check_value(name, value, estimator._parameter_rules[name])
    if "study" in estimator.get_params(deep=False):
        study_settings(estimator)


def study_settings(estimator: Any) -> dict[str, Any]:
    """The study switches of an estimator: the defaults of its class, changed by its `study`, all checked."""
    switches: Mapping[str, Switch] = estimator._study_switches
    rules.check_value("study", estimator.study, rules.Mapped(tuple(switches)))
    changes = {} if estimator.study is None else estimator.study
    for name, value in changes.items():
        rules.check_value(f"study[{name!r}]", value, switches[name].rule)
    return {name: changes.get(name, switch.default) for name, switch in switches.items()}


def checked_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters and study switches of an estimator by name, all checked; ``time_limit`` starts here.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier
    >>> parameters = checked_parameters(BinnedForestClassifier(study={"max_bins": 31}))
    >>> parameters["max_bins"], parameters["time_limit"].left
    (31, inf)
    """
    check_parameters(estimator)
    values = estimator.get_params(deep=False)
    study = study_settings(estimator) if "study" in values else {}
    return {**values, **study, "time_limit": TimeLimit(values.get("time_limit"))}


def features_tried(max_features: Any, n_features: int) -> int:
    """`max_features` as a number of features; square roots and logarithms are rounded down.

    Examples
    --------
    >>> [features_tried(value, 100) for value in ("auto", "sqrt", "log2", 0.5, 7, None)]
    [10, 10, 6, 50, 7, 100]
    """
    rules.check_value("max_features", max_features, COMMON["max_features"])
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        return max(1, int(math.log2(n_features)) if max_features == "log2" else math.isqrt(n_features))
    if isinstance(max_features, Integral):
        if int(max_features) > n_features:
            raise ValueError(
                f"max_features must be at most the number of features, {n_features}, got {max_features!r}."
            )
        return int(max_features)
    return max(1, int(float(max_features) * n_features))


def rows_counted(value: Any, n_rows: int, least: int = 1) -> int:
    """A number of rows: an integer itself, a fraction as that part of `n_rows`, rounded up.

    Examples
    --------
    >>> rows_counted(5, 100), rows_counted(0.033, 100)
    (5, 4)
    """
    return max(least, int(value) if isinstance(value, Integral) else math.ceil(float(value) * n_rows))


def memory_bytes(max_memory: Any) -> int | None:
    """`max_memory` in bytes; None without a limit.

    Examples
    --------
    >>> memory_bytes("4GB"), memory_bytes("1 GiB"), memory_bytes(2048.0), memory_bytes(None)
    (4000000000, 1073741824, 2048, None)
    """
    rules.check_value("max_memory", max_memory, COMMON["max_memory"])
    if isinstance(max_memory, str):
        match = _SIZE.fullmatch(max_memory)
        assert match is not None  # the rule said so
        unit = match[2].lower()
        return int(float(match[1]) * (_BINARY_UNITS[unit] if match[3] else _UNITS[unit]))
    return None if max_memory is None or math.isinf(max_memory) else int(max_memory)


def calibration_method(calibrate: bool | str) -> str | None:
    """The method that `calibrate` names; True is "auto", False is None.

    Examples
    --------
    >>> calibration_method(True), calibration_method("isotonic"), calibration_method(False)
    ('auto', 'isotonic', None)
    """
    if isinstance(calibrate, str):
        return calibrate
    return "auto" if calibrate else None


_Class = TypeVar("_Class", bound=type)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def parameters(rules: Mapping[str, Rule] | None = None) -> Callable[[_Class], _Class]:
    """Make ``__init__`` and ``_parameter_rules`` of a class from its annotated attributes.

    All parameters are keyword-only unless declared with ``field(default=..., kw_only=False)``; fitted
    attributes that need a type are declared with ``field(init=False)``. In the signature the class's own
    parameters come before inherited ones.

    Parameters
    ----------
    rules : mapping from names to rules, optional
        Rules of at least all parameters but `study`. None for a group of parameters, which is no estimator.

    Examples
    --------
    >>> import inspect
    >>> from surewood.base.parameters import COMMON
    >>> @parameters(COMMON)
    ... class Forest(RunParameters):
    ...     n_estimators: int = field(default=100, kw_only=False)
    ...     max_depth: int | None = None
    >>> list(inspect.signature(Forest).parameters)
    ['n_estimators', 'max_depth', 'n_jobs', 'random_state', 'verbose']
    >>> Forest(10, n_jobs=2).n_jobs, sorted(Forest._parameter_rules)
    (2, ['max_depth', 'n_estimators', 'n_jobs', 'random_state', 'verbose'])
    """

    def declare(cls: _Class) -> _Class:
        made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(cls)
        for parameter in fields(made):
            if parameter.name in vars(made):
                delattr(made, parameter.name)  # a default is no value: an estimator without it is broken
        signature = _own_first(made)
        made.__init__.__signature__ = signature
        if rules is not None:
            made._parameter_rules = {
                name: rules[name] for name in signature.parameters if name not in ("self", "study")
            }
        return cls

    return declare


def _own_first(cls: type) -> inspect.Signature:
    """The signature of ``__init__``, parameters in the order in which a reader meets them."""
    places: dict[str, int] = {"self": 0}
    for owner in cls.__mro__:
        for name in inspect.get_annotations(owner):
            places.setdefault(name, len(places))
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]
    ordered = sorted(signature.parameters.values(), key=lambda one: (one.kind, places[one.name]))
    return signature.replace(parameters=ordered)


@parameters()
class TableParameters:
    """What every classifier lets its user say about the table and the probabilities."""

    calibrate: bool | str = True
    class_weight: Any = None
    categorical_features: Any = "from_dtype"
    remember_rows: bool = True


@parameters()
class GramParameter:
    """Of classifiers that store a matrix of inner products."""

    max_memory: float | str | None = None


@parameters()
class RunParameters:
    """How the work is done."""

    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0


@parameters()
class TimedRunParameters(RunParameters):
    """How the work is done, and how long it may take."""

    time_limit: float | None = None


@parameters()
class StudyParameter:
    """Switches for experiments."""

    study: Mapping[str, Any] | None = None
