"""Where a command is asked to write: looked at before the work, which would be lost otherwise."""

from __future__ import annotations

import os
from pathlib import Path

from surewood.cli.mistakes import Mistake


def check_folder(folder: Path, asked: str) -> None:
    """Refuse a folder that is a file, or that could not be made or written to; `asked` names the option."""
    if folder.exists() and not folder.is_dir():
        raise Mistake(f"{asked} is a file; name a folder.")
    _refuse_unwritable(folder, asked)


def check_file(path: Path, asked: str, endings: tuple[str, ...]) -> None:
    """Refuse a file whose name has none of the endings, or that could not be written."""
    if path.suffix.lower() not in endings:
        raise Mistake(f"{asked}: the name must end in {' or '.join(endings)}.")
    if path.is_dir():
        raise Mistake(f"{asked} is a folder; name a file.")
    _refuse_unwritable(path.parent, asked)


def _refuse_unwritable(folder: Path, asked: str) -> None:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise Mistake(f"{asked}: {place} is a file, not a folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise Mistake(f"{asked}: no permission to write in {place}.")
