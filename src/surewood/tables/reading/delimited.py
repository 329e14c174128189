"""CSV, TSV and the like: separator, header and types found; what is wrong is reported with its line.

Arrow reads the file, numbers and ISO dates included. Text columns stay text for
:mod:`surewood.tables.planning`; so do columns whose numbers begin with zeros (``01067``), which are codes.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from surewood.tables.data_error import DataError
from surewood.tables.reading.damage import (
    first_bad_line,
    refuse_open_quote,
    refuse_second_header,
)
from surewood.tables.reading.layout import Layout, find_layout, lines_of, refuse_duplicates, split_blanks
from surewood.tables.reading.text_encoding import as_utf8

_BLOCK = 1 << 22
_THREADS = 2
_RULE = re.compile(rb"[ \t]*[|+]?[-=+|: \t]*(?:---|===)[-=+|: \t]*\r?")  # a line of dashes, as below a header
_FIRST_LINES = 4
_CHUNK = 1 << 18  # bytes that are looked at together: they stay in the cache
#: Read as missing among numbers and dates; text columns keep them for the plan to judge.
_NULLS = [
    *("", "?", "-", "--", ".", "*", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "Null", "None"),
    *("none", "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "unknown", "Unknown", "\\N"),
]


@dataclass(frozen=True)
class Delimited:
    """A text table: its rows, and how it was written.

    Attributes
    ----------
    frame : DataFrame
    separator, encoding : str
    lines : ndarray of int or None
        The line on which each row begins; None where row ``i`` stands on line ``first_line + i``.
    first_line : int
        Line of the file on which the first row stands.
    """

    frame: pd.DataFrame
    separator: str
    encoding: str
    first_line: int
    lines: NDArray[np.int64] | None = None


def read_delimited(
    raw: bytes,
    origin: str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    as_text: Collection[str] = (),
) -> Delimited:
    """Read the bytes of a text table.

    Parameters
    ----------
    raw : bytes
    origin : str
        What error messages call it.
    separator, encoding : str, optional
        Found by default.
    as_text : collection of str
        Columns to leave as text.

    Examples
    --------
    >>> found = read_delimited(b"a;b\\n1;x\\n2;y\\n", "t.csv")
    >>> found.separator, found.frame["a"].tolist(), found.first_line
    (';', [1, 2], 2)
    """
    text, found_encoding = as_utf8(raw, origin, encoding)
    if not text or text.isspace():
        raise DataError(f"{origin} is empty.")
    if b"\n" not in text and b"\r" in text:  # as old Macintosh programs ended lines
        text = text.replace(b"\r", b"\n")
    text = without_rules(text)
    layout = find_layout(text, separator, as_text)
    text = text[layout.start :] if layout.start else text
    if layout.separator == " ":
        layout, text = replace(layout, separator="\t"), _with_tabs(text)
    n_ends, n_quotes, broken = scan_text(text)
    if n_quotes % 2:
        refuse_open_quote(text, layout.separator, origin, layout.skipped)
    refuse_duplicates(layout.names, origin)
    table = _parsed(text, layout, origin, broken or n_quotes % 2 == 1)
    lines = _line_numbers(text, layout, table.num_rows, n_ends)
    return as_delimited(table, layout, origin, found_encoding, lines)


def as_delimited(
    table: pa.Table, layout: Layout, origin: str, encoding: str, numbers: NDArray[np.int64] | None = None
) -> Delimited:
    """What Arrow read, as a frame; refused where its first row is a second header."""
    refuse_second_header(table, origin, layout.skipped, _NULLS)
    if layout.above:
        lines = "line" if len(layout.above) == 1 else f"{len(layout.above)} lines"
        warnings.warn(
            f"{origin}: the {lines} above the header ({layout.above[0][:60]!r}) "
            f"{'is' if len(layout.above) == 1 else 'are'} not part of the table.",
            stacklevel=2,
        )
    return Delimited(_as_frame(table), layout.separator, encoding, layout.skipped + 2, numbers)


def without_rules(text: bytes) -> bytes:
    """A table drawn with lines and bars, as SAP, psql and Markdown do, without them.

    Lines of dashes become blank lines, so that the others keep their numbers.

    Examples
    --------
    >>> without_rules(b"|a|b|\\n|---|---|\\n|1|x|\\n")
    b'a|b\\n\\n1|x\\n'
    """
    first = text[:_BLOCK].split(b"\n", _FIRST_LINES)[:_FIRST_LINES]
    if not any(_RULE.fullmatch(line) for line in first):
        return text
    text = b"\n".join(b"" if _RULE.fullmatch(line) else line for line in text.split(b"\n"))
    drawn = [line.strip() for line in text[:_BLOCK].split(b"\n")[:50] if line.strip()]
    if all(line.startswith(b"|") and line.endswith(b"|") for line in drawn):
        text = re.sub(rb"(?m)^[ \t]*\||\|[ \t\r]*$", b"", text)
    return text


def _with_tabs(text: bytes) -> bytes:
    """Columns set apart by white space, with one tab between them."""
    if b'"' in text:
        return b"\n".join("\t".join(split_blanks(line)).encode() for line in text.decode().split("\n"))
    return b"\n".join(b"\t".join(line.split()) for line in text.split(b"\n"))


def _parsed(text: bytes, layout: Layout, origin: str, broken_lines: bool) -> pa.Table:
    try:
        return parse(pa.BufferReader(_owned_by_arrow(text)), layout, broken_lines)
    except pa.ArrowInvalid as error:
        sentence = first_bad_line(text, layout.separator, len(layout.names), layout.skipped)
        if sentence or "Empty CSV" not in str(error):
            reason = sentence or str(error).splitlines()[0][:200]
            raise DataError(f"{origin}: {reason}.") from error
        return pa.table({name: pa.array([], pa.string()) for name in layout.names})


def _owned_by_arrow(text: bytes) -> pa.Buffer:
    """A copy that Arrow's threads can let go of while the interpreter ends (apache/arrow#34314)."""
    buffer = pa.allocate_buffer(len(text))
    np.frombuffer(buffer, np.uint8)[:] = np.frombuffer(text, np.uint8)
    return buffer


