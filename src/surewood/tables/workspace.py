"""Room for large arrays: the memory that is free, and files for what a table larger than memory needs.

A :class:`Workspace` owns a temporary folder and hands out memory-mapped arrays. Space is asked for before
anything is written, and reserved before a page is touched, so a full disk is one sentence and never a crash.
The folder goes when the fit ends, by success or by failure. `alongside` makes an array of the same kind as
another one: in memory beside arrays in memory, in a file beside mapped ones. So engines need not know which
they work on.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._text import memory_text


class GrowingArray:
    """Parts one below the other; the first one tells how much room all of them will need.

    Pages that nobody writes cost no memory, so room is taken generously. Where it is not enough after all, a
    quarter more is taken and what is there is copied.

    Parameters
    ----------
    first_fraction : float
        What fraction of the whole the first part is, more or less.

    Examples
    --------
    >>> array = GrowingArray(0.5)
    >>> array.add(np.array([1, 2]))
    >>> array.add(np.array([3]))
    >>> array.joined()
    array([1, 2, 3])
    """

    def __init__(self, first_fraction: float) -> None:
        self._parts_expected = 1.12 / min(max(first_fraction, 1e-9), 1.0)
        self._room: NDArray[Any] | None = None
        self._filled = 0

    def add(self, part: NDArray[Any]) -> None:
        """Copy the next part."""
        end = self._filled + len(part)
        if self._room is None:
            self._room = _like(part, math.ceil(self._parts_expected * len(part)))
        elif end > len(self._room):
            larger = _like(part, end + end // 4)
            larger[: self._filled] = self._room[: self._filled]
            self._room = larger
        self._room[self._filled : end] = part
        self._filled = end

    def joined(self) -> NDArray[Any]:
        """All parts so far."""
        assert self._room is not None
        return self._room[: self._filled]


def _like(array: NDArray[Any], length: int) -> NDArray[Any]:
    return np.empty((length, *array.shape[1:]), dtype=array.dtype)


_PREFIX = "surewood-"


class NoSpaceError(OSError, ValueError):
    """The disk has no room for the files of a fit: something the user can mend."""


class Workspace:
    """A temporary folder for mapped arrays, made when the first one is asked for.

    Parameters
    ----------
    parent : str or Path, optional
        Where to make the folder; the system's folder for temporary files by default.

    Examples
    --------
    >>> workspace = Workspace()
    >>> codes = workspace.array((2, 3), np.uint8)
    >>> codes[:] = 7
    >>> beside = alongside(codes, (4,), np.float64)
    >>> workspace.close()  # the files are gone; pages that are mapped stay readable
    >>> int(codes.sum()), beside.tolist()
    (42, [0.0, 0.0, 0.0, 0.0])
    """

    def __init__(self, parent: str | Path | None = None) -> None:
        self.parent = str(tempfile.gettempdir() if parent is None else parent)
        self._folder: str | None = None
        self._finalizer: Any = None

    def require(self, n_bytes: int, purpose: str) -> None:
        """One sentence, before anything is written, when the disk has no room for `n_bytes`."""
        if not os.path.isdir(self.parent):
            raise ValueError(f"workdir={self.parent!r} is not a folder; make it first or name another one.")
        _require(self.parent, n_bytes, purpose)

    def array(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """A new array of zeros in a file of its own; the file goes with the array or with the folder."""
        if 0 in shape:  # an empty file cannot be mapped
            return np.zeros(shape, dtype=dtype)
        if self._folder is None:
            self.require(0, "a mapped array")
            self._folder = tempfile.mkdtemp(prefix=_PREFIX, dir=self.parent)
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return _new_map(self._folder, shape, dtype)

    def close(self) -> None:
        """Remove the folder."""
        if self._finalizer is not None:
            self._finalizer()
        self._folder = self._finalizer = None

    def __getstate__(self) -> dict[str, Any]:
        return {"parent": self.parent, "_folder": None, "_finalizer": None}


def alongside(array: NDArray[Any], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Zeros in memory, or in a file beside that of `array` when this is mapped by a :class:`Workspace`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import alongside
    >>> alongside(np.zeros(3), (2, 2), np.float32).shape
    (2, 2)
    """
    folder = _folder_of(array)
    return np.zeros(shape, dtype=dtype) if folder is None or 0 in shape else _new_map(folder, shape, dtype)


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array lives in a file of a :class:`Workspace` that is still open.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import is_mapped
    >>> is_mapped(np.zeros(3))
    False
    """
    return _folder_of(array) is not None


def _folder_of(array: Any) -> str | None:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            folder = os.path.dirname(str(array.filename or ""))
            ours = os.path.basename(folder).startswith(_PREFIX) and os.path.isdir(folder)
            return folder if ours else None
        array = array.base
    return None


def _new_map(folder: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    _require(folder, n_bytes, "a mapped array")
    handle, path = tempfile.mkstemp(suffix=".map", dir=folder)
    try:
        _reserve(handle, n_bytes)
        mapped = np.memmap(path, dtype=dtype, mode="r+", shape=shape)
    except BaseException as error:
        _remove(path)
        if isinstance(error, OSError):
            raise _no_space("a mapped array", n_bytes, folder) from error
        raise
    finally:
        os.close(handle)
    weakref.finalize(mapped, _remove, path)
    return np.asarray(mapped)  # a plain array whose base is the map: quicker to slice


def _reserve(handle: int, n_bytes: int) -> None:
    """Claim the blocks of the file: writing to a mapped page can then not run out of space."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, n_bytes)
    else:
        os.truncate(handle, n_bytes)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _require(folder: str, n_bytes: int, purpose: str) -> None:
    if shutil.disk_usage(folder).free < n_bytes:
        raise _no_space(purpose, n_bytes, folder)


def _no_space(purpose: str, n_bytes: int, folder: str) -> NoSpaceError:
    free = memory_text(shutil.disk_usage(folder).free)
    return NoSpaceError(
        f"{purpose} needs {memory_text(n_bytes)} of disk in {folder}, which has {free} free; "
        "make room or name another folder with ParquetTable(workdir=...)."
    )


def available_memory() -> int | None:
    """Bytes of memory at hand; None where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _page_cache()
    except (AttributeError, ValueError, OSError):
        return None


def _page_cache() -> int:
    """Bytes that the system would give back: on Linux, what it keeps of files."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    except (OSError, ValueError, IndexError):
        return 0
    return max(sizes.get("MemAvailable", 0) - sizes.get("MemFree", 0), 0)
