"""CSV, TSV and the like: encoding, separator, header and types found; what is wrong is named by its line.

In the order of the file: bytes become UTF-8; the first lines say where the table begins and how its columns
are set apart; ragged rows, open quotes and second headers are found; Arrow reads the rest, numbers and ISO
dates included. Text columns stay text for :mod:`surewood.tables.planning`; so do columns whose numbers begin
with zeros (``01067``), which are codes.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from surewood._text import first_line, listed
from surewood.tables.sources import DataError

#: First bytes -> what the file really is.
_SIGNATURES = (
    (b"PAR1", "a Parquet file", ".parquet"),
    (b"ARROW1", "an Arrow file", ".arrow"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", ".xls"),
    (b"%PDF", "a PDF document", ""),
    (b"\x89PNG", "a picture", ""),
    (b"\xff\xd8\xff", "a picture", ""),
)


def refuse_other_formats(raw: bytes, origin: str) -> None:
    """Refuse bytes that are no text table, by what they begin with."""
    for start, what, ending in _SIGNATURES:
        if raw.startswith(start):
            hint = f"; rename it to end in {ending}" if ending else ""
            raise DataError(f"{origin} is {what}, not a text table (line 1){hint}.")
    if raw.startswith(b"PK\x03\x04"):
        is_excel = b"xl/" in raw[:4000] or _has_workbook(io.BytesIO(raw))
        what, ending = ("an Excel file", ".xlsx") if is_excel else ("a zip archive", ".zip")
        raise DataError(f"{origin} is {what}, not a text table (line 1); rename it to end in {ending}.")
    head = raw[:2000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml", b"<table")):
        what = "an XML document" if head.startswith(b"<?xml") else "a web page (HTML)"
        raise DataError(f"{origin} is {what}, not a text table (line 1).")


def _has_workbook(file: BinaryIO) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def as_utf8(raw: bytes, origin: str, encoding: str | None = None) -> bytes:
    """The same text in UTF-8 without a mark at its start.

    UTF-8 and UTF-16 are recognized; what is neither is read as Windows-1252. A text some of whose lines are
    UTF-8 beyond ASCII and others are not was pasted together from two files and is refused.

    Examples
    --------
    >>> as_utf8("größe".encode("cp1252"), "x.csv").decode()
    'größe'
    """
    if encoding is not None:
        return _decoded(raw, encoding, origin).encode()
    for mark, name in _MARKS:
        if raw.startswith(mark):
            raw = raw[len(mark) :]
            if name != "utf-8":
                return _decoded(raw, name, origin).encode()
            break
    if raw.isascii():
        return raw
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in raw[:4096]:
            raise DataError(f"{origin} is not a text file, so it is no CSV table (line 1).") from error
        line = _line_of_other_encoding(raw)
        if line:
            raise DataError(
                f"{origin} mixes encodings: from line {line} on it is not what it was before; save it in one "
                "encoding, such as UTF-8."
            ) from error
        return raw.decode("cp1252", errors="replace").encode()
    return raw


def _line_of_other_encoding(raw: bytes) -> int:
    """The first line beyond ASCII that is UTF-8 where an earlier one is not, or the reverse; 0: none."""
    first: bool | None = None
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
            is_utf8 = True
        except UnicodeDecodeError:
            is_utf8 = False
        if first is None:
            first = is_utf8
        elif first != is_utf8:
            return number
    return 0


def _decoded(raw: bytes, encoding: str, origin: str) -> str:
    try:
        return raw.decode(encoding)
    except LookupError as error:
        raise DataError(f"there is no encoding {encoding!r}.") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{origin} is not in {encoding}: line {line} does not fit.") from error


_SEPARATORS = ",;\t|"
_HEAD = 1 << 16  # bytes that are looked at, more where lines are long
_MOST_TITLES = 10
_LINES = 4  # lines as long as the header that are looked at, at least
_LEADING_ZERO = re.compile(r"^0\d")
_GROUPED = re.compile(r"^[+-]?\d{1,3}(?:\.\d{3})+$")
_SIGN = r"(?:[$€£¥]|EUR|USD|CHF|GBP)"
_DECIMAL_COMMA = re.compile(
    rf"^[+-]?(?:{_SIGN}\s?)?(?:(?:\d+|\d{{1,3}}(?:\.\d{{3}})+),(?:\d{{1,2}}|\d{{4,}})|0,\d+)(?:\s?(?:{_SIGN}|[%‰]))?$"
)


@dataclass(frozen=True)
class Reading:
    """What the user says about how a file is written; the rest is found.

    Attributes
    ----------
    separator, encoding : str or None
        Of text files.
    as_text : collection of str
        Columns of text files to leave as text.
    header_line : int or None
        The line of a text file, or the row of a sheet, that has the names of the columns, from 1.
    sheet : str or None
        The sheet of an Excel file.
    """

    separator: str | None = None
    encoding: str | None = None
    as_text: Collection[str] = ()
    header_line: int | None = None
    sheet: str | None = None


AS_FOUND = Reading()


@dataclass(frozen=True)
class Layout:
    """How a text table is written.

    Attributes
    ----------
    separator : str
        A blank means columns set apart by white space.
    names : list of str
        Of the columns.
    start : int
        Bytes before the header.
    skipped : int
        Lines before the header.
    header_lines : int
        Lines of the header: more than one where a quoted name holds a line break.
    texts : list of str
        Columns to leave as text: codes that begin with a zero, and points between thousands.
    above : list of str
        Comments and titles above the header.
    """

    separator: str
    names: list[str]
    start: int
    skipped: int
    header_lines: int
    texts: list[str]
    above: list[str] = field(default_factory=list)


def find_layout(text: bytes, reading: Reading = AS_FOUND) -> Layout:
    """The layout of a table, from the beginning of its text and what the user says.

    Examples
    --------
    >>> found = find_layout(b"sep=;\\nzip;b\\n01067;x\\n")
    >>> found.separator, found.names, found.start, found.skipped, found.texts
    (';', ['zip', 'b'], 6, 1, ['zip'])
    """
    separator, header_line = reading.separator, reading.header_line
    skipped, start = (0, 0) if header_line is not None else _preamble(text)
    first = _first_lines(text, start)
    if header_line is None:
        above = _lines_above(first, separator)
    elif 1 <= header_line <= len(first):
        above = first[: header_line - 1]
    else:
        raise DataError(f"header_line={header_line}: the first {len(first):,} lines have no such line.")
    for _ in above:
        start = text.find(b"\n", start) + 1
    head = _first_lines(text, start)
    mark = separator or find_separator(head)
    reader = csv.reader(
        ["\t".join(split_blanks(line)) for line in head] if mark == " " else head,
        delimiter="\t" if mark == " " else mark,
    )
    names = [plain_name(name) for name in next(reader)]
    header_lines = reader.line_num
    rows = list(reader)
    names = with_groups(_with_all_names(names, rows), next(csv.reader(above[-1:], delimiter=mark), []))
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    kept = {*_columns_to_keep(rows, names), *reading.as_text}
    texts = [name for name in names if name in kept]
    shown = [line.strip(f"{mark}{mark} \t") for line in above if line.strip(f"{mark} \t")]
    return Layout(mark, names, start, skipped + len(above), header_lines, texts, shown)


def lines_of(text: bytes) -> Iterator[str]:
    """The lines of a text with their ends: those of a file, not the many that ``str.splitlines`` knows.

    Examples
    --------
    >>> len(list(lines_of(("a" + chr(0x2028) + "b,c" + chr(10) + "1,2").encode())))
    2
    """
    return io.TextIOWrapper(io.BytesIO(text), "utf-8", errors="ignore", newline="")


def _lines_above(lines: list[str], separator: str | None) -> list[str]:
    """Lines above the header: comments that begin with ``#``, and titles.

    Titles are lines of fewer fields than the table has, or mostly empty ones, above at least `_LINES` lines
    of the same number of fields; so are names of groups of columns. A comment in front of numbers, with as
    many fields as these, is the header (``#id,x``).
    """
    n = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    if n:
        mark = separator or find_separator(lines[n:])
        fields, comment = (next(csv.reader([line], delimiter=mark)) for line in (lines[n], lines[n - 1]))
        if mark != " " and len(fields) == len(comment) and any(map(_is_number, fields)):
            n -= 1
        return lines[:n]
    first = lines[: _MOST_TITLES + 50]
    too_long = max(map(len, first), default=0) > csv.field_size_limit()
    if too_long or any(_opens_a_quoted_name(line) for line in first[:_MOST_TITLES]):
        return []
    places = []
    for mark in separator or _SEPARATORS:
        rows = [next(csv.reader([line], delimiter=mark), []) for line in first]
        n = header_place(rows)
        if n == 0 and len(rows[0]) > 1 and len({len(row) for row in rows if row}) == 1:
            return []
        others = _SEPARATORS.replace(mark, "")
        if any(len(row) == 1 and any(other in row[0] for other in others) for row in rows[:n]):
            continue
        places.append(n)
    return lines[: max(places, default=0)]


def header_place(rows: Sequence[Sequence[Any]]) -> int:
    """How many rows stand above the names of the columns: titles, blank rows, names of groups of columns.

    Examples
    --------
    >>> body = [["1", "2", "3"]] * 4
    >>> header_place([["Sales", "", ""], ["a", "b", "c"], *body]), header_place([["a", "b", "c"], *body])
    (1, 0)
    """
    filled = [sum(not is_blank(cell) for cell in row) for row in rows]
    for n in range(min(_MOST_TITLES, len(rows) - _LINES), 0, -1):
        width, above = len(rows[n]), rows[:n]
        body = [len(row) for row in rows[n : n + 50] if row]
        if width < 2 or len(body) < _LINES or set(body) != {width}:
            continue
        if any(max(1, width - 2) < len(row) != width for row in above):
            continue
        divided = [k for k, row in enumerate(above) if len(row) > 1]
        mostly_blank = all(2 * filled[k] <= filled[n] for k in divided)
        if divided and (width < 3 or not mostly_blank or any(_is_number(str(cell)) for cell in rows[n])):
            continue
        return n
    return 0


def with_groups(names: list[str], groups: Sequence[str]) -> list[str]:
    """Names that occur twice with the name of their group, as a line above the header gives it.

    Examples
    --------
    >>> with_groups(["id", "units", "price", "units", "price"], ["", "May", "", "June", ""])
    ['id', 'May units', 'May price', 'June units', 'June price']
    """
    if len(groups) != len(names) or len(set(names)) == len(names):
        return names
    twice, group, grouped = {name for name, count in Counter(names).items() if count > 1}, "", []
    for name, above in zip(names, groups):
        group = above.strip() or group
        grouped.append(f"{group} {name}" if name in twice and name and group else name)
    return grouped


def plain_name(name: Any) -> str:
    """A name as a person can type it: stripped, on one line.

    Examples
    --------
    >>> plain_name(" Contract" + chr(10) + "months")
    'Contract months'
    """
    return re.sub(r"\s*[\r\n]\s*", " ", str(name).strip())


def is_blank(cell: Any) -> bool:
    """Whether a cell of a text table or of a sheet holds nothing."""
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def _opens_a_quoted_name(line: str) -> bool:
    """Whether a line begins with a quoted name that goes on in the next line."""
    return line.lstrip().startswith('"') and line.count('"') % 2 == 1


def _is_number(text: str) -> bool:
    return re.match(r"^\s*[+-]?[\d.,]*\d\s*$", text) is not None


def split_blanks(line: str) -> list[str]:
    """The fields of a line that are set apart by white space; a quoted one may hold some.

    Examples
    --------
    >>> split_blanks('1  "New York"   2.5')
    ['1', 'New York', '2.5']
    """
    if '"' not in line:
        return line.split()
    return next(csv.reader([line.strip()], delimiter=" ", skipinitialspace=True))


def _with_all_names(names: list[str], rows: list[list[str]]) -> list[str]:
    """Names of a header that lacks one: of row names (as R writes them), or after a separator at the end."""
    first = [row for row in rows[:-1] if row]  # the last one may be cut off
    if len(first) < _LINES or {len(row) for row in first} != {len(names) + 1}:
        return names
    if not any(row[-1].strip() for row in first):
        return [*names, ""]
    return ["", *names] if len({row[0] for row in first}) == len(first) else names


def _preamble(text: bytes) -> tuple[int, int]:
    """Lines and bytes before the first line that is not blank or Excel's ``sep=;``."""
    skipped = start = 0
    while True:
        end = text.find(b"\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if end < 0 or (line.strip() and not re.match(rb"^sep=.\s*$", line)):
            return skipped, start
        start, skipped = end + 1, skipped + 1


def _first_lines(text: bytes, start: int) -> list[str]:
    """The header and some rows, more bytes of them where lines are long."""
    header = text.find(b"\n", start) + 1 or len(text)
    end = start + max(_HEAD, _LINES * (header - start))
    lines = list(lines_of(text[start:end]))
    return [line.rstrip("\r\n") for line in lines]


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
    goes_on = bool(lines) and _opens_a_quoted_name(lines[0]) and sum(map(len, lines)) < csv.field_size_limit()
    for mark in _SEPARATORS:
        if not lines or not (mark in lines[0] or goes_on):
            continue  # a long line would be one field, too long for the reader
        counts = [len(row) for row in csv.reader(lines, delimiter=mark)]
        if counts[0] < 2:
            continue
        agree = sum(count == counts[0] for count in counts) / len(counts)
        score = (agree, counts[0])
        if score > best_score:
            best, best_score = mark, score
    if best_score == (0.0, 0):
        counts = [len(split_blanks(line)) for line in lines]
        if len(counts) > 1 and counts[0] > 1 and set(counts[1:]) in ({counts[0]}, {counts[0] + 1}):
            return " "
    return best


def refuse_duplicates(names: Sequence[object], origin: str, next_line: int | None = None) -> None:
    """Refuse two columns of one name; the line below may have the names, below those of groups."""
    twice = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if twice:
        hint = "" if next_line is None else f", or give header_line={next_line} if that line has the names"
        raise DataError(
            f"{origin} has more than one column called {listed(sorted(twice), 8)}; rename them{hint}."
        )


def _columns_to_keep(rows: Iterable[list[str]], names: list[str]) -> list[str]:
    """Columns that Arrow would spoil: codes that begin with a zero, and points between thousands.

    A point divides thousands only where the file has decimal commas.
    """
    codes: set[int] = set()
    grouped: set[int] = set()
    commas = False
    for row in rows:
        for k, cell in enumerate(row):
            stripped = cell.strip()
            if _LEADING_ZERO.match(stripped) and stripped.isdigit():
                codes.add(k)
            elif _GROUPED.match(stripped):
                grouped.add(k)
            commas = commas or _DECIMAL_COMMA.match(stripped) is not None
    kept = codes | grouped if commas else codes
    return [names[k] for k in sorted(kept) if k < len(names)]


_LOOKED_AT = 200  # rows that show whether a column is numbers below a second header


def first_bad_line(text: bytes, mark: str, width: int, skipped: int) -> str:
    """Where a row has more or fewer fields than the header; empty where none has.

    Examples
    --------
    >>> first_bad_line(b"a,b\\n1,2\\n3\\n", ",", 2, 0)
    'line 3 has 1 field where the header has 2'
    """
    last = 0
    reader = csv.reader(lines_of(text), delimiter=mark)
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
    surewood.tables.sources.DataError: t.csv: the quote that opens on line 2 is never closed.
    """
    last = 0
    reader = csv.reader(lines_of(text), delimiter=mark, strict=True)
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
        if not isinstance(value, str) or value.strip() in nulls or as_float(value) is not None:
            continue
        texts = [text for text in column.slice(1, _LOOKED_AT).to_pylist() if text is not None]
        known = [text for text in texts if text.strip() not in nulls]
        broken += bool(known) and all(as_float(text) is not None for text in known)
    if broken and numeric == 0:
        shown = ", ".join(map(str, first))[:80]
        raise DataError(f"{origin} has a second header on line {line} ({shown}); remove it.")


def as_float(text: str) -> float | None:
    """The number that Python reads in a text; None where it reads none.

    Examples
    --------
    >>> as_float("1e3"), as_float("1,000")
    (1000.0, None)
    """
    try:
        return float(text)
    except ValueError:
        return None


#: Attribute of a frame: whether a comma divides the columns of its file, so that it is no decimal mark.
COMMA_SEPARATED = "comma separated"
_BLOCK = 1 << 22
#: A quoted field that begins after a separator and a blank.
_BLANK_AND_QUOTE = rb'(?m)%s +"[^"\n]*" *(?:%s|\r?$)'
_RULE = re.compile(rb"[ \t]*[|+]?[-=+|: \t]*(?:---|===)[-=+|: \t]*\r?")  # a line of dashes, as below a header
_FIRST_LINES = 4
#: Quoted fields on one line each, then one that goes on in the next line.
_BROKEN_LINE = re.compile(rb'(?:[^"]*+"[^"\n]*+")*+[^"]*+"[^"\n]*+\n')
#: Read as missing among numbers and dates; text columns keep them for the plan to judge.
_NULLS = [
    *("", "?", "-", "--", ".", "*", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "Null", "None"),
    *("none", "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "unknown", "Unknown", "\\N"),
]


def read_delimited(
    raw: bytes, origin: str, reading: Reading = AS_FOUND
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """The bytes of a text table as a frame, and the line on which each row begins.

    Examples
    --------
    >>> frame, lines = read_delimited(b"a;b\\n1;x\\n2;y\\n", "t.csv")
    >>> frame["a"].tolist(), lines.tolist()
    ([1, 2], [2, 3])
    """
    text = as_utf8(raw, origin, reading.encoding)
    if not text or text.isspace():
        raise DataError(f"{origin} is empty.")
    if b"\n" not in text and b"\r" in text:  # as old Macintosh programs ended lines
        text = text.replace(b"\r", b"\n")
    text = without_rules(text)
    layout = find_layout(text, reading)
    mark = re.escape(layout.separator).encode()
    if mark != rb"\ " and re.search(_BLANK_AND_QUOTE % (mark, mark), text[:_HEAD]):
        text = _without_blanks(text, layout.separator)
        layout = find_layout(text, reading)
    text = text[layout.start :] if layout.start else text
    text, below = _without_footer(text, layout)
    if layout.separator == " ":
        layout, text = replace(layout, separator="\t"), _with_tabs(text)
    n_ends, n_quotes, broken = scan_text(text)
    if n_quotes % 2:
        refuse_open_quote(text, layout.separator, origin, layout.skipped)
    refuse_duplicates(layout.names, origin, layout.skipped + 2)
    table = _parsed(text, layout, origin, broken or n_quotes % 2 == 1)
    lines = _line_numbers(text, layout, table.num_rows, n_ends)
    refuse_second_header(table, origin, layout.skipped, _NULLS)
    for lines_beside, where in ((layout.above, "above the header"), (below, "below the table")):
        if lines_beside:
            count = "line" if len(lines_beside) == 1 else f"{len(lines_beside)} lines"
            warnings.warn(
                f"{origin}: the {count} {where} ({lines_beside[0][:60]!r}) "
                f"{'is' if len(lines_beside) == 1 else 'are'} not part of the table.",
                stacklevel=2,
            )
    frame = _as_frame(table)
    frame.attrs[COMMA_SEPARATED] = layout.separator == ","
    return frame, lines


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


def _without_blanks(text: bytes, mark: str) -> bytes:
    """A text whose quotes open after a blank (``"a", "b"``), without these blanks.

    Examples
    --------
    >>> _without_blanks(b'"a", "b, c"\\n1, 2\\n', ",")
    b'a,"b, c"\\n1,2\\n'
    """
    written = io.StringIO()
    rows = csv.reader(lines_of(text), delimiter=mark, skipinitialspace=True)
    csv.writer(written, delimiter=mark, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()


def _without_footer(text: bytes, layout: Layout) -> tuple[bytes, list[str]]:
    """A text without the lines that end a report: after a blank line, of fewer fields than the table has."""
    lines = text[-_HEAD:].rstrip().split(b"\n")
    n = next((k for k, line in enumerate(reversed(lines)) if not line.strip()), 0)
    below = b"\n".join(lines[len(lines) - n :])
    if not 0 < n <= _MOST_TITLES or below.count(b'"') % 2 or layout.separator == " ":
        return text, []
    rows = list(csv.reader(lines_of(below), delimiter=layout.separator))
    if any(len(row) > max(1, len(layout.names) - 2) for row in rows) or len(layout.names) < 2:
        return text, []
    shown = [line.strip().strip('"') for line in below.decode(errors="ignore").split("\n")]
    return text[: text.rindex(below)], shown


def _parsed(text: bytes, layout: Layout, origin: str, broken_lines: bool) -> pa.Table:
    """Arrow's table of a text that begins with its header.

    Without line breaks in quoted fields, Arrow reads blocks side by side.
    """
    # A copy that Arrow's threads can let go of while the interpreter ends (apache/arrow#34314).
    buffer = pa.allocate_buffer(len(text))
    np.frombuffer(buffer, np.uint8)[:] = np.frombuffer(text, np.uint8)
    names, as_text = layout.names, dict.fromkeys(layout.texts, pa.string())
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(buffer),
            arrow_csv.ReadOptions(column_names=names, skip_rows=layout.header_lines, block_size=_BLOCK),
            arrow_csv.ParseOptions(delimiter=layout.separator, newlines_in_values=broken_lines),
            arrow_csv.ConvertOptions(
                null_values=_NULLS, strings_can_be_null=False, column_types=as_text, check_utf8=False
            ),
        )
    except pa.ArrowInvalid as error:
        sentence = first_bad_line(text, layout.separator, len(names), layout.skipped)
        if sentence or "Empty CSV" not in str(error):
            reason = sentence or first_line(error)
            raise DataError(f"{origin}: {reason}.") from error
        return pa.table({name: pa.array([], pa.string()) for name in names})


def scan_text(text: bytes) -> tuple[int, int, bool]:
    """Line ends, quotes, and whether a line ends between an odd quote and the next one.

    Examples
    --------
    >>> scan_text(b'a,b\\n"1,5",2\\n'), scan_text(b'a\\n"x\\ny"\\n')
    ((2, 2, False), (3, 2, True))
    """
    n_quotes = text.count(b'"')
    return text.count(b"\n"), n_quotes, n_quotes > 0 and _BROKEN_LINE.match(text) is not None


def _line_numbers(text: bytes, layout: Layout, n_rows: int, n_ends: int) -> NDArray[np.int64]:
    """The line of each row, where blank lines or line breaks in quotes set rows and lines apart."""
    one_each = np.arange(n_rows) + layout.skipped + 2
    n_lines = n_ends + (not text.endswith(b"\n"))
    if n_lines == n_rows + 1:
        return one_each
    if text.endswith(b"\n") and text.rstrip(b"\r\n").count(b"\n") == n_rows:
        return one_each  # blank lines at the end only
    lines, last = [], 0
    reader = csv.reader(lines_of(text), delimiter=layout.separator)
    for row in reader:
        if row:
            lines.append(last + 1)
        last = reader.line_num
    return np.array(lines[1:], dtype=np.int64) + layout.skipped if len(lines) == n_rows + 1 else one_each


def _as_frame(table: pa.Table) -> pd.DataFrame:
    """Arrow's columns as pandas has them: dates as moments, times of day as text."""
    columns = [_as_in_pandas(column) for column in table.columns]
    frame: pd.DataFrame = pa.table(columns, names=table.column_names).to_pandas(integer_object_nulls=False)
    return frame


def _as_in_pandas(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_time(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is not None):
        return pc.cast(column, pa.timestamp("us"))
    if pa.types.is_string(kind):
        empty = pc.equal(column, "")
        if pc.any(empty).as_py():
            return pc.if_else(empty, pa.scalar(None, pa.string()), column)
    return column
