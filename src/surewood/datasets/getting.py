"""``surewood datasets get``: published files, downloaded or from a folder, as a checked file in the cache."""

from __future__ import annotations

import http.client
import struct
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from surewood.datasets.built_in import DatasetInfo
from surewood.datasets.content import content_sha256
from surewood.datasets.raw_files import RawFiles
from surewood.datasets.recipes import Reader, build_frame
from surewood.datasets.sources import cache_folder, checked, listed_addresses, where, write_atomically
from surewood.tables.data_error import DataError
from surewood.tables.reading.table_file import read_parquet

TIMEOUT_SECONDS = 30.0
MOST_BYTES = 256 * 2**20
_SUFFIXES = (".gz", ".bz2")  # a browser may have unpacked these


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirections to https alone."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        _check_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_https(address: str) -> None:
    if urlsplit(address).scheme != "https":
        raise urllib.error.URLError(f"{address} is not an https address")


def get(entry: DatasetInfo, folder: Path | None = None, say: Callable[[str], None] | None = None) -> Path:
    """Make the Parquet file of a data set from its published files, and put it into the cache.

    Parameters
    ----------
    entry : DatasetInfo
    folder : Path, optional
        Where the published files are; by default they are downloaded.
    say : callable, optional
        Called with each address before its download.

    Returns
    -------
    Path
        The file in the cache, whose content is that of the catalogue.
    """
    if entry.raw is None:
        origin = "comes with scikit-learn" if entry.bundled else "has no public files in the catalogue"
        raise DataError(f"{entry.name} {origin}; there is nothing to get.")
    read: Reader = _downloader(entry, say) if folder is None else _folder_reader(entry, folder)
    frame = convert(entry, read)
    path = cache_folder() / f"{entry.name}.parquet"
    write_atomically(frame, path)
    return path


def at_hand(entry: DatasetInfo) -> str | None:
    """Where a data set is already, unless what the cache has is another copy of it (OpenML's, say)."""
    here = where(entry)
    if here == "cache" and entry.content is not None:
        cached = read_parquet(cache_folder() / f"{entry.name}.parquet")
        return here if content_sha256(cached) == entry.content else None
    return here if here in ("SUREWOOD_DATA", "cache", "scikit-learn") else None


def convert(entry: DatasetInfo, read: Reader) -> pd.DataFrame:
    """The frame of a data set from its published files, refused unless it is that of the catalogue."""
    assert entry.raw is not None
    origin = f"what was made from {listed_addresses(entry.raw)}"
    try:
        frame = build_frame(entry.raw, read, entry.train_rows)
    except DataError:
        raise
    except (ValueError, KeyError, IndexError, struct.error, zipfile.BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"the files of {entry.name} do not have the expected form ({reason}).") from error
    checked(frame, entry, origin)
    if entry.content is not None and content_sha256(frame) != entry.content:
        raise DataError(
            f"{origin} is not the {entry.name!r} of the catalogue: counts agree, but some values differ."
        )
    return frame


def _folder_reader(entry: DatasetInfo, folder: Path) -> Reader:
    def read(address: str) -> bytes:
        name, written = RawFiles.file_name(address), address.rpartition("/")[2]  # curl keeps %20
        unpacked = (name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix))
        candidates = [name, written, *unpacked]
        for candidate in candidates:
            if (folder / candidate).is_file():
                return (folder / candidate).read_bytes()
        raise DataError(f"{folder} has no file {name!r}; download it from {address}.")

    return read


def _downloader(entry: DatasetInfo, say: Callable[[str], None] | None) -> Reader:
    opener = urllib.request.build_opener(_HttpsOnly)

    def read(address: str) -> bytes:
        if say is not None:
            say(address)
        try:
            return _download(opener, address)
        except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
            raise DataError(by_hand(entry, address, error)) from error

    return read


def _download(opener: urllib.request.OpenerDirector, address: str) -> bytes:
    _check_https(address)
    with opener.open(address, timeout=TIMEOUT_SECONDS) as answer:
        content: bytes = answer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DataError(f"{address} is larger than {MOST_BYTES // 2**20} MiB; it is not the expected file.")
    return content


def by_hand(entry: DatasetInfo, address: str, error: Exception) -> str:
    """What to do where a file cannot be downloaded, in one sentence."""
    assert entry.raw is not None
    reason = getattr(error, "reason", None) or error
    return (
        f"{urlsplit(address).hostname} did not give {RawFiles.file_name(address)} ({reason}): put "
        f"{listed_addresses(entry.raw)} into a folder and run `surewood datasets get {entry.name} "
        "--from FOLDER`."
    )
