"""A folder of results that belong together: written as one set, by one run at a time.

`reserved` takes the folder for a run; a second run into it is refused while the first is at work. `whole_set`
gives a temporary folder inside it. When all files are written one rename makes them the set that counts, and
`finish_set` moves them over the old ones. A run that fails or is killed before that rename leaves the old set
as it was; what one that is killed later has not moved, the next command that reads or writes the folder does.
The folder itself stays the same: it may be mounted, be where a terminal is, and hold files of its owner.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from surewood.persistence.leftovers import is_running, made, own, partial, remove
from surewood.workflow.errors import WorkflowError

__all__ = ["LOCK", "finish_set", "reserved", "whole_set"]

LOCK = ".surewood.lock"
_COMPLETE = ".surewood.set"


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Inside, the folder belongs to this run; one that stays empty is removed again."""
    lock = folder / LOCK
    with made(folder):
        _take(lock, folder)
        with own(lock):
            finish_set(folder)
            yield


def _take(lock: Path, folder: Path) -> None:
    for _ in range(2):
        try:
            handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            _refuse_if_taken(lock, folder)
            remove(lock)
            continue
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {socket.gethostname()}")
        return
    raise WorkflowError(f"out={folder}: another run has just begun to write there.")


def _refuse_if_taken(lock: Path, folder: Path) -> None:
    """Refuse a folder that a living process holds; one of another host counts as living."""
    try:
        process, _, host = lock.read_text(encoding="utf-8").partition(" ")
        number = int(process)
    except (OSError, ValueError):
        return  # gone meanwhile, or cut short by a kill
    if host != socket.gethostname():
        raise WorkflowError(
            f"out={folder}: a run on {host or 'another host'} (process {number}) writes there; if it is "
            f"gone, remove {lock}."
        )
    if is_running(number):
        raise WorkflowError(
            f"out={folder}: another run (process {number}) writes there; wait or name another."
        )


@contextmanager
def whole_set(folder: Path) -> Iterator[Path]:
    """A folder to write into; when the block ends without an error its files replace those of `folder`."""
    with partial(folder / "set") as new:
        new.mkdir()
        yield new
        os.rename(new, folder / _COMPLETE)
    finish_set(folder)


def finish_set(folder: Path) -> None:
    """Move the files of a complete set to their places; another process may be doing the same."""
    complete = folder / _COMPLETE
    if not complete.is_dir():
        return
    with suppress(FileNotFoundError):
        for file in sorted(complete.iterdir()):
            with suppress(FileNotFoundError):
                os.replace(file, folder / file.name)
        complete.rmdir()
