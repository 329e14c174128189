"""Text that has an order of its own: columns in which every value is a number, or every value is a date.

Such a column is read as numbers (dates as seconds since 1970) although it holds text. What does not read that
way in a later table is missing, as an unseen category is. Columns of a category type, and columns named in
`categorical_features`, stay categories.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.tables.planning.date_format import find_date_format
from surewood.tables.source import NUMBER, TIME, Source

NUMBERS, MONTH_FIRST, DAY_FIRST = "number", "date", "date, day first"
#: Kind of the column that text of a form becomes.
KIND_OF_FORM = {NUMBERS: NUMBER, MONTH_FIRST: TIME, DAY_FIRST: TIME}
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*")


def text_form(values: Sequence[Any]) -> str | None:
    """The form of a column with these distinct values; None where it has no order of its own.

    Examples
    --------
    >>> text_form(["10", "9.5", "-3e2"]), text_form(["2024-05-01", "2023-12-31"]), text_form(["31/12/2023"])
    ('number', 'date', 'date, day first')
    >>> text_form(["10", "n/a"]) is None, text_form([]) is None
    (True, True)
    """
    if not values or not all(isinstance(value, str) for value in values):
        return None
    if all(_NUMBER.fullmatch(value) for value in values):
        return NUMBERS if np.isfinite(read_text(values, NUMBERS)).all() else None
    if not any(character.isdigit() for character in values[0]):
        return None
    found = find_date_format(values)
    if found is None or found.settled == "default":  # day and month may be exchanged in every value
        return None
    form = DAY_FIRST if found.day_first else MONTH_FIRST
    return None if np.isnan(read_text(values, form)).any() else form


def read_text(values: Sequence[Any], form: str) -> NDArray[np.float64]:
    """Distinct texts as numbers; NaN for what is not of the form."""
    if form == NUMBERS:
        return np.array([float(v) if _NUMBER.fullmatch(str(v)) else np.nan for v in values], dtype=np.float64)
    texts = [str(value) for value in values]
    found = find_date_format(texts, day_first=form == DAY_FIRST)
    if found is None:
        return np.full(len(texts), np.nan)
    moments = found.read(texts).to_numpy().astype("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)


def ordered_column(source: Source, j: int, form: str) -> NDArray[np.float64]:
    """A column of text of this form as numbers."""
    values = source.categories(j)
    numbers = np.append(read_text(values, form), np.nan)
    codes = source.codes(j, pd.Index(values, dtype=object))
    return np.asarray(numbers[np.where(np.isnan(codes), len(values), codes).astype(np.int64)])


def note(label: str, form: str) -> str:
    """What a reader of a report should know about the column."""
    what = "numbers" if form == NUMBERS else "dates"
    return f"column {label} holds {what} as text; they are used in their order, not as categories."
