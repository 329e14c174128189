"""A folder of results that belong together: written as one set, by one run at a time.

`reserved` takes the folder for a run; a second run into it is refused while the first is at work. `whole_set`
gives a temporary folder inside it; its files replace the old ones together when all are written. A run that
fails or is killed leaves the old set as it was.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from surewood.persistence.leftovers import is_running, made, own, partial, remove
from surewood.workflow.errors import WorkflowError

__all__ = ["LOCK", "reserved", "whole_set"]

LOCK = ".surewood.lock"


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Inside, the folder belongs to this run; one that stays empty is removed again."""
    lock = folder / LOCK
    with made(folder):
        _take(lock, folder)
        with own(lock):
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
    """A folder to write into; when the block ends without an error its files move to `folder` together."""
    with partial(folder / "set") as new:
        new.mkdir()
        yield new
        _move(new, folder)


def _move(new: Path, folder: Path) -> None:
    """Replace the old files, which come back if one of them cannot be replaced."""
    old = new / "old"
    files = sorted(path for path in new.iterdir() if path.is_file())
    old.mkdir()
    done: list[str] = []
    try:
        for file in files:
            done.append(file.name)
            if (folder / file.name).exists():
                os.rename(folder / file.name, old / file.name)
            os.rename(file, folder / file.name)
    except BaseException:
        for name in done:
            if (old / name).exists():
                os.replace(old / name, folder / name)
            elif not (new / name).exists():
                (folder / name).unlink(missing_ok=True)
        raise
