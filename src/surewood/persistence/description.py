"""The description in a model file (skops' schema.json), checked before skops follows it.

Names of types are compared with the lists of :mod:`~surewood.persistence.known_types`. Two forms that no
writer produces are refused, because following them would take for ever or fill the memory: objects that refer
to each other so that a small text stands for a huge object, and one array that is read many times.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

from surewood.persistence.errors import ModelFileError
from surewood.persistence.known_types import UNCHECKED, is_known

SCHEMA = "schema.json"


def read_schema(source: Path | BinaryIO) -> bytes:
    """The description of the object in a model file."""
    with zipfile.ZipFile(source) as archive:
        return archive.read(SCHEMA)


def check_description(path: Path, trusted: frozenset[str], schema: bytes) -> list[str]:
    """Refuse a description that names a type of this package that is in no list, or that never ends.

    Returns the names of types that skops may follow: those in a list, of this package and of public families
    elsewhere, and `trusted` ones.
    """
    walk = _Walk()
    try:
        written, followed = walk.count(json.loads(schema))
    except (ValueError, TypeError, RecursionError) as error:
        raise ModelFileError(f"the model of {path} cannot be rebuilt: {error}") from error
    ours = {name for name in walk.names if name.split(".")[0] == "surewood"} - trusted
    unknown = sorted(name for name in ours if not is_known(name)) + sorted(walk.names & UNCHECKED - trusted)
    if unknown:
        raise ModelFileError(untrusted(path, unknown))
    if followed > written or walk.read_twice:
        raise ModelFileError(
            f"the model of {path} cannot be rebuilt: its parts refer to each other endlessly."
        )
    return sorted({name for name in walk.names if is_known(name)} | trusted)


def names_in(schema: bytes) -> set[str]:
    """Full names of all types in a description."""
    walk = _Walk()
    walk.count(json.loads(schema))
    return walk.names


def untrusted(path: Path, unknown: list[str]) -> str:
    """The sentence for types that are in no list."""
    shown = ", ".join(sorted(unknown))
    return f"{path} holds types that are not trusted: {shown}. If you know them, name them in `trusted`."


class _Walk:
    """One pass over a description: names of types, sizes, files.

    skops replaces a part whose number it has met by that part, whatever text follows. In a file that skops
    wrote the text is the same again, so what is followed is never more than what is written.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.read_twice = False
        self._sizes: dict[Any, int] = {}
        self._files: set[str] = set()

    def count(self, node: Any) -> tuple[int, int]:
        """Parts written below a node, and parts that skops would follow."""
        if isinstance(node, list):
            return self._sum(node)
        if not isinstance(node, dict):
            return 1, 1
        module, kind, number = node.get("__module__"), node.get("__class__"), node.get("__id__")
        if isinstance(module, str) and isinstance(kind, str):
            self.names.add(f"{module}.{kind}")
        is_part = "__loader__" in node
        met = is_part and number is not None and number in self._sizes
        if is_part and number is not None and not met:
            self._sizes[number] = 1
        if is_part and not met and isinstance(node.get("file"), str):
            self.read_twice |= node["file"] in self._files
            self._files.add(node["file"])
        written, followed = self._sum(node.values())
        if met:
            return written, self._sizes[number]
        if is_part and number is not None:
            self._sizes[number] = followed
        return written, followed

    def _sum(self, nodes: Any) -> tuple[int, int]:
        written = followed = 1
        for node in nodes:
            below = self.count(node)
            written += below[0]
            followed += below[1]
        return written, followed
