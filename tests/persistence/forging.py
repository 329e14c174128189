"""Forged model files: any member changed, the checksum right again."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

from surewood.persistence.archive import CARD, digest

Change = Callable[[str, bytes], bytes]


def forge(source: Path, target: Path, change: Change, compression: int = zipfile.ZIP_STORED) -> Path:
    """Copy a model file with changed members and the checksum that belongs to them."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", compression) as new:
        for entry in old.infolist():
            if entry.filename != CARD:
                new.writestr(entry.filename, change(entry.filename, old.read(entry)))
        card = json.loads(old.read(CARD))
    card["sha256"] = digest(target)
    with zipfile.ZipFile(target, "a") as new:
        new.writestr(CARD, json.dumps(card))
    return target


def in_schema(change: Callable[[dict], None]) -> Change:
    """A change of the description."""

    def apply(name: str, content: bytes) -> bytes:
        if name != "schema.json":
            return content
        schema = json.loads(content)
        change(schema)
        return json.dumps(schema).encode()

    return apply
