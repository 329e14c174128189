"""Text that a spreadsheet does not take for a formula.

Spreadsheet programs run a cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and
a formula can send data elsewhere or start programs. A table from a stranger can hold such cells; a quote
before them makes them text.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(value: Any) -> Any:
    """The value; a text that would be a formula with a quote before it.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("yes"), safe_cell(-1.5)
    ("'=1+1", 'yes', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_BEGINS_FORMULA) else value


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts and names are no formulas; numbers and dates stay what they are."""
    safe = frame.copy(deep=False)
    for place, dtype in enumerate(frame.dtypes):
        if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
            continue
        safe.isetitem(place, frame.iloc[:, place].astype(object).map(safe_cell).array)
    safe.columns = pd.Index([safe_cell(name) for name in frame.columns])
    return safe
