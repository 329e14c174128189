"""Where the table of a text file begins and how its columns are set apart, found in its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from surewood.tables.data_error import DataError

SEPARATORS = ",;\t|"
HEAD = 1 << 16  # bytes that are looked at, more where lines are long
_MOST_TITLES = 10
_LINES = 4  # lines as long as the header that are looked at, at least
_LEADING_ZERO = re.compile(r"^0\d")
_GROUPED = re.compile(r"^[+-]?\d{1,3}(?:\.\d{3})+$")
_SIGN = r"(?:[$€£¥]|EUR|USD|CHF|GBP)"
_DECIMAL_COMMA = re.compile(
    rf"^[+-]?(?:{_SIGN}\s?)?(?:(?:\d+|\d{{1,3}}(?:\.\d{{3}})+),(?:\d{{1,2}}|\d{{4,}})|0,\d+)(?:\s?(?:{_SIGN}|[%‰]))?$"
)


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


def find_layout(text: bytes, separator: str | None = None, as_text: Collection[str] = ()) -> Layout:
    """The layout of a table, from its text or as much of its beginning as :func:`bytes_needed` says.

    `as_text` names columns to leave as text, whatever their first rows look like.

    Examples
    --------
    >>> found = find_layout(b"sep=;\\nzip;b\\n01067;x\\n")
    >>> found.separator, found.names, found.start, found.skipped, found.texts
    (';', ['zip', 'b'], 6, 1, ['zip'])
    """
    skipped, start = _preamble(text)
    above = _lines_above(_first_lines(text, start), separator)
    for _ in above:
        start = text.find(b"\n", start) + 1
    head = _first_lines(text, start)
    mark = separator or find_separator(head)
    reader = csv.reader(
        ["\t".join(split_blanks(line)) for line in head] if mark == " " else head,
        delimiter="\t" if mark == " " else mark,
    )
    names = [name.strip() for name in next(reader)]
    header_lines = reader.line_num
    rows = list(reader)
    names = _with_all_names(names, rows)
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    kept = {*_columns_to_keep(rows, names), *as_text}
    texts = [name for name in names if name in kept]
    shown = [line.strip() for line in above if line.strip()]
    return Layout(mark, names, start, skipped + len(above), header_lines, texts, shown)


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends: those of a file, not the many that ``str.splitlines`` knows.

    Examples
    --------
    >>> len(lines_of("a" + chr(0x2028) + "b,c" + chr(10) + "1,2"))
    2
    """
    return list(io.StringIO(text, newline=""))


def _lines_above(lines: list[str], separator: str | None) -> list[str]:
    """Lines above the header: comments that begin with ``#``, and titles.

    A title is a line that no mark divides, above at least `_LINES` lines that one mark divides into the same
    number of fields. A comment in front of numbers, with as many fields as these, is the header (``#id,x``).
    """
    n = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    if n:
        mark = separator or find_separator(lines[n:])
        fields, comment = (next(csv.reader([line], delimiter=mark)) for line in (lines[n], lines[n - 1]))
        if mark != " " and len(fields) == len(comment) and any(map(_is_number, fields)):
            n -= 1
        return lines[:n]
    for mark in separator or SEPARATORS:
        n = next((k for k, line in enumerate(lines[: _MOST_TITLES + 1]) if mark in line), 0)
        if n == 0 or any(other in line for line in lines[:n] for other in (separator or SEPARATORS)):
            continue
        if any(_opens_a_quoted_name(line) for line in lines[:n]):
            continue
        body = lines[n : n + 50]
        if len(body) < _LINES or max(map(len, body)) > csv.field_size_limit():
            continue
        if len({len(row) for row in csv.reader(body, delimiter=mark) if row}) == 1:
            return lines[:n]
    return []


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


def bytes_needed(text: bytes) -> int:
    """How many of a file's first bytes tell its layout, as far as the first ones show it; 0: not at all.

    Examples
    --------
    >>> bytes_needed(b"a,b\\n1,2\\n") == HEAD, bytes_needed(b"a,b")
    (True, 0)
    """
    start = _preamble(text)[1]
    end = text.find(b"\n", start)
    longest = max(map(len, text[start:].split(b"\n", _MOST_TITLES + 1)[:-1]), default=0)
    return 0 if end < 0 else start + max(HEAD, _LINES * (longest + 1))


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
    end = start + max(HEAD, _LINES * (header - start))
    lines = lines_of(text[start:end].decode("utf-8", errors="ignore"))
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
    for mark in SEPARATORS:
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


def refuse_duplicates(names: Sequence[object], origin: str) -> None:
    """Refuse two columns of one name."""
    twice = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if twice:
        shown = ", ".join(map(repr, sorted(twice)[:8]))
        raise DataError(f"{origin} has more than one column called {shown}; rename them.")


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
