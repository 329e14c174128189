"""Read a CSV or Parquet file that somebody else made.

Encodings (UTF-8 with or without mark, UTF-16, else Windows-1252), separators (comma, semicolon, tab, bar),
decimal commas, dates (2024-12-31, 31.12.2024, 2024/12/31) and missing values are recognised. What cannot be
read gets one sentence.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from surewood.tables.data_error import DataError
from surewood.tables.dates import read_dates, recognise_dates

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
_DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?$"


def looks_like_a_file(name: str) -> bool:
    """Whether a text means a file rather than a name of the catalogue."""
    return name.lower().endswith(TEXT_SUFFIXES + PARQUET_SUFFIXES) or "/" in name or "\\" in name


def read_table(path: str | Path) -> pd.DataFrame:
    """A CSV or Parquet file as a frame; text columns stay text, dates become dates."""
    path = Path(path).expanduser()
    if path.is_dir():
        raise DataError(f"{path} is a folder; name one CSV or Parquet file in it.")
    if not path.exists():
        raise DataError(f"there is no file {path}.")
    name = path.name.lower()
    if name.endswith(PARQUET_SUFFIXES):
        frame = read_parquet(path)
    elif name.endswith(TEXT_SUFFIXES):
        frame = _read_text(path)
    else:
        raise DataError(
            f"{path} is neither CSV nor Parquet, going by its name; supported: .csv, .tsv, .parquet."
        )
    return check_frame(frame, str(path))


def check_frame(frame: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Refuse a frame without rows or columns, or with two columns of one name."""
    refuse_duplicates(list(frame.columns), origin)
    if frame.shape[1] == 0 or len(frame) == 0:
        raise DataError(f"{origin} is an empty table ({len(frame)} rows, {frame.shape[1]} columns).")
    return frame


def refuse_duplicates(names: Sequence[Any], origin: str) -> None:
    twice = sorted({str(n) for n in names if list(names).count(n) > 1})
    if twice:
        raise DataError(
            f"{origin} has more than one column called {', '.join(map(repr, twice))}; rename them."
        )


def read_parquet(path: Path) -> pd.DataFrame:
    """A Parquet file as a frame, or one sentence."""
    try:
        return pd.read_parquet(path)
    except Exception as error:
        reason = first_line(error)
        raise DataError(f"{path} is not a readable Parquet file, or is cut short ({reason}).") from error


def first_line(error: BaseException) -> str:
    """The first line of an error's message, short enough for a sentence."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _read_text(path: Path) -> pd.DataFrame:
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    head, encoding = _head(path, compression)
    if not head.strip():
        raise DataError(f"{path} is empty.")
    separator = _separator(head)
    header = next(csv.reader([head.splitlines()[0]], delimiter=separator))
    refuse_duplicates(header, str(path))
    try:
        frame = _read_csv(path, separator, encoding, compression)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as a table ({first_line(error)}).") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise DataError(f"{path} has rows with more fields than the header has names.")
    return _recognised(frame)


def _read_csv(path: Path, separator: str, encoding: str, compression: str | None) -> pd.DataFrame:
    """Read with the encoding that the head suggests; where a later line breaks it, with an older one."""
    older = {"utf-8-sig": "cp1252", "cp1252": "latin-1"}
    try:
        return pd.read_csv(
            path,
            sep=separator,
            encoding=encoding,
            compression=compression,  # type: ignore[arg-type]
            low_memory=False,
        )
    except UnicodeDecodeError:
        if encoding not in older:
            raise
        return _read_csv(path, separator, older[encoding], compression)


def _head(path: Path, compression: str | None) -> tuple[str, str]:
    """The first lines of a text file and its encoding; a binary file is refused."""
    import gzip

    opener = gzip.open if compression else open
    try:
        with opener(path, "rb") as file:
            raw = file.read(1 << 16)
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read ({error}).") from error
    if b"\0" in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is not a text file, so not a CSV table.")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw[: len(raw) // 2 * 2].decode("utf-16", errors="ignore"), "utf-16"
    try:
        # The cut at the end of the block may split a character: leave the last three bytes out of the check.
        raw[: max(0, len(raw) - 3) if len(raw) == 1 << 16 else None].decode("utf-8")
        return raw.decode("utf-8-sig", errors="ignore"), "utf-8-sig"
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace"), "cp1252"


def _separator(head: str) -> str:
    """The separator of the header line: the candidate that splits it into the most fields."""
    first = head.splitlines()[0]
    return max(",;\t|", key=lambda mark: len(next(csv.reader([first], delimiter=mark))))


def _recognised(frame: pd.DataFrame) -> pd.DataFrame:
    """Text columns that are dates or numbers with a decimal comma become what they are."""
    for name in frame.columns:
        column = frame[name]
        if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
            continue
        known = column.dropna().astype(str)
        if len(known) == 0:
            continue
        if known.str.match(_DECIMAL_COMMA).all():
            frame[name] = pd.to_numeric(column.str.replace(",", "."))
        else:
            form = recognise_dates(known)
            # Where day and month are told apart by the values alone, a later table could be read otherwise.
            if form is not None and form not in ("%d/%m/%Y", "%m/%d/%Y"):
                frame[name] = read_dates(column, form)
    return frame
