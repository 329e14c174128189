"""Table files of any format as frames: :func:`read_table`, and the rows of several files read as one table.

A file is what its name says; text is read by :mod:`~surewood.tables.text_file`.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import re
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from surewood._text import first_line, has_half_characters, memory_text
from surewood.tables.sources import DataError
from surewood.tables.text_file import (
    AS_FOUND,
    Reading,
    header_place,
    is_blank,
    plain_name,
    read_delimited,
    refuse_duplicates,
    refuse_other_formats,
    with_groups,
)
from surewood.tables.workspace import available_memory

#: Ending -> format.
ENDINGS = {
    ".csv": "delimited", ".tsv": "delimited", ".txt": "delimited", ".tab": "delimited",
    ".parquet": "parquet", ".pq": "parquet", ".feather": "arrow", ".arrow": "arrow", ".ipc": "arrow",
    ".jsonl": "json lines", ".ndjson": "json lines", ".xlsx": "excel", ".xlsm": "excel", ".xls": "excel",
}  # fmt: skip
PARQUET_ENDINGS = (".parquet", ".pq")
COMPRESSIONS = (".gz", ".bz2", ".zip", ".zst")
#: Text that unpacks to more than this many times the size of the file and to more than `_ALWAYS_FINE` bytes
#: is refused; a column of one value comes to about 200.
_MAX_RATIO = 400
_ALWAYS_FINE = 1 << 28
_BLOCK = 1 << 24
_LOOKED_AT = 60  # rows of a sheet in which the header is looked for


def format_of(path: Path) -> tuple[str, str]:
    """The format that a file's name says, and its compression ("" where there is none).

    Examples
    --------
    >>> format_of(Path("sales.csv.gz"))
    ('delimited', '.gz')
    """
    name = path.name.lower()
    compression = next((ending for ending in COMPRESSIONS if name.endswith(ending)), "")
    ending = Path(name.removesuffix(compression)).suffix
    if ending in ENDINGS:
        return ENDINGS[ending], compression
    if compression == ".zip":
        return "delimited", compression  # the member inside decides
    raise DataError(
        f"{path} has an unsupported extension; supported are {', '.join(sorted(ENDINGS))}, and for text "
        f"files also {', '.join(COMPRESSIONS)}. Rename a text table to end in .csv; save others as CSV."
    )


def looks_like_a_file(name: str) -> bool:
    """Whether a text means a file rather than the name of a bundled data set."""
    lower = name.lower()
    return name == "-" or "/" in name or "\\" in name or lower.endswith((*ENDINGS, *COMPRESSIONS))


def refuse_address(source: str) -> None:
    """Files are read, addresses are not; nor names that would look like lines of what is printed."""
    if source.lower().startswith(("http://", "https://", "ftp://", "s3://", "gs://", "abfs://")):
        raise DataError(f"{source} is an address; download the file first and give its path.")
    if "\n" in source:
        raise DataError(f"{source!r} has a line break in its name; rename the file.")


def unpacked(path: Path, compression: str) -> bytes:
    """The bytes of a text file, decompressed."""
    try:
        if not compression:
            return path.read_bytes()
        blocks, n_bytes = [], 0
        with _decompressing(path, compression) as stream:
            while block := stream.read(_BLOCK):
                blocks.append(block)
                n_bytes += len(block)
                refuse_expansion(path, n_bytes)
        return b"".join(blocks)
    except DataError:
        raise
    except PermissionError as error:
        raise DataError(f"{path} may not be read: no permission.") from error
    except (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path} cannot be decompressed, or is cut short ({error}).") from error


def refuse_expansion(path: Path, n_bytes: int) -> None:
    """Refuse a compressed file that would fill the memory with what no table holds."""
    if n_bytes > max(_ALWAYS_FINE, _MAX_RATIO * path.stat().st_size):
        raise DataError(f"{path} unpacks to more than {_MAX_RATIO} times its size; no table does that.")


@contextmanager
def _decompressing(path: Path, compression: str) -> Iterator[Any]:
    if compression == ".gz":
        with gzip.open(path) as stream:
            yield stream
    elif compression == ".bz2":
        with bz2.open(path) as stream:
            yield stream
    elif compression == ".zst":
        with pa.input_stream(str(path), compression="zstd") as stream:
            yield stream
    else:
        with zipfile.ZipFile(path) as archive:
            members = [
                m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX")
            ]
            if len(members) != 1:
                raise DataError(
                    f"{path} holds {len(members)} files; a zipped table is an archive of one file."
                )
            with archive.open(members[0]) as stream:
                yield stream


@dataclass(frozen=True)
class FileRows:
    """Where the rows of a table stand, in one file or in several.

    Attributes
    ----------
    files : tuple of str
    units : tuple of str
        What the numbers of each file count: "line" in a text file, else "row".
    ends : ndarray of int
        Rows of all files up to the end of each.
    numbers : ndarray of int
        The number that its file gives each row, from 1.

    Examples
    --------
    >>> lines = np.array([2, 3])
    >>> rows = FileRows.of([("data/a.csv", "line", lines), ("data/b.csv", "line", lines + 1)])
    >>> rows.name(1), rows.name(3), FileRows.of([("a.csv", "line", lines)]).name(1)
    ('a.csv line 3', 'b.csv line 4', 'line 3')
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

    @property
    def are_several(self) -> bool:
        """Whether the name of a row needs its file."""
        return len(self.files) > 1

    def take(self, rows: NDArray[Any]) -> FileRows:
        """Some of the rows, by their positions in ascending order."""
        return FileRows(self.files, self.units, np.searchsorted(rows, self.ends), self.numbers[rows])

    def name(self, row: int) -> str:
        """What to call the row at a position: its line, of several files with its file."""
        return self.names(np.array([row]))[0]

    def names(self, rows: NDArray[np.int64]) -> list[str]:
        """What to call the rows at some positions."""
        heads = [f"{file} {unit}" if self.are_several else unit for file, unit in zip(self.files, self.units)]
        places = np.searchsorted(self.ends, rows, side="right").tolist()
        return [f"{heads[k]} {number}" for k, number in zip(places, self.numbers[rows].tolist())]

    def place(self, row: int) -> tuple[str, str]:
        """File of the row at a position, and what its number there counts."""
        k = int(np.searchsorted(self.ends, row, side="right"))
        return self.files[k], self.units[k]

    def file_of_each(self) -> list[str]:
        """The file of each row."""
        return np.repeat(self.files, np.diff(self.ends, prepend=0)).tolist()


