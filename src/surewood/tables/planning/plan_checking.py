"""Plans of columns from strangers: what a plan file or a model file says about a column is checked first.

A plan steers how values are read. Each setting must have its type and a value that a reader can follow.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from surewood.tables.planning.date_format import FORMS
from surewood.tables.planning.date_parts import PARTS

if TYPE_CHECKING:
    from surewood.tables.planning.column_plan import ColumnPlan

#: What a column can be. A boolean is read as 0 and 1; text becomes a few numbers; "drop" is not used.
KINDS = ("number", "boolean", "date", "duration", "category", "text", "drop")

_TEXTS = ("name", "reason", "changed", "decimal", "thousands", "unit")
_SWITCHES = ("percent", "day_first", "ordered")
_LISTS = ("examples", "date_forms", "date_parts", "missing", "categories")
_COUNTS = ("n_distinct", "n_missing", "n_lost")
_LARGEST_COUNT = 2**63 - 1
#: Keys of many parts, which no plan has: the time to read one grows with the square of their number.
_LONG_KEY = re.compile(r"(?:^|[\[{,])\s*(?:[\w-]+\s*\.\s*){50}", re.MULTILINE)
_LONGEST_PLAN = 1 << 26
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def shortened(value: Any) -> str:
    """A value from a file as Python writes it, the middle left out where it is long.

    Examples
    --------
    >>> shortened("age"), len(shortened("a" * 1000))
    ("'age'", 60)
    """
    return _short.repr(value)


def is_readable(text: str) -> bool:
    """Whether a plan file is of a form that is read in reasonable time.

    Examples
    --------
    >>> is_readable("[columns.age]"), is_readable("a." * 1000 + "a = 1")
    (True, False)
    """
    return len(text) <= _LONGEST_PLAN and _LONG_KEY.search(text) is None


def flaw_of(plan: ColumnPlan) -> str | None:
    """What is wrong with the settings of a column, in words; None where all can be followed.

    Examples
    --------
    >>> from surewood.tables import ColumnPlan
    >>> flaw_of(ColumnPlan("price", "number", decimal=""))
    "has decimal ''; it must be one mark, such as '.' or ','"
    """
    return _flaw_of_types(plan) or _flaw_of_marks(plan) or _flaw_of_values(plan)


def _flaw_of_types(plan: ColumnPlan) -> str | None:
    for name in _TEXTS:
        if not isinstance(getattr(plan, name), str):
            return f"has {name} {shortened(getattr(plan, name))}; it must be a text"
    if plan.kind not in KINDS:
        return f"has kind {shortened(plan.kind)}; kinds are {', '.join(KINDS)}"
    for name in _SWITCHES:
        if not isinstance(getattr(plan, name), bool):
            return f"has {name} {shortened(getattr(plan, name))}; it must be true or false"
    for name in _LISTS:
        if not isinstance(getattr(plan, name), tuple):
            return f"has {name} {shortened(getattr(plan, name))}; it must be a list"
    for name in _COUNTS:
        count = getattr(plan, name)
        if (
            not isinstance(count, int | np.integer)
            or isinstance(count, bool)
            or not 0 <= count <= _LARGEST_COUNT
        ):
            return f"has {name} {shortened(count)}; it must be a whole number, 0 or more"
    return None


def _flaw_of_marks(plan: ColumnPlan) -> str | None:
    for name, least in (("decimal", 1), ("thousands", 0)):
        mark = getattr(plan, name)
        if not least <= len(mark) <= 1 or mark.isalnum() or mark in ("+", "-"):
            return f"has {name} {shortened(mark)}; it must be one mark, such as '.' or ','"
    return None


def _flaw_of_values(plan: ColumnPlan) -> str | None:
    for name, known in (("date_forms", FORMS), ("date_parts", PARTS)):
        values = getattr(plan, name)
        if not all(isinstance(value, str) and value in known for value in values):
            return f"has {name} {shortened(list(values))}; known ones are {', '.join(sorted(known))}"
        if len(set(values)) < len(values):
            return f"names one of its {name} twice"
    for name in ("examples", "missing"):
        if not all(isinstance(value, str) for value in getattr(plan, name)):
            return f"has {name} {shortened(list(getattr(plan, name)))}; they must be texts"
    words = plan.truth_words
    if not isinstance(words, dict) or not all(isinstance(word, str) for word in words):
        return f"has truth_words {shortened(words)}; they must be texts with a number from 0 to 1 each"
    for word, truth in words.items():
        if isinstance(truth, bool) or not isinstance(truth, int | float | np.number) or not 0 <= truth <= 1:
            return f"has the truth word {shortened(word)} with {shortened(truth)}, not a number from 0 to 1"
    # A list within a list is not hashable, NaN is not itself, and 1 is True: pandas takes none of these.
    if not all(isinstance(one, Hashable) and not isinstance(one, tuple) for one in plan.categories):
        return "has categories that are no texts or numbers"
    if any(one is None or one != one for one in plan.categories):
        return "has a category that is no value"
    if len(set(plan.categories)) < len(plan.categories):
        return "names a category twice"
    return None
