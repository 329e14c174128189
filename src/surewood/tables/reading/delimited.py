"""CSV, TSV and the like: separator, header and types found; what is wrong is told with its line.

Arrow reads the file, numbers and ISO dates included. Text columns stay text for
:mod:`surewood.tables.planning`; so do columns whose numbers begin with zeros (``01067``), which are codes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from surewood.tables.data_error import DataError
from surewood.tables.reading.text_encoding import as_utf8

SEPARATORS = ",;\t|"
_HEAD = 1 << 16
_LEADING_ZERO = re.compile(r"^\s*0\d")
#: Read as missing among numbers and dates; text columns keep them for the plan to judge.
_NULLS = ["", "?", "-", "--", ".", "*", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "Null", "None", "none",
          "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "unknown", "Unknown", "\\N"]  # fmt: skip


@dataclass(frozen=True)
class Delimited:
    """A text table: its rows, and how it was written.

    Attributes
    ----------
    frame : DataFrame
    separator, encoding : str
    first_line : int
        Line of the file on which the first row stands.
    """

    frame: pd.DataFrame
    separator: str
    encoding: str
    first_line: int


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
    if not text.strip():
        raise DataError(f"{origin} is empty.")
    skipped, text = _without_preamble(text)
    head = text[:_HEAD].decode("utf-8", errors="ignore").splitlines()
    mark = separator or find_separator(head)
    names = _header(head, mark, origin)
    table = _parsed(text, mark, names, origin, skipped)
    _refuse_open_quote(text, table, origin, skipped)
    _refuse_second_header(table, origin, skipped)
    return Delimited(_as_frame(table), mark, found_encoding, skipped + 2)


def _without_preamble(text: bytes) -> tuple[int, bytes]:
    """The text from its first line that is not blank, and the number of lines before it; Excel's ``sep=;`` too."""
    skipped = 0
    while True:
        line, _, rest = text.partition(b"\n")
        if line.strip() and not re.match(rb"^sep=.\s*$", line):
            return skipped, text
        if not rest:
            return skipped, text
        text, skipped = rest, skipped + 1


def find_separator(head: Sequence[str]) -> str:
    """The mark that divides the first lines into the same number of fields, the more fields the better.

    Examples
    --------
    >>> find_separator(["a;b", "1,5;2", "2,5;3"]), find_separator(["x", "1"])
    (';', ',')
    """
    lines = [line for line in head[:50] if line.strip()]
    best, best_score = ",", (0.0, 0)
    for mark in SEPARATORS:
        counts = [len(row) for row in csv.reader(lines, delimiter=mark)]
        if not counts or counts[0] < 2:
            continue
        agree = sum(count == counts[0] for count in counts) / len(counts)
        score = (agree, counts[0])
        if score > best_score:
            best, best_score = mark, score
    return best


def _header(head: Sequence[str], mark: str, origin: str) -> list[str]:
    names = [name.strip() for name in next(csv.reader([head[0]], delimiter=mark))]
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    refuse_duplicates(names, origin)
    return names


def refuse_duplicates(names: Sequence[object], origin: str) -> None:
    """Refuse two columns of one name."""
    seen: set[str] = set()
    twice: list[str] = []
    for name in map(str, names):
        if name in seen and name not in twice:
            twice.append(name)
        seen.add(name)
    if twice:
        shown = ", ".join(map(repr, sorted(twice)[:8]))
        raise DataError(f"{origin} has more than one column called {shown}; rename them.")


def _parsed(text: bytes, mark: str, names: list[str], origin: str, skipped: int) -> pa.Table:
    as_text = {name: pa.string() for name in _columns_of_codes(text, mark, names)}
    parse = arrow_csv.ParseOptions(delimiter=mark, newlines_in_values=True)
    read = arrow_csv.ReadOptions(column_names=names, skip_rows=1, block_size=1 << 24)
    convert = arrow_csv.ConvertOptions(null_values=_NULLS, strings_can_be_null=False, column_types=as_text)
    try:
        return arrow_csv.read_csv(pa.BufferReader(text), read, parse, convert)
    except pa.ArrowInvalid as error:
        sentence = _first_bad_line(text, mark, len(names), skipped)
        raise DataError(f"{origin}: {sentence or str(error).splitlines()[0][:200]}.") from error


def _columns_of_codes(text: bytes, mark: str, names: list[str]) -> list[str]:
    """Columns in whose first rows some number begins with a zero that means something."""
    lines = text[:_HEAD].decode("utf-8", errors="ignore").splitlines()[1:-1] or []
    rows = csv.reader(lines, delimiter=mark)
    found: set[int] = set()
    for row in rows:
        found |= {k for k, field in enumerate(row) if _LEADING_ZERO.match(field) and field.strip().isdigit()}
    return [names[k] for k in sorted(found) if k < len(names)]


def _first_bad_line(text: bytes, mark: str, width: int, skipped: int) -> str:
    """Where a row has more or fewer fields than the header."""
    reader = csv.reader(text.decode("utf-8").splitlines(keepends=True), delimiter=mark)
    for row in reader:
        if row and len(row) != width:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            return f"line {reader.line_num + skipped} has {fields} where the header has {width}"
    return ""


def _refuse_open_quote(text: bytes, table: pa.Table, origin: str, skipped: int) -> None:
    """A quote that is never closed swallows the rest of the file into one field."""
    if text.count(b'"') % 2 == 0 or table.num_rows == 0:
        return
    for column in table.columns:
        if pa.types.is_string(column.type):
            last = column[-1].as_py()
            if last is not None and "\n" in last:
                line = text.count(b"\n") - last.count("\n") + 1 + skipped
                raise DataError(f"{origin}: the quote that opens on line {line} is never closed.")


def _refuse_second_header(table: pa.Table, origin: str, skipped: int) -> None:
    """A second line of names or units makes every column of numbers text."""
    if table.num_rows < 3:
        return
    first = [column[0].as_py() for column in table.columns]
    if [str(value).strip() for value in first] == [str(name) for name in table.column_names]:
        raise DataError(f"{origin} has a second header on line {skipped + 2}; remove it.")
    broken = numeric = 0
    for column, value in zip(table.columns, first):
        if not pa.types.is_string(column.type):
            numeric += 1
            continue
        rest = column.slice(1, 200)
        if not isinstance(value, str) or value.strip() in _NULLS or _number(value):
            continue
        texts = [text for text in rest.to_pylist() if text is not None and text.strip() not in _NULLS]
        broken += bool(texts) and all(_number(text) for text in texts)
    if broken and numeric == 0:
        raise DataError(
            f"{origin} has a second header on line {skipped + 2} ({', '.join(map(str, first))[:80]}); remove it."
        )


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """Arrow's columns as pandas has them: text as objects, dates as moments, times of day as text."""
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
        columns[name] = column.to_pandas(integer_object_nulls=False)
    return pd.DataFrame(columns, copy=False)
