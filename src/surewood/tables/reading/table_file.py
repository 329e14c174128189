"""All formats of table files behind one function, and the rows of several files read as one table."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from surewood._text import has_half_characters
from surewood.tables.reading.file_format import (
    format_of,
    refuse_address,
    refuse_other_formats,
    unpacked,
)
from surewood.tables.reading.text_file import Delimited, read_delimited, read_stream, refuse_duplicates
from surewood.tables.sources import DataError


@dataclass(frozen=True)
class FileRows:
    """Where the rows of a table stand, counted from 1 over all files.

    Attributes
    ----------
    files : tuple of str
    units : tuple of str
        What the numbers of each file count: "line" or "row".
    ends : ndarray of int
        Rows of all files up to the end of each.
    numbers : ndarray of int
        The number that its file gives each row.

    Examples
    --------
    >>> lines = np.array([2, 3])
    >>> rows = FileRows.of([("data/a.csv", "line", lines), ("data/b.csv", "line", lines + 1)])
    >>> rows.name(2), rows.name(4)
    ('a.csv line 3', 'b.csv line 4')
    """

    files: tuple[str, ...]
    units: tuple[str, ...]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[tuple[str, str, NDArray[np.int64]]]) -> FileRows:
        """Of files with the unit and the numbers of their rows; files of one name keep their folders."""
        paths = [path for path, _, _ in parts]
        seen = Counter(Path(path).name for path in paths)
        names = [path if seen[Path(path).name] > 1 else Path(path).name for path in paths]
        ends = np.cumsum([len(numbers) for _, _, numbers in parts], dtype=np.int64)
        units = tuple(unit for _, unit, _ in parts)
        return cls(tuple(names), units, ends, np.concatenate([numbers for _, _, numbers in parts]))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        texts = (*self.files, *self.units)
        if not all(isinstance(text, str) for text in texts) or len(self.files) != len(self.units):
            raise ValueError("the files of the rows have names that are none.")
        whole = all(isinstance(a, np.ndarray) and a.dtype.kind == "i" for a in (self.ends, self.numbers))
        if not whole or len(self.ends) != len(self.files) or (np.diff(self.ends) < 0).any():
            raise ValueError("the files of the rows have numbers of the wrong type.")
        if len(self.ends) == 0 or self.ends[0] < 0 or self.ends[-1] != len(self.numbers):
            raise ValueError("the files have another number of rows than their table.")

    def name(self, row: int) -> str:
        """File and line of a row."""
        if not 1 <= row <= len(self.numbers):
            return f"row {row}"
        file, unit = self.place(row)
        return f"{file} {unit} {self.numbers[row - 1]}"

    def place(self, row: int) -> tuple[str, str]:
        """File of a row, and what its number there counts."""
        k = int(np.searchsorted(self.ends, row))
        return self.files[k], self.units[k]

    def file_of_each(self) -> list[str]:
        """The file of each row."""
        return np.repeat(self.files, np.diff(self.ends, prepend=0)).tolist()


def row_name(number: int, unit: str, files: FileRows | None) -> str:
    """What to call a row: its line, or its file and its line there.

    Examples
    --------
    >>> row_name(17, "line", None)
    'line 17'
    """
    return f"{unit} {number}" if files is None else files.name(int(number))


@dataclass(frozen=True)
class TableFile:
    """What was read from one or several files.

    Attributes
    ----------
    frame : DataFrame
        Raw columns, as they stand in the file.
    origin : str
        What to call it.
    row_numbers : ndarray of int
        The number that the file gives each row: its line in a text file, its row in a sheet, else from 1.
    unit : {"line", "row"}
        What that number counts.
    numbered : bool
        Whether a person who opens the file sees these numbers: not in Parquet.
    files : FileRows or None
        Which row stands where, of several files.
    """

    frame: pd.DataFrame
    origin: str
    row_numbers: NDArray[np.int64]
    unit: str
    numbered: bool = True
    files: FileRows | None = None


def read_table(
    source: str | Path | Sequence[str | Path],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    as_text: Collection[str] = (),
) -> pd.DataFrame:
    """A table file as a frame, columns as they stand in it.

    Parameters
    ----------
    source : str, Path or list of them
        A CSV, TSV or text file (also .gz, .bz2, .zip, .zst), Parquet, Feather or Arrow, JSON lines, Excel
        (needs ``surewood[excel]``), "-" for standard input; or several files with the same columns.
    separator, encoding : str, optional
        Of text files; found by default.
    as_text : collection of str
        Columns of text files to leave as text where they look like numbers, such as codes, or numbers whose
        point stands between thousands.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.csv")
    ...     _ = path.write_text("price;city\\n1,5;Rome\\n")
    ...     read_table(path).to_dict("list")
    {'price': ['1,5'], 'city': ['Rome']}
    """
    found = read_table_file(source, separator=separator, encoding=encoding, as_text=as_text)
    return check_frame(found.frame, found.origin)


def read_table_file(
    source: str | Path | Sequence[str | Path],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    as_text: Collection[str] = (),
) -> TableFile:
    """As :func:`read_table`, with how the file numbers its rows; a table without rows is not refused."""
    if isinstance(source, str | Path):
        return _one(source, separator, encoding, as_text)
    parts = [_one(part, separator, encoding, as_text) for part in source]
    if not parts:
        raise DataError("no file was given.")
    if len(parts) == 1:
        return parts[0]
    names = list(parts[0].frame.columns)
    for part in parts[1:]:
        if list(part.frame.columns) != names:
            raise DataError(
                f"{part.origin} has other columns than {parts[0].origin}; files are read together where they "
                "have the same columns in the same order."
            )
    frame = pd.concat([_alike(part.frame, parts) for part in parts], ignore_index=True)
    files = FileRows.of([(part.origin, part.unit, part.row_numbers) for part in parts])
    origin, rows = ", ".join(part.origin for part in parts), np.arange(1, len(frame) + 1)
    return TableFile(frame, origin, rows, "row", numbered=False, files=files)


def _alike(frame: pd.DataFrame, parts: Sequence[TableFile]) -> pd.DataFrame:
    """Columns that are text in some file as text in all: the plan looks at all of them together."""
    as_text = {
        name: object
        for name in frame.columns
        if len({part.frame[name].dtype.kind in "iufb" for part in parts}) > 1
    }
    return frame.astype(as_text)


def _one(
    source: str | Path, separator: str | None, encoding: str | None, as_text: Collection[str]
) -> TableFile:
    if source == "-":
        raw, origin = sys.stdin.buffer.read(), "standard input"
        refuse_other_formats(raw, origin)
        return _delimited(raw, origin, separator, encoding, as_text)
    refuse_address(str(source))
    path = Path(source).expanduser()
    if path.is_dir():
        raise DataError(f"{path} is a folder; name one file in it.")
    if not path.exists():
        raise DataError(f"there is no file {path}.")
    found = format_of(path)
    if found.kind == "delimited":
        is_plain = not found.compression and not encoding
        streamed = read_stream(path, separator=separator, as_text=as_text) if is_plain else None
        if streamed is not None:
            return _numbered(streamed, str(path))
        raw = unpacked(path, found.compression)
        refuse_other_formats(raw, str(path))
        return _delimited(raw, str(path), separator, encoding, as_text)
    if found.kind == "json lines":
        return _json_lines(unpacked(path, found.compression), str(path))
    if found.compression:
        raise DataError(
            f"{path}: only text tables are read from {found.compression} files; decompress it first."
        )
    readers = {"parquet": read_parquet, "arrow": _arrow, "excel": _excel}
    frame, sheet = readers[found.kind](path), found.kind == "excel"
    refuse_duplicates(list(frame.columns), str(path))
    first = 2 if sheet else 1
    return TableFile(frame, str(path), np.arange(first, first + len(frame)), "row", numbered=sheet)


def _delimited(
    raw: bytes, origin: str, separator: str | None, encoding: str | None, as_text: Collection[str]
) -> TableFile:
    read = read_delimited(raw, origin, separator=separator, encoding=encoding, as_text=as_text)
    return _numbered(read, origin)


def _numbered(read: Delimited, origin: str) -> TableFile:
    lines = (
        np.arange(read.first_line, read.first_line + len(read.frame)) if read.lines is None else read.lines
    )
    return TableFile(read.frame, origin, lines, "line")


def check_frame(frame: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Refuse a frame without rows or columns, with two columns of one name, or with text that is none."""
    refuse_duplicates(list(frame.columns), origin)
    if frame.shape[1] == 0 or len(frame) == 0:
        raise DataError(f"{origin} is an empty table ({len(frame)} rows, {frame.shape[1]} columns).")
    _refuse_half_characters(frame, origin)
    return frame


