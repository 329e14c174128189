"""What a file is: by its name, and by its first bytes where the name is wrong."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from surewood.tables.sources import DataError

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
#: First bytes -> what the file really is.
_SIGNATURES = (
    (b"PAR1", "a Parquet file", ".parquet"),
    (b"ARROW1", "an Arrow file", ".arrow"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", ".xls"),
    (b"%PDF", "a PDF document", ""),
    (b"\x89PNG", "a picture", ""),
    (b"\xff\xd8\xff", "a picture", ""),
)


@dataclass(frozen=True)
class FileFormat:
    """The format of a file and its compression ("" where there is none)."""

    kind: str
    compression: str = ""


def format_of(path: Path) -> FileFormat:
    """The format that a file's name says.

    Examples
    --------
    >>> format_of(Path("sales.csv.gz"))
    FileFormat(kind='delimited', compression='.gz')
    """
    name = path.name.lower()
    compression = next((ending for ending in COMPRESSIONS if name.endswith(ending)), "")
    ending = Path(name.removesuffix(compression)).suffix
    if ending in ENDINGS:
        return FileFormat(ENDINGS[ending], compression)
    if compression == ".zip":
        return FileFormat("delimited", compression)  # the member inside decides
    raise DataError(
        f"{path} has an unsupported extension; supported are {', '.join(sorted(ENDINGS))}, and for text "
        f"files also {', '.join(COMPRESSIONS)}."
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
        import pyarrow as pa

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
