"""What a parameter may be, as an object: a sentence for people and two checks.

A value of a wrong type gets a TypeError, a wrong value of a right type a ValueError, both with the sentence
``"{name} must be {rule.accepts}, got {value!r}."``. Every rule below is a :class:`Rule`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rule:
    """One kind of accepted values."""

    #: The accepted values in words, to follow "must be".
    accepts: str
    #: Whether the type is right.
    is_kind: Callable[[Any], bool]
    #: Whether the value is accepted; only asked where the type is right.
    holds: Callable[[Any], bool] = lambda value: True
    #: The accepted values in words one by one, where there are several, for lists of options.
    options: tuple[str, ...] = ()


def check_value(name: str, value: Any, rule: Rule) -> None:
    """Raise TypeError or ValueError with the one sentence where a value breaks its rule.

    Examples
    --------
    >>> check_value("n_estimators", 0, Integer(1))
    Traceback (most recent call last):
    ...
    ValueError: n_estimators must be an integer of at least 1, got 0.
    """
    if rule.is_kind(value) and rule.holds(value):
        return
    error = ValueError if rule.is_kind(value) else TypeError
    raise error(f"{name} must be {rule.accepts}, got {value!r}.")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def Integer(least: int | None = None, most: int | None = None) -> Rule:
    """An integer from `least` to `most`; True and False are none."""
    return Rule(
        "an integer" + _range(least, most),
        lambda value: isinstance(value, Integral) and not _is_bool(value),
        lambda value: (least is None or value >= least) and (most is None or value <= most),
    )


def Number(
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    finite: bool = True,
    what: str = "a number",
) -> Rule:
    """A real number in a range; `above` and `below` are open ends, `least` and `most` closed ones."""

    def holds(value: Any) -> bool:
        number = float(value)
        if math.isnan(number) or (finite and math.isinf(number)):
            return False
        return (
            (least is None or number >= least)
            and (most is None or number <= most)
            and (above is None or number > above)
            and (below is None or number < below)
        )

    bounds = _range(least, most)
    if above is not None and below is not None:
        bounds = f" strictly between {above:g} and {below:g}"
    elif above is not None:
        bounds = f" above {above:g}" + ("" if most is None else f" and at most {most:g}")
    return Rule(what + bounds, lambda value: isinstance(value, Real) and not _is_bool(value), holds)


def Fraction() -> Rule:
    """A float in (0, 1]. Integers are another kind: 1 is a count, 1.0 is everything."""
    number = Number(most=1.0, above=0.0, what="a fraction")
    return Rule(
        number.accepts,
        lambda value: number.is_kind(value) and not isinstance(value, Integral),
        number.holds,
    )


def Boolean() -> Rule:
    """True or False."""
    return Rule("True or False", _is_bool, options=("True", "False"))


def Choice(*words: str) -> Rule:
    """One of some words."""
    options = tuple(repr(word) for word in words)
    return Rule(joined(options), lambda value: isinstance(value, str), lambda value: value in words, options)


def Either(*rules: Rule) -> Rule:
    """What one of some rules accepts."""
    options = tuple(option for rule in rules for option in rule.options or (rule.accepts,))
    return Rule(
        joined(options),
        lambda value: any(rule.is_kind(value) for rule in rules),
        lambda value: any(rule.is_kind(value) and rule.holds(value) for rule in rules),
    )


def Nullable(*rules: Rule) -> Rule:
    """What a rule accepts, or None."""
    return Either(*rules, Rule("None", lambda value: value is None))


def ListOf(item: Rule, what: str) -> Rule:
    """A list, tuple or array with at least one item, all of which follow a rule; `what` they are in words."""

    def is_kind(value: Any) -> bool:
        if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping):
            return False
        return (not isinstance(value, np.ndarray) or value.ndim == 1) and all(map(item.is_kind, value))

    return Rule(
        f"a list of {what}", is_kind, lambda value: len(value) > 0 and all(item.holds(one) for one in value)
    )


def Mapped(keys: tuple[str, ...]) -> Rule:
    """None or a dictionary with some of these keys; the values have rules of their own."""
    accepts = "None or an empty dictionary"
    if keys:
        accepts = f"None or a dictionary with keys among {', '.join(map(repr, keys))}"
    return Rule(
        accepts,
        lambda value: value is None or isinstance(value, Mapping),
        lambda value: value is None or all(key in keys for key in value),
    )


def joined(options: Iterable[str]) -> str:
    """Options as an English list.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first, last = options
    return f"{', '.join(first)} or {last}" if first else last


def _range(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    if least is not None:
        return f" of at least {least:g}"
    return "" if most is None else f" of at most {most:g}"


AUTO = Choice("auto")
