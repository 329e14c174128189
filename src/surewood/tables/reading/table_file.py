"""All formats of table files behind one function."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from surewood.tables.data_error import DataError
from surewood.tables.reading.delimited import read_delimited, refuse_duplicates
from surewood.tables.reading.file_format import (
    format_of,
    refuse_address,
    refuse_other_formats,
    unpacked,
)


@dataclass(frozen=True)
class TableFile:
    """What was read from one or several files.

    Attributes
    ----------
    frame : DataFrame
        Raw columns, as they stand in the file.
    origin : str
        What to call it.
    first_row : int
        The number that the file gives its first row: its line in a text file, 1 elsewhere.
    unit : {"line", "row"}
        What that number counts.
    """

    frame: pd.DataFrame
    origin: str
    first_row: int
    unit: str


def read_table(
    source: str | Path | Sequence[str | Path], *, separator: str | None = None, encoding: str | None = None
) -> pd.DataFrame:
    """A table file as a frame, columns as they stand in it.

    Parameters
    ----------
    source : str, Path or list of them
        A CSV, TSV or text file (also .gz, .bz2, .zip, .zst), Parquet, Feather or Arrow, JSON lines, Excel (needs
        ``surewood[excel]``), "-" for standard input; or several files with the same columns.
    separator, encoding : str, optional
        Of text files; found by default.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.csv")
    ...     _ = path.write_text("price;city\\n1,5;Rome\\n")
    ...     read_table(path).to_dict("list")
    {'price': ['1,5'], 'city': ['Rome']}
    """
    return read_table_file(source, separator=separator, encoding=encoding).frame


def read_table_file(
    source: str | Path | Sequence[str | Path], *, separator: str | None = None, encoding: str | None = None
) -> TableFile:
    """As :func:`read_table`, with how the file numbers its rows."""
    if isinstance(source, str | Path):
        return _one(source, separator, encoding)
    parts = [_one(part, separator, encoding) for part in source]
    if not parts:
        raise DataError("no file was given.")
    names = list(parts[0].frame.columns)
    for part in parts[1:]:
        if list(part.frame.columns) != names:
            raise DataError(f"{part.origin} has other columns than {parts[0].origin}; files are read together "
                            "where they have the same columns in the same order.")  # fmt: skip
    frame = pd.concat([part.frame for part in parts], ignore_index=True)
    return TableFile(frame, ", ".join(part.origin for part in parts), 1, "row")


def _one(source: str | Path, separator: str | None, encoding: str | None) -> TableFile:
    if source == "-":
        raw, origin = sys.stdin.buffer.read(), "standard input"
        refuse_other_formats(raw, origin)
        return _delimited(raw, origin, separator, encoding)
    refuse_address(str(source))
    path = Path(source).expanduser()
    if path.is_dir():
        raise DataError(f"{path} is a folder; name one file in it.")
    if not path.exists():
        raise DataError(f"there is no file {path}.")
    found = format_of(path)
    if found.kind == "delimited":
        raw = unpacked(path, found.compression)
        refuse_other_formats(raw, str(path))
        return _delimited(raw, str(path), separator, encoding)
    if found.compression:
        raise DataError(
            f"{path}: only text tables are read from {found.compression} files; decompress it first."
        )
    readers = {"parquet": _parquet, "arrow": _arrow, "json lines": _json_lines, "excel": _excel}
    frame = readers[found.kind](path)
    first = 2 if found.kind == "excel" else 1
    return TableFile(check_frame(frame, str(path)), str(path), first, "row")


def _delimited(raw: bytes, origin: str, separator: str | None, encoding: str | None) -> TableFile:
    read = read_delimited(raw, origin, separator=separator, encoding=encoding)
    return TableFile(check_frame(read.frame, origin), origin, read.first_line, "line")


def check_frame(frame: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Refuse a frame without rows or columns, or with two columns of one name."""
    refuse_duplicates(list(frame.columns), origin)
    if frame.shape[1] == 0 or len(frame) == 0:
        raise DataError(f"{origin} is an empty table ({len(frame)} rows, {frame.shape[1]} columns).")
    return frame


def _parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except Exception as error:
        raise DataError(
            f"{path} is not a readable Parquet file, or is cut short ({first_line(error)})."
        ) from error


def _arrow(path: Path) -> pd.DataFrame:
    try:
        return pd.read_feather(path)
    except Exception as error:
        raise DataError(
            f"{path} is not a readable Arrow file, or is cut short ({first_line(error)})."
        ) from error


def _json_lines(path: Path) -> pd.DataFrame:
    try:
        return pd.read_json(path, lines=True, dtype=False, convert_dates=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a file of JSON lines ({first_line(error)}).") from error


def _excel(path: Path) -> pd.DataFrame:
    try:
        return pd.read_excel(path, dtype=object)
    except ImportError as error:
        raise DataError(
            f"{path}: reading Excel files needs an extra package: pip install surewood[excel]."
        ) from error
    except Exception as error:
        raise DataError(f"{path} is not a readable Excel file ({first_line(error)}).") from error


def first_line(error: BaseException) -> str:
    """The first line of an error's message, short enough for a sentence."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
