"""What can be wrong with a text table, found with its line: ragged rows, open quotes, a second header."""

from __future__ import annotations

import csv
from collections.abc import Collection

import pyarrow as pa

from surewood.tables.data_error import DataError
from surewood.tables.reading.layout import lines_of

_LOOKED_AT = 200  # rows that show whether a column is numbers below a second header


def first_bad_line(text: bytes, mark: str, width: int, skipped: int) -> str:
    """Where a row has more or fewer fields than the header; empty where none has.

    Examples
    --------
    >>> first_bad_line(b"a,b\\n1,2\\n3\\n", ",", 2, 0)
    'line 3 has 1 field where the header has 2'
    """
    last = 0
    reader = csv.reader(lines_of(text.decode("utf-8")), delimiter=mark)
    for row in reader:
        if row and len(row) != width:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            return f"line {last + 1 + skipped} has {fields} where the header has {width}"
        last = reader.line_num
    return ""


def refuse_open_quote(text: bytes, mark: str, origin: str, skipped: int) -> None:
    """Refuse a quote that is never closed: it swallows the rest of the file; an inch mark does not.

    Examples
    --------
    >>> refuse_open_quote(b'a,b\\n1,"x\\n2,y\\n', ",", "t.csv", 0)
    Traceback (most recent call last):
    surewood.tables.data_error.DataError: t.csv: the quote that opens on line 2 is never closed.
    """
    last = 0
    reader = csv.reader(lines_of(text.decode("utf-8")), delimiter=mark, strict=True)
    try:
        for _ in reader:
            last = reader.line_num
    except csv.Error as error:
        line = last + 1 + skipped
        raise DataError(f"{origin}: the quote that opens on line {line} is never closed.") from error


def refuse_second_header(table: pa.Table, origin: str, skipped: int, nulls: Collection[str]) -> None:
    """A second line of names or units makes every column of numbers text."""
    if table.num_rows < 3:
        return
    first = [column[0].as_py() for column in table.columns]
    line = skipped + 2
    if [str(value).strip() for value in first] == [str(name) for name in table.column_names]:
        raise DataError(f"{origin} has a second header on line {line}; remove it.")
    broken = numeric = 0
    for column, value in zip(table.columns, first):
        if not pa.types.is_string(column.type):
            numeric += 1
            continue
        if not isinstance(value, str) or value.strip() in nulls or _is_number(value):
            continue
        texts = [text for text in column.slice(1, _LOOKED_AT).to_pylist() if text is not None]
        known = [text for text in texts if text.strip() not in nulls]
        broken += bool(known) and all(_is_number(text) for text in known)
    if broken and numeric == 0:
        shown = ", ".join(map(str, first))[:80]
        raise DataError(f"{origin} has a second header on line {line} ({shown}); remove it.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