@dataclass(frozen=True)
class TableFile:
    """What was read from one or several files.

    Attributes
    ----------
    frame : DataFrame
        Raw columns, as they stand in the file.
    origin : str
        What to call it.
    rows : FileRows
        Where its rows stand.
    numbered : bool
        Whether a person who opens the file sees the numbers of its rows: not in Parquet.
    """

    frame: pd.DataFrame
    origin: str
    rows: FileRows
    numbered: bool = True

    @classmethod
    def of(cls, frame: pd.DataFrame, origin: str, unit: str, numbers: Any = None) -> TableFile:
        """One file; without `numbers` its rows are counted from 1, which nobody sees."""
        counted = np.arange(1, len(frame) + 1) if numbers is None else numbers
        return cls(frame, origin, FileRows.of([(origin, unit, counted)]), numbers is not None)


def read_table(
    source: str | Path | Sequence[str | Path],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    as_text: Collection[str] = (),
    header_line: int | None = None,
    sheet: str | None = None,
) -> pd.DataFrame:
    """A table file as a frame, columns as they stand in it.

    Parameters
    ----------
    source : str, Path or list of them
        A CSV, TSV or text file (also .gz, .bz2, .zip, .zst), Parquet, Feather or Arrow, JSON lines, Excel
        (needs ``surewood[excel]``), "-" for standard input; or several files with the same columns.
    separator, encoding : str, optional
        Of text files; detected by default.
    as_text : collection of str
        Columns of text files to leave as text where they look like numbers, such as codes, or numbers whose
        point stands between thousands.
    header_line : int, optional
        The line, or the row of a sheet, that has the names of the columns, from 1; detected by default.
    sheet : str, optional
        The sheet of an Excel file; by default the first one that holds a table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.csv")
    ...     _ = path.write_text("price;city\\n1,5;Rome\\n")
    ...     read_table(path).to_dict("list")
    {'price': ['1,5'], 'city': ['Rome']}
    """
    table = read_table_file(source, Reading(separator, encoding, as_text, header_line, sheet))
    return check_frame(table.frame, table.origin)


def read_table_file(source: str | Path | Sequence[str | Path], reading: Reading = AS_FOUND) -> TableFile:
    """As :func:`read_table`, with how the file numbers its rows; a table without rows is not refused."""
    if isinstance(source, str | Path):
        return _one(source, reading)
    parts = [_one(part, reading) for part in source]
    if not parts:
        raise DataError("no file was given.")
    if len(parts) == 1:
        return parts[0]
    names = _shared_names(parts)
    frame = pd.concat([_alike(part.frame[names], parts) for part in parts], ignore_index=True)
    rows = FileRows.of([(part.origin, part.rows.units[0], part.rows.numbers) for part in parts])
    return TableFile(frame, ", ".join(part.origin for part in parts), rows)


