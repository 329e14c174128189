"""Where results are to be written: checked before the work, which would be lost otherwise."""

from __future__ import annotations

import os
from pathlib import Path

from surewood.workflow.errors import WorkflowError


def check_folder(folder: Path, argument: str = "out") -> None:
    """Refuse a folder that is a file, or that could not be made or written to."""
    asked = f"{argument}={folder}"
    if folder.exists() and not folder.is_dir():
        raise WorkflowError(f"{asked} is a file; name a folder.")
    _refuse_unwritable(folder, asked)


def check_file(path: Path, endings: tuple[str, ...], argument: str = "out") -> None:
    """Refuse a file with another extension, or that could not be written."""
    asked = f"{argument}={path}"
    if path.suffix.lower() not in endings:
        raise WorkflowError(f"{asked}: the name must end in {' or '.join(endings)}.")
    if path.is_dir():
        raise WorkflowError(f"{asked} is a folder; name a file.")
    _refuse_unwritable(path.parent, asked)


def _refuse_unwritable(folder: Path, asked: str) -> None:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise WorkflowError(f"{asked}: {place} is a file, not a folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise WorkflowError(f"{asked}: no permission to write in {place}.")
