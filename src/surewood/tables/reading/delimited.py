"""CSV, TSV and the like: separator, header and types found; what is wrong is reported with its line.

Arrow reads the file, numbers and ISO dates included. Text columns stay text for
:mod:`surewood.tables.planning`; so do columns whose numbers begin with zeros (``01067``), which are codes.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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
from surewood.tables.reading.text_encoding import as_utf8

SEPARATORS = ",;\t|"
_HEAD = 1 << 16
_LINES = 4  # lines as long as the header that are looked at, at least
_BLOCK = 1 << 22
_CHUNK = 1 << 18  # bytes that are looked at together: they stay in the cache
_LEADING_ZERO = re.compile(r"^0\d")
_GROUPED = re.compile(r"^[+-]?\d{1,3}(?:\.\d{3})+$")
_DECIMAL_COMMA = re.compile(r"^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),(?:\d{1,2}|\d{4,})$|^[+-]?0,\d+$")
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
    raw: bytes, origin: str, *, separator: str | None = None, encoding: str | None = None
) -> Delimited:
    """Read the bytes of a text table.

    Parameters
    ----------
    raw : bytes
    origin : str
        What error messages call it.
    separator, encoding : str, optional
        Found by default.

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
    skipped, text = _without_preamble(text)
    head = _first_lines(text)
    mark = separator or find_separator(head)
    if mark == " ":
        mark, text = "\t", _with_tabs(text)
        head = _first_lines(text)
    n_ends, n_quotes, broken = scan_text(text)
    if n_quotes % 2:
        refuse_open_quote(text, mark, origin, skipped)
    names = _header(head, mark, origin)
    table = _parsed(text, mark, names, origin, skipped, broken or n_quotes % 2 == 1)
    refuse_second_header(table, origin, skipped, _NULLS)
    return Delimited(
        _as_frame(table),
        mark,
        found_encoding,
        skipped + 2,
        _line_numbers(text, mark, table.num_rows, skipped, n_ends),
    )


def _first_lines(text: bytes) -> list[str]:
    """The header and some rows, more bytes of them where lines are long."""
    header = text.find(b"\n") + 1 or len(text)
    return text[: max(_HEAD, _LINES * header)].decode("utf-8", errors="ignore").splitlines()