def _shared_names(parts: Sequence[TableFile]) -> list[str]:
    """The columns that all files have, in the order of the first; others are left out, with a note."""
    every = list(dict.fromkeys(name for part in parts for name in part.frame.columns))
    shared = [name for name in every if all(name in part.frame.columns for part in parts)]
    for part in parts:
        absent = [name for name in every if name not in part.frame.columns]
        if absent and 2 * len(shared) < len(every):
            raise DataError(
                f"{part.origin} has other columns than the other files (it lacks {absent[0]!r}); files that "
                "are read together have the same columns, in any order."
            )
        if absent:
            several = len(absent) > 1
            warnings.warn(
                f"{part.origin} lacks the column{'s' if several else ''} {', '.join(map(repr, absent[:8]))}, "
                f"which {'are' if several else 'is'} not used.",
                stacklevel=3,
            )
    return shared


def _alike(frame: pd.DataFrame, parts: Sequence[TableFile]) -> pd.DataFrame:
    """Columns that are text in some file as text in all: the plan looks at all of them together."""
    as_text = {
        name: object
        for name in frame.columns
        if len({part.frame[name].dtype.kind in "iufb" for part in parts}) > 1
    }
    return frame.astype(as_text)


def _one(source: str | Path, reading: Reading) -> TableFile:
    if source == "-":
        return _delimited(sys.stdin.buffer.read(), "standard input", reading)
    refuse_address(str(source))
    path = Path(source).expanduser()
    if path.is_dir():
        raise DataError(f"{path} is a folder; name one file in it.")
    if not path.exists():
        raise DataError(f"there is no file {path}.")
    kind, compression = format_of(path)
    if kind == "delimited":
        return _delimited(unpacked(path, compression), str(path), reading)
    if kind == "json lines":
        return _json_lines(unpacked(path, compression), str(path))
    if compression:
        raise DataError(f"{path}: only text tables are read from {compression} files; decompress it first.")
    if kind == "excel":
        return _excel(path, reading)
    frame = read_parquet(path) if kind == "parquet" else _arrow(path)
    frame.columns = pd.Index(column_names(frame.columns))
    refuse_duplicates(list(frame.columns), str(path))
    return TableFile.of(frame, str(path), "row")


_UNNAMED = re.compile(r"(Unnamed: \d+(_level_\d+)?)?")  # what pandas and polars call a column without a name


def column_names(names: Collection[Any]) -> list[str]:
    """Names of columns as all readers give them: stripped, and a column without a name by its place.

    Examples
    --------
    >>> column_names(["Unnamed: 0", " age", 2024])
    ['column 1', 'age', '2024']
    """
    stripped = ["" if is_blank(name) else plain_name(name) for name in names]
    return [f"column {k + 1}" if _UNNAMED.fullmatch(name) else name for k, name in enumerate(stripped)]


def _delimited(raw: bytes, origin: str, reading: Reading) -> TableFile:
    refuse_other_formats(raw, origin)
    try:
        frame, lines = read_delimited(raw, origin, reading)
    except csv.Error as error:
        raise DataError(f"{origin}: {error}; is a quote never closed?") from error
    return TableFile.of(frame, origin, "line", lines)


