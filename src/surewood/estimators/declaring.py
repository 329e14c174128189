"""Parameters of an estimator, declared once as annotated attributes.

:func:`parameters` makes the ``__init__`` of scikit-learn's contract from them (every argument is stored as it
is, nothing else happens) and picks the rule of each. The groups below are what several estimators have; a
class that derives from one has its parameters and may declare another default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

from surewood.estimators.rules import Rule

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
    >>> from surewood.estimators.parameters import COMMON
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
        for one in fields(made):
            if one.name in vars(made):
                delattr(made, one.name)  # a default is no value: an estimator without it is broken
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
    max_memory: float | str | None = None
    remember_rows: bool = True


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
    """Switches that only a study needs."""

    study: Mapping[str, Any] | None = None