def _refuse_half_characters(frame: pd.DataFrame, origin: str) -> None:
    """Python's own strings may hold lone surrogates; no file, no page and no string of pandas may."""
    for k, name in enumerate(frame.columns):
        if isinstance(name, str) and has_half_characters(name):
            raise DataError(f"{origin}: the name of column {name!a} has half a character (a lone surrogate).")
        if pd.api.types.is_object_dtype(frame.dtypes.iloc[k]):
            for value in frame.iloc[:, k]:
                if isinstance(value, str) and has_half_characters(value):
                    where = f"{origin}: column {name!r} holds {value[:60]!a}"
                    raise DataError(f"{where}, text with half a character (a lone surrogate).")


def read_parquet(path: Path) -> pd.DataFrame:
    """A Parquet file as a frame, or one sentence."""
    return _whole_text(_binary(pd.read_parquet, path, "a readable Parquet file, or is cut short"), path)


def _arrow(path: Path) -> pd.DataFrame:
    return _whole_text(_binary(pd.read_feather, path, "a readable Arrow file, or is cut short"), path)


def _whole_text(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The frame, unless a text in it is no text: readers of Arrow's formats take the bytes as they come."""
    for k, name in enumerate(frame.columns):
        if isinstance(frame.dtypes.iloc[k], pd.StringDtype):
            try:
                pa.array(frame.iloc[:, k].array).validate(full=True)
            except (pa.ArrowInvalid, UnicodeError) as error:
                raise DataError(f"{path}: column {name!r} holds bytes that are not UTF-8 text.") from error
    return frame


def _excel(path: Path) -> pd.DataFrame:
    try:
        return _binary(lambda file: pd.read_excel(file, dtype=object), path, "a readable Excel file")
    except ImportError as error:
        raise DataError(
            f"{path}: reading Excel files needs an extra package: pip install 'surewood[excel]'."
        ) from error


def _binary(read: Callable[[Path], pd.DataFrame], path: Path, what: str) -> pd.DataFrame:
    try:
        return read(path)
    except ImportError:
        raise
    except PermissionError as error:
        raise DataError(f"{path} may not be read: no permission.") from error
    except Exception as error:
        raise DataError(f"{path} is not {what} ({first_line(error)}).") from error


def _json_lines(raw: bytes, origin: str) -> TableFile:
    """One object per line; a line that is none is named."""
    rows, numbers = [], []
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{origin}: line {number} is not valid JSON ({first_line(error)}).") from error
        if not isinstance(row, dict):
            raise DataError(f"{origin}: line {number} is not a JSON object with a value per column.")
        if b"\\u" in line and has_half_characters(json.dumps(row, ensure_ascii=False)):
            raise DataError(f"{origin}: line {number} holds half a character (a lone surrogate).")
        rows.append(row)
        numbers.append(number)
    return TableFile(pd.DataFrame.from_records(rows), origin, np.array(numbers, dtype=np.int64), "line")


def first_line(error: BaseException) -> str:
    """The first line of an error's message, short enough for a sentence."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