def check_frame(frame: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Refuse a frame without rows or columns, or with two columns of one name."""
    refuse_duplicates(list(frame.columns), origin)
    if frame.shape[1] == 0 or len(frame) == 0:
        raise DataError(f"{origin} is an empty table ({len(frame)} rows, {frame.shape[1]} columns).")
    return frame


def read_parquet(path: Path) -> pd.DataFrame:
    """A Parquet file as a frame, its named indexes as columns, or one sentence."""
    _refuse_more_than_memory(path, "parquet")
    frame = _binary(pd.read_parquet, path, "a readable Parquet file, or is cut short")
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return _whole_text(frame.reset_index(named) if named else frame, path)


def _arrow(path: Path) -> pd.DataFrame:
    _refuse_more_than_memory(path, "ipc")
    return _whole_text(_binary(pd.read_feather, path, "a readable Arrow file, or is cut short"), path)


def _refuse_more_than_memory(path: Path, kind: str) -> None:
    """Refuse a file of a few kilobytes, or a large one, whose values would not fit twice into memory."""
    from pyarrow.dataset import dataset  # here: few files need it

    try:
        source = dataset(path, format=kind)
        n_rows, types = source.count_rows(), source.schema.types
    except (OSError, pa.ArrowException):
        return  # what is wrong is said by the reader
    n_bytes = 2 * n_rows * sum(max(1, _bit_width(one) // 8) for one in types)
    free = available_memory()
    if free is not None and n_bytes > free:
        raise DataError(
            f"{path}: {n_rows:,} rows would need {memory_text(n_bytes)} of memory; {memory_text(free)} are "
            "available."
        )


def _bit_width(kind: pa.DataType) -> int:
    try:
        return int(kind.bit_width)
    except ValueError:  # of text, lists and the like
        return 128


def _whole_text(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The frame, unless a text in it is no text: readers of Arrow's formats take the bytes as they come."""
    for k, (name, dtype) in enumerate(frame.dtypes.items()):
        if isinstance(dtype, pd.StringDtype):
            try:
                pa.array(frame.iloc[:, k].array).validate(full=True)
            except (pa.ArrowInvalid, UnicodeError) as error:
                raise DataError(f"{path}: column {name!r} holds bytes that are not UTF-8 text.") from error
    return frame


def _excel(path: Path, reading: Reading) -> TableFile:
    """A sheet of a workbook, below its titles and the names of groups of columns."""
    with path.open("rb") as file:
        if not file.read(4).startswith((b"PK", b"\xd0\xcf\x11\xe0")):
            raise DataError(
                f"{path} is not an Excel file, though its name says so; save it as .xlsx from a spreadsheet "
                "program, or rename it to end in .csv if it is text."
            )
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            refuse_expansion(path, sum(member.file_size for member in archive.infolist()))
    try:
        with _binary(_workbook, path, "a readable Excel file") as book:
            sheet, cells = _sheet(book, path, reading.sheet)
            merged = book.book[sheet].merged_cells.ranges if book.engine == "openpyxl" else ()
    except ImportError as error:
        raise DataError(
            f"{path}: reading Excel files needs an extra package: pip install 'surewood[excel]'."
        ) from error
    n, rows = reading.header_line, cells.head(_LOOKED_AT).to_numpy().tolist()
    if n is not None and not 1 <= n <= len(rows):
        raise DataError(f"header_line={n}: the first {len(rows):,} rows of sheet {sheet!r} have no such row.")
    place = header_place(rows) if n is None else n - 1
    titles = [str(cell).strip() for row in rows[:place] for cell in row if not is_blank(cell)]
    if titles:
        count = "row above the header is" if place == 1 else f"{place} rows above the header are"
        warnings.warn(f"{path}: the {count} not part of the table ({titles[0][:60]!r}).", stacklevel=4)
    groups = ["" if is_blank(cell) else str(cell) for cell in rows[place - 1]] if place else []
    header = ["" if is_blank(cell) else plain_name(cell) for cell in rows[place]] if rows else []
    names = column_names(with_groups(header, groups))
    refuse_duplicates(names, str(path), place + 2)
    for block in merged:  # each row of it has the value that the sheet shows once
        left, top, right, bottom = block.bounds
        if place < top - 1 < bottom - 1:
            cells.iloc[top - 1 : bottom, left - 1 : right] = cells.iloc[top - 1, left - 1]
    body = cells.iloc[place + 1 :].dropna(how="all")
    frame = body.reset_index(drop=True).infer_objects()
    frame.columns = pd.Index(names)
    return TableFile.of(frame, str(path), "row", body.index.to_numpy() + 1)


def _workbook(path: Path) -> pd.ExcelFile:
    """With the merged cells, which readers that stream leave out."""
    is_old = path.suffix.lower() == ".xls"
    return pd.ExcelFile(path, engine_kwargs={} if is_old else {"read_only": False})


def _sheet(book: pd.ExcelFile, path: Path, name: str | None) -> tuple[str, pd.DataFrame]:
    """The sheet of that name, or the first one that holds a table; the cells as they are."""
    sheets = [str(sheet) for sheet in book.sheet_names]
    if name is not None and name not in sheets:
        raise DataError(f"sheet={name}: {path} has the sheets {', '.join(map(repr, sheets))}.")
    chosen = None
    for sheet in [name] if name is not None else sheets:
        cells = pd.read_excel(book, sheet, header=None, dtype=object, keep_default_na=False, na_values=[""])
        is_table = (cells.notna().sum(axis=1) > 1).sum() > 1  # a cover has one text per row
        if chosen is None or is_table:
            chosen = sheet, cells
        if is_table:
            break
    assert chosen is not None
    if name is None and len(sheets) > 1:
        others = ", ".join(repr(sheet) for sheet in sheets if sheet != chosen[0])
        warnings.warn(
            f"{path}: sheet {chosen[0]!r} was read; sheet= reads another one ({others}).", stacklevel=5
        )
    return chosen


def _binary(read: Callable[[Path], Any], path: Path, what: str) -> Any:
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
        except (ValueError, RecursionError) as error:
            raise DataError(f"{origin}: line {number} is not valid JSON ({first_line(error)}).") from error
        if not isinstance(row, dict):
            raise DataError(f"{origin}: line {number} is not a JSON object with a value per column.")
        if b"\\u" in line and has_half_characters(json.dumps(row, ensure_ascii=False)):
            raise DataError(f"{origin}: line {number} holds half a character (a lone surrogate).")
        rows.append(row)
        numbers.append(number)
    return TableFile.of(pd.DataFrame.from_records(rows), origin, "line", np.array(numbers, dtype=np.int64))
