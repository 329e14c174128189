"""From the published files of a data set to our frame: features, ``target``, ``split``.

Nothing is scaled, encoded or resampled: numbers stay numbers, categories stay text, and a missing value is
missing. What differs from set to set is in ``catalogue.toml``, see
:class:`~surewood.datasets.raw_files.RawFiles`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from typing import IO, Any

import numpy as np
import pandas as pd

from surewood.datasets.raw_files import RawFiles
from surewood.tables.data_error import DataError

#: Bytes of a file by its address.
Reader = Callable[[str], bytes]

MOST_BYTES_UNPACKED = 2**30
_HAR_FOLDER = "UCI HAR Dataset"


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