def parse(source: Any, layout: Layout, broken_lines: bool) -> pa.Table:
    """Arrow's table of a text in UTF-8 that begins with its header.

    Without line breaks in quoted fields, Arrow reads blocks side by side.
    """
    names, as_text = layout.names, dict.fromkeys(layout.texts, pa.string())
    return arrow_csv.read_csv(
        source,
        arrow_csv.ReadOptions(column_names=names, skip_rows=layout.header_lines, block_size=_BLOCK),
        arrow_csv.ParseOptions(delimiter=layout.separator, newlines_in_values=broken_lines),
        arrow_csv.ConvertOptions(
            null_values=_NULLS, strings_can_be_null=False, column_types=as_text, check_utf8=False
        ),
    )


def scan_text(text: bytes) -> tuple[int, int, bool]:
    """Line ends, quotes, and whether a line ends between an odd quote and the next one.

    Examples
    --------
    >>> scan_text(b'a,b\\n"1,5",2\\n'), scan_text(b'a\\n"x\\ny"\\n')
    ((2, 2, False), (3, 2, True))
    """
    n_ends = n_quotes = 0
    broken = False
    for start in range(0, len(text), _CHUNK):
        marks = np.frombuffer(text, np.uint8, min(_CHUNK, len(text) - start), start)
        is_end, is_quote = marks == ord("\n"), marks == ord('"')
        n_ends += int(np.count_nonzero(is_end))
        if is_quote.any():
            places = np.flatnonzero(is_end | is_quote)
            quotes = is_quote[places]
            inside = (np.cumsum(quotes) + n_quotes) % 2 == 1
            broken = broken or bool((inside & ~quotes).any())
            n_quotes += int(np.count_nonzero(quotes))
        elif n_quotes % 2:
            broken = broken or bool(is_end.any())
    return n_ends, n_quotes, broken


def _line_numbers(text: bytes, layout: Layout, n_rows: int, n_ends: int) -> NDArray[np.int64] | None:
    """The line of each row, where blank lines or line breaks in quotes set rows and lines apart."""
    n_lines = n_ends + (not text.endswith(b"\n"))
    if n_lines == n_rows + 1:
        return None
    if text.endswith(b"\n") and text.rstrip(b"\r\n").count(b"\n") == n_rows:
        return None  # blank lines at the end only
    lines, last = [], 0
    reader = csv.reader(lines_of(text.decode("utf-8")), delimiter=layout.separator)
    for row in reader:
        if row:
            lines.append(last + 1)
        last = reader.line_num
    return np.array(lines[1:], dtype=np.int64) + layout.skipped if len(lines) == n_rows + 1 else None


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """Arrow's columns as pandas has them: dates as moments, times of day as text."""
    with ThreadPoolExecutor(_THREADS) as threads:
        columns = list(threads.map(_as_series, table.columns))
    return pd.DataFrame(dict(zip(table.column_names, columns)), copy=False)


def _as_series(column: pa.ChunkedArray) -> pd.Series:
    kind = column.type
    if pa.types.is_time(kind):
        column = pc.cast(column, pa.string())
    elif pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is not None):
        column = pc.cast(column, pa.timestamp("us"))
    elif pa.types.is_null(kind):
        return pd.Series([None] * len(column), dtype=object)
    elif pa.types.is_string(kind):
        empty = pc.equal(column, "")
        if pc.any(empty).as_py():
            column = pc.if_else(empty, pa.scalar(None, pa.string()), column)
    series: pd.Series = column.to_pandas(integer_object_nulls=False)
    return series
