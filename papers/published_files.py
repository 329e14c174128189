"""From the published files of a data set to our table: features, ``target``, ``split``.

:class:`~papers.datasets.RawFiles` says where the files are and what form they have, :func:`build_frame`
reads them, :func:`get` downloads or finds them and puts the checked table into the cache,
:func:`content_sha256` tells whether two tables hold the same values. Nothing is scaled, encoded or
resampled: numbers stay numbers, categories stay text, and a missing value is missing. What differs from set
to set is in ``catalogue.toml``.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import http.client
import io
import struct
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from papers.datasets import (
    DatasetInfo,
    RawFiles,
    cache_folder,
    checked,
    data_folder,
    listed_addresses,
    write_atomically,
)
from surewood.tables import DataError
from surewood.tables.table_file import read_parquet

MOST_BYTES_UNPACKED = 2**30
TIMEOUT_SECONDS = 30.0
MOST_BYTES = 256 * 2**20
#: Bytes of a file by its address.
Reader = Callable[[str], bytes]
_HAR_FOLDER = "UCI HAR Dataset"
_ROWS_PER_BLOCK = 4096
_MISSING = b"\xff"  # no UTF-8 text contains it
_SUFFIXES = (".gz", ".bz2")  # a browser may have unpacked these


def build_frame(raw: RawFiles, read: Reader, n_train: int | None = None) -> pd.DataFrame:
    """The frame of a data set.

    Parameters
    ----------
    raw : RawFiles
    read : callable
        Gives the bytes of a file by its address.
    n_train : int, optional
        Where the files are not divided but the set is: its first rows are the training part.

    Examples
    --------
    >>> raw = RawFiles("delimited", {"all": ("https://example.org/toy.data",)}, ("x", "target"))
    >>> build_frame(raw, lambda address: b"0.5,no\\n1.5,yes\\n")
         x target split
    0  0.5     no   all
    1  1.5    yes   all
    """
    parts = []
    for part, addresses in raw.addresses.items():
        frame = _FORMS[raw.form](raw, [unpacked(read(address), address) for address in addresses])
        parts.append(frame if "split" in frame else frame.assign(split=part))
    whole = pd.concat(parts, ignore_index=True)
    for name, values in raw.recode.items():
        whole[name] = [values.get(_as_written(value), value) for value in whole[name]]
    if raw.drop_unknown:
        whole = whole.dropna().reset_index(drop=True)
    if n_train is not None and set(raw.addresses) == {"all"} and "split" not in raw.names():
        whole["split"] = np.where(np.arange(len(whole)) < n_train, "train", "test")
    features = [name for name in whole.columns if name not in ("target", "split")]
    ordered = whole[[*features, "target", "split"]]
    return ordered.apply(lambda column: _narrowed(column, raw.dtype))


def _as_written(value: Any) -> str:
    """A value as the catalogue writes it: whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def unpacked(content: bytes, address: str) -> bytes:
    """The content of a file compressed by gzip or bzip2, or as it is: its first bytes tell."""
    opener = (
        gzip.open if content.startswith(b"\x1f\x8b") else bz2.open if content.startswith(b"BZh") else None
    )
    if opener is None:
        return content
    try:
        with opener(io.BytesIO(content)) as file:
            return _limited(file, address)
    except (OSError, EOFError) as error:
        raise DataError(f"{RawFiles.file_name(address)} cannot be unpacked ({error}).") from error


def _limited(file: IO[bytes] | gzip.GzipFile | bz2.BZ2File, address: str) -> bytes:
    content = file.read(MOST_BYTES_UNPACKED + 1)
    if len(content) > MOST_BYTES_UNPACKED:
        raise DataError(f"{RawFiles.file_name(address)} is larger than 1 GiB when unpacked.")
    return content


