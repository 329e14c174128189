"""What a parameter may be, as an object: a sentence for people and two checks.

A value of a wrong type gets a TypeError, a wrong value of a right type a ValueError, both with the sentence
``"{name} must be {rule.accepts}, got {value!r}."``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


class Rule(ABC):
    """One kind of accepted values."""

    @property
    @abstractmethod
    def accepts(self) -> str:
        """The accepted values in words, to follow "must be"."""

    @abstractmethod
    def is_kind(self, value: Any) -> bool:
        """Whether the type is right."""

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Whether the value is accepted; only asked where the type is right."""


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


@dataclass(frozen=True)
class Integer(Rule):
    """An integer from `least` to `most`; True and False are none."""

    least: int | None = None
    most: int | None = None

    @property
    def accepts(self) -> str:
        return "an integer" + _range(self.least, self.most)

    def is_kind(self, value: Any) -> bool:
        return isinstance(value, Integral) and not _is_bool(value)

    def holds(self, value: Any) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


@dataclass(frozen=True)
class Number(Rule):
    """A real number in a range; `above` and `below` are open ends, `least` and `most` closed ones."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    finite: bool = True
    what: str = "a number"

    @property
    def accepts(self) -> str:
        if self.above is not None and self.below is not None:
            return f"{self.what} strictly between {self.above:g} and {self.below:g}"
        if self.above is not None and self.most is not None:
            return f"{self.what} above {self.above:g} and at most {self.most:g}"
        if self.above is not None:
            return f"{self.what} above {self.above:g}"
        return self.what + _range(self.least, self.most)

    def is_kind(self, value: Any) -> bool:
        return isinstance(value, Real) and not _is_bool(value)

    def holds(self, value: Any) -> bool:
        number = float(value)
        if math.isnan(number) or (self.finite and math.isinf(number)):
            return False
        return (
            (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )


@dataclass(frozen=True)
class Fraction(Number):
    """A float in (0, 1]. Integers are another kind: 1 is a count, 1.0 is everything."""

    above: float | None = 0.0
    most: float | None = 1.0
    what: str = "a fraction"

    def is_kind(self, value: Any) -> bool:
        return super().is_kind(value) and not isinstance(value, Integral)


class Boolean(Rule):
    """True or False."""

    accepts = "True or False"

    def is_kind(self, value: Any) -> bool:
        return _is_bool(value)

    def holds(self, value: Any) -> bool:
        return True


class Choice(Rule):
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    @property
    def accepts(self) -> str:
        return joined([repr(word) for word in self.words])

    def is_kind(self, value: Any) -> bool:
        return isinstance(value, str)

    def holds(self, value: Any) -> bool:
        return value in self.words


@dataclass(frozen=True)
class Kind(Rule):
    """A value that a function recognises, described in words; `allows` tells good values from bad ones."""

    words: str
    recognises: Callable[[Any], bool]
    allows: Callable[[Any], bool] = lambda value: True

    @property
    def accepts(self) -> str:
        return self.words

    def is_kind(self, value: Any) -> bool:
        return bool(self.recognises(value))

    def holds(self, value: Any) -> bool:
        return bool(self.allows(value))


class Nothing(Rule):
    """None."""

    accepts = "None"

    def is_kind(self, value: Any) -> bool:
        return value is None

    def holds(self, value: Any) -> bool:
        return True


class Either(Rule):
    """What one of some rules accepts."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    @property
    def accepts(self) -> str:
        options: list[str] = []
        for rule in self.rules:  # options of options join the list: 'a', 'b' or an integer
            if isinstance(rule, Choice):
                options += [repr(word) for word in rule.words]
            elif isinstance(rule, Boolean):
                options += ["True", "False"]
            else:
                options.append(rule.accepts)
        return joined(options)

    def is_kind(self, value: Any) -> bool:
        return any(rule.is_kind(value) for rule in self.rules)

    def holds(self, value: Any) -> bool:
        return any(rule.is_kind(value) and rule.holds(value) for rule in self.rules)


class Nullable(Either):
    """What a rule accepts, or None."""

    def __init__(self, *rules: Rule) -> None:
        super().__init__(*rules, Nothing())


@dataclass(frozen=True)
class ListOf(Rule):
    """A list, tuple or array with at least one item, all of which follow a rule."""

    item: Rule
    what: str

    @property
    def accepts(self) -> str:
        return f"a list of {self.what}"

    def is_kind(self, value: Any) -> bool:
        if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping):
            return False
        return (not isinstance(value, np.ndarray) or value.ndim == 1) and all(
            self.item.is_kind(item) for item in value
        )

    def holds(self, value: Any) -> bool:
        return len(value) > 0 and all(self.item.holds(item) for item in value)


@dataclass(frozen=True)
class Mapped(Rule):
    """None or a dictionary with some of these keys; the values have rules of their own."""

    keys: tuple[str, ...]

    @property
    def accepts(self) -> str:
        if not self.keys:
            return "None or an empty dictionary"
        return f"None or a dictionary with keys among {', '.join(map(repr, self.keys))}"

    def is_kind(self, value: Any) -> bool:
        return value is None or isinstance(value, Mapping)

    def holds(self, value: Any) -> bool:
        return value is None or all(key in self.keys for key in value)


AUTO = Choice("auto")


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