def _without_preamble(text: bytes) -> tuple[int, bytes]:
    """The text from its first line that is not blank or Excel's ``sep=;``, and the lines before it."""
    skipped = start = 0
    while True:
        end = text.find(b"\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if end < 0 or (line.strip() and not re.match(rb"^sep=.\s*$", line)):
            return skipped, text[start:] if start else text
        start, skipped = end + 1, skipped + 1


def find_separator(head: Sequence[str]) -> str:
    """The mark that divides the first lines into the same number of fields, the more fields the better.

    A blank means columns set apart by white space.

    Examples
    --------
    >>> find_separator(["a;b", "1,5;2", "2,5;3"]), find_separator(["x", "1"]), find_separator(["a b", "1 2"])
    (';', ',', ' ')
    """
    lines = [line for line in head[:50] if line.strip()]
    best, best_score = ",", (0.0, 0)
    for mark in SEPARATORS:
        if not lines or mark not in lines[0]:
            continue  # a long line would be one field, too long for the reader
        counts = [len(row) for row in csv.reader(lines, delimiter=mark)]
        if counts[0] < 2:
            continue
        agree = sum(count == counts[0] for count in counts) / len(counts)
        score = (agree, counts[0])
        if score > best_score:
            best, best_score = mark, score
    if best_score == (0.0, 0):
        counts = [len(line.split()) for line in lines]
        if len(counts) > 1 and counts[0] > 1 and len(set(counts)) == 1:
            return " "
    return best


def _with_tabs(text: bytes) -> bytes:
    """Columns set apart by white space, with one tab between them."""
    return b"\n".join(b"\t".join(line.split()) for line in text.split(b"\n"))


def _header(head: Sequence[str], mark: str, origin: str) -> list[str]:
    names = [name.strip() for name in next(csv.reader(head, delimiter=mark))]
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    refuse_duplicates(names, origin)
    return names


def refuse_duplicates(names: Sequence[object], origin: str) -> None:
    """Refuse two columns of one name."""
    twice = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if twice:
        shown = ", ".join(map(repr, sorted(twice)[:8]))
        raise DataError(f"{origin} has more than one column called {shown}; rename them.")


def _parsed(
    text: bytes, mark: str, names: list[str], origin: str, skipped: int, broken_lines: bool
) -> pa.Table:
    """Arrow's table; without line breaks in quoted fields, Arrow reads blocks side by side."""
    as_text = {name: pa.string() for name in _columns_to_keep(text, mark, names)}
    parse = arrow_csv.ParseOptions(delimiter=mark, newlines_in_values=broken_lines)
    read = arrow_csv.ReadOptions(column_names=names, skip_rows=_header_lines(text, mark), block_size=_BLOCK)
    convert = arrow_csv.ConvertOptions(null_values=_NULLS, strings_can_be_null=False, column_types=as_text)
    try:
        return arrow_csv.read_csv(pa.BufferReader(text), read, parse, convert)
    except pa.ArrowInvalid as error:
        sentence = first_bad_line(text, mark, len(names), skipped)
        if sentence or "Empty CSV" not in str(error):
            reason = sentence or str(error).splitlines()[0][:200]
            raise DataError(f"{origin}: {reason}.") from error
        return pa.table({name: pa.array([], pa.string()) for name in names})


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


def _header_lines(text: bytes, mark: str) -> int:
    """Lines of the header: more than one where a quoted name holds a line break."""
    reader = csv.reader(_first_lines(text), delimiter=mark)
    next(reader)
    return reader.line_num


def _columns_to_keep(text: bytes, mark: str, names: list[str]) -> list[str]:
    """Columns that Arrow would spoil: codes that begin with a zero, and points between thousands.

    A point divides thousands only where the file has decimal commas.
    """
    codes: set[int] = set()
    grouped: set[int] = set()
    commas = False
    for row in csv.reader(_first_lines(text)[1:], delimiter=mark):
        for k, field in enumerate(row):
            stripped = field.strip()
            if _LEADING_ZERO.match(stripped) and stripped.isdigit():
                codes.add(k)
            elif _GROUPED.match(stripped):
                grouped.add(k)
            commas = commas or _DECIMAL_COMMA.match(stripped) is not None
    kept = codes | grouped if commas else codes
    return [names[k] for k in sorted(kept) if k < len(names)]


def _line_numbers(text: bytes, mark: str, n_rows: int, skipped: int, n_ends: int) -> NDArray[np.int64] | None:
    """The line of each row, where blank lines or line breaks in quotes set rows and lines apart."""
    n_lines = n_ends + (not text.endswith(b"\n"))
    if n_lines == n_rows + 1:
        return None
    if text.endswith(b"\n") and text.rstrip(b"\r\n").count(b"\n") == n_rows:
        return None  # blank lines at the end only
    lines, last = [], 0
    reader = csv.reader(text.decode("utf-8").splitlines(keepends=True), delimiter=mark)
    for row in reader:
        if row:
            lines.append(last + 1)
        last = reader.line_num
    return np.array(lines[1:], dtype=np.int64) + skipped if len(lines) == n_rows + 1 else None


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """Arrow's columns as pandas has them: dates as moments, times of day as text."""
    columns: dict[str, pd.Series] = {}
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if pa.types.is_time(kind):
            column = pc.cast(column, pa.string())
        elif pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is not None):
            column = pc.cast(column, pa.timestamp("us"))
        elif pa.types.is_null(kind):
            columns[name] = pd.Series([None] * len(column), dtype=object)
            continue
        elif pa.types.is_string(kind):
            empty = pc.equal(column, "")
            if pc.any(empty).as_py():
                column = pc.if_else(empty, pa.scalar(None, pa.string()), column)
        columns[name] = column.to_pandas(integer_object_nulls=False)
    return pd.DataFrame(columns, copy=False)