def _narrowed(column: pd.Series, dtype: Any) -> pd.Series:
    """The smallest type that holds the values: whole numbers as integers, text as categories."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return column.astype("category")
    if column.dtype == np.uint8:
        return column
    whole = pd.to_numeric(column, downcast="integer")
    if dtype is not None and pd.api.types.is_float_dtype(whole.dtype):
        return whole.astype(dtype)
    return whole


def _delimited(raw: RawFiles, contents: list[bytes]) -> pd.DataFrame:
    names = raw.names()
    numbered = [name if name != "-" else f"-{k}" for k, name in enumerate(names)]
    options = {"comment": raw.comment, "na_values": [] if raw.unknown is None else [raw.unknown]}
    frames = [_text_table(content, raw.separator, numbered, **options) for content in contents]
    whole = pd.concat(frames, ignore_index=True)
    return whole[[name for name in numbered if not name.startswith("-")]].apply(_numbers)


def _text_table(content: bytes, separator: str, names: list[str] | None = None, **more: Any) -> pd.DataFrame:
    """Lines of text as a table of text; :func:`_numbers` makes numbers of it, each correctly rounded."""
    blanks = separator == " "
    table: pd.DataFrame = pd.read_csv(
        io.BytesIO(content),
        header=None,
        names=names,
        index_col=False,
        sep=r"\s+" if blanks else separator,
        skipinitialspace=not blanks,
        keep_default_na=False,
        dtype=str,
        **more,
    )
    return table


def _numbers(column: pd.Series) -> pd.Series:
    """Text as numbers, where all of it is."""
    try:
        return column.astype("float64")
    except ValueError:
        return column


def _libsvm(raw: RawFiles, contents: list[bytes]) -> pd.DataFrame:
    from sklearn.datasets import load_svmlight_file

    names = [name for name in raw.names() if name != "target"]
    frames = []
    for content in contents:
        X, y = load_svmlight_file(io.BytesIO(content), n_features=len(names), zero_based=False)
        frames.append(pd.DataFrame(X.toarray(), columns=names).assign(target=y))
    return pd.concat(frames, ignore_index=True)


def _idx(raw: RawFiles, contents: list[bytes]) -> pd.DataFrame:
    """Two files: pictures, then their labels; a header of big-endian sizes, then one byte per value."""
    images, labels = (_idx_array(content) for content in contents)
    names = [name for name in raw.names() if name != "target"]
    return pd.DataFrame(images.reshape(len(images), -1), columns=names).assign(target=labels.astype(np.int8))


def _idx_array(content: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    zeros, kind, n_axes = struct.unpack(">HBB", content[:4])
    shape = struct.unpack(f">{n_axes}I", content[4 : 4 + 4 * n_axes])
    if zeros != 0 or kind != 8 or len(content) != 4 + 4 * n_axes + int(np.prod(shape)):
        raise DataError("one of the files is not in the idx format of MNIST, or is cut short.")
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _har(raw: RawFiles, contents: list[bytes]) -> pd.DataFrame:
    """The archive holds names, labels and numbers in files of their own, by part."""
    archive = zipfile.ZipFile(io.BytesIO(contents[0]))

    def table(path: str, names: list[str] | None = None) -> pd.DataFrame:
        with archive.open(f"{_HAR_FOLDER}/{path}") as file:
            return _text_table(_limited(file, path), " ", names)

    names = _told_apart(table("features.txt")[1])
    numbered = table("activity_labels.txt")
    activities = dict(zip(numbered[0], numbered[1]))
    frames = []
    for own in ("train", "test"):
        numbers = table(f"{own}/X_{own}.txt", names).apply(_numbers)
        labels = table(f"{own}/y_{own}.txt")[0].map(activities)
        frames.append(numbers.assign(target=labels.to_numpy(), split=own))
    return pd.concat(frames, ignore_index=True)


def _told_apart(names: Iterable[str]) -> list[str]:
    """Names that occur again get #2, #3.

    Examples
    --------
    >>> _told_apart(["a", "b", "a", "a"])
    ['a', 'b', 'a#2', 'a#3']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


_FORMS: dict[str, Callable[[RawFiles, list[bytes]], pd.DataFrame]] = {
    "delimited": _delimited,
    "libsvm": _libsvm,
    "idx": _idx,
    "har": _har,
}


def content_sha256(frame: pd.DataFrame) -> str:
    """SHA-256 of the column names and of the rows, sorted.

    A row is its numbers as float64 (missing: NaN) followed by its texts in UTF-8. Two frames with the same
    names, values and kinds of columns agree even if one has int8 where the other has float64, or another
    order of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> a = pd.DataFrame({"x": [1, 2], "target": ["no", "yes"]})
    >>> content_sha256(a) == content_sha256(a.iloc[::-1].astype({"x": "float32"}))
    True
    >>> content_sha256(a) == content_sha256(a.assign(x=[2, 1]))
    False
    """
    is_number = {name: pd.api.types.is_numeric_dtype(frame[name].dtype) for name in frame.columns}
    numbers = [name for name, yes in is_number.items() if yes]
    texts = [name for name, yes in is_number.items() if not yes]
    header = "\n".join(f"{name}\t{'number' if yes else 'text'}" for name, yes in is_number.items())
    digests: list[bytes] = []
    for start in range(0, len(frame), _ROWS_PER_BLOCK):
        block = frame.iloc[start : start + _ROWS_PER_BLOCK]
        digests += _row_digests(block[numbers], block[texts])
    whole = hashlib.sha256(header.encode() + b"\n")
    for digest in sorted(digests):
        whole.update(digest)
    return whole.hexdigest()


def _row_digests(numbers: pd.DataFrame, texts: pd.DataFrame) -> list[bytes]:
    matrix = numbers.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # -0.0 becomes 0.0
    matrix[np.isnan(matrix)] = np.nan  # of the many NaN, one
    matrix = np.ascontiguousarray(matrix, dtype="<f8")
    words = [
        [_MISSING if missing else str(value).encode() for value, missing in zip(column, column.isna())]
        for _, column in texts.items()
    ]
    cells = list(zip(*words)) if words else [()] * len(matrix)
    return [hashlib.sha256(row.tobytes() + b"\0".join(own)).digest() for row, own in zip(matrix, cells)]


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
        raise DataError(f"{entry.name} has no public files in the catalogue; there is nothing to get.")
    read: Reader = _downloader(entry, say) if folder is None else _folder_reader(entry, folder)
    frame = convert(entry, read)
    path = cache_folder() / f"{entry.name}.parquet"
    write_atomically(frame, path)
    return path


def at_hand(entry: DatasetInfo) -> str | None:
    """Where a data set is already, unless what the cache has is another copy of it (OpenML's, say)."""
    folder, cached = data_folder(), cache_folder() / f"{entry.name}.parquet"
    if folder is not None and (folder / f"{entry.name}.parquet").is_file():
        return "SUREWOOD_DATA"
    if not cached.is_file():
        return None
    same = entry.content is None or content_sha256(read_parquet(cached)) == entry.content
    return "cache" if same else None


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
        f"{listed_addresses(entry.raw)} into a folder and run `python -m papers get {entry.name} "
        "--from FOLDER`."
    )
