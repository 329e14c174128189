"""Text that a spreadsheet does not take for a formula.

Spreadsheet programs run a cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and
a formula can send data elsewhere or start programs. A table from a stranger can hold such cells; a quote
before them makes them text.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Literal

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


def write_csv(frame: pd.DataFrame, path: Path | None = None, safe: bool = False) -> str:
    """Write a table as CSV, without formulas if `safe`; without a path it is returned as a text.

    Python's writer leaves a text with a carriage return unquoted, and readers begin a new row there, with
    whatever follows as its first cell. Where there is such a text, all texts are quoted.

    Examples
    --------
    >>> write_csv(pd.DataFrame({"a": ["x"], "b": ["=1+1"]}), safe=True).split()
    ['a,b', "x,'=1+1"]
    """
    shown = safe_frame(frame) if safe else frame
    texts = [
        shown.iloc[:, k] for k, dtype in enumerate(shown.dtypes) if not pd.api.types.is_numeric_dtype(dtype)
    ]
    cells = (cell for column in (shown.columns, *texts) for cell in column)
    broken = any("\r" in cell for cell in cells if isinstance(cell, str))
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if broken else csv.QUOTE_MINIMAL
    if path is None:
        return shown.to_csv(index=False, lineterminator="\n", quoting=quoting)
    shown.to_csv(path, index=False, quoting=quoting)
    return ""
