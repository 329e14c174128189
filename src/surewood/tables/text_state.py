"""How tables of many columns are saved: what is known of each column as one text of JSON.

A model file describes every single value; of 40,000 columns that would take minutes. The text is checked
value by value when it is read, as the single values are.
"""

from __future__ import annotations

import json
from typing import Any

#: Columns from which a text is written.
MANY_COLUMNS = 500


def as_text(content: Any, n_columns: int) -> str | None:
    """The content as text; None for few columns, and for values that JSON does not give back as they were.

    Examples
    --------
    >>> as_text(["number", None, 1.5], 40_000), as_text(["number"], 3), as_text([1 + 2j], 40_000)
    ('["number", null, 1.5]', None, None)
    """
    if n_columns < MANY_COLUMNS:
        return None
    try:
        return json.dumps(content, allow_nan=False)
    except (TypeError, ValueError):
        return None


def from_text(text: Any) -> Any:
    """The content of a text, which a stranger may have written.

    Examples
    --------
    >>> from_text('["number", null]')
    ['number', None]
    >>> from_text("[" * 100_000)
    Traceback (most recent call last):
    ValueError: the columns of the saved table cannot be read.
    """
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("the columns of the saved table cannot be read.") from None
