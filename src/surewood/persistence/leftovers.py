"""Files that are not yet whole: named after their process, removed with it, swept when it was killed.

A file is written as ``.NAME.PID.part`` beside its target and renamed when it is complete. The name goes away
with the block that writes it, or with the process where an interrupt ends that in the middle; what a kill -9
leaves behind is removed by the next process that writes to the same target.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["is_running", "made", "own", "partial", "remove", "sweep"]

_NAME = re.compile(r"\.(?P<target>.+)\.(?P<process>\d+)\.part\d*")
_owned: set[Path] = set()
_unfilled: list[Path] = []
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}


@contextmanager
def partial(target: Path, number: int | None = None) -> Iterator[Path]:
    """A name to write to, which goes away when the block ends; rename the file to keep it.

    Several names for one target differ by their number.
    """
    sweep(target)
    path = target.with_name(f".{target.name}.{os.getpid()}.part{'' if number is None else number}")
    try:
        with own(path):
            yield path
    except OSError as error:
        unnamed = error.filename is None and error.errno in _FULL  # a write knows no name
        if unnamed or str(error.filename) == str(path):  # the user knows the target only
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise


@contextmanager
def own(path: Path) -> Iterator[Path]:
    """A file or folder that goes away when the block, or the process, ends."""
    _owned.add(path)
    try:
        yield path
    finally:
        remove(path)
        _owned.discard(path)


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder and its parents; those that are still empty go away with the block or the process."""
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    _unfilled.extend(new)
    try:
        yield
    finally:
        for place in new:
            _unfilled.remove(place)
            _remove_if_empty(place)


def sweep(target: Path) -> None:
    """Remove what processes that are gone have left of this target."""
    if not target.parent.is_dir():
        return
    for path in target.parent.glob(".*.part*"):
        found = _NAME.fullmatch(path.name)
        if found and found["target"] == target.name and not is_running(int(found["process"])):
            remove(path)


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(NotADirectoryError):
            path.unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """Whether there is a process of this number.

    Examples
    --------
    >>> is_running(os.getpid())
    True
    """
    if sys.platform == "win32":  # os.kill(process, 0) is Ctrl-C there
        import ctypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(0x1000, False, process)  # PROCESS_QUERY_LIMITED_INFORMATION
        if handle:
            kernel.CloseHandle(handle)
        return bool(handle) or ctypes.get_last_error() == 5  # access denied: of another user
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True


@atexit.register
def _remove_all() -> None:
    for path in list(_owned):
        remove(path)
    for place in list(_unfilled):
        _remove_if_empty(place)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # not empty, or gone
        folder.rmdir()
