"""Which types a model file may hold: looked up in lists, never imported because a file names them.

Every package whose objects are saved lists their full names as ``SAVED_TYPES``. A name in a file is compared
with the lists of the packages that it could belong to; those packages are known here or in the public list
of
:mod:`surewood`, not taken from the file.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import surewood
from surewood.persistence.errors import ModelFileError

#: Packages below the families whose objects are parts of models.
_PARTS = frozenset(
    {"surewood.bounds", "surewood.estimators", "surewood.svm", "surewood.tables", "surewood.trees"}
)
#: Types of scikit-learn that skops leaves to the reader's judgement and that only hold arrays.
_ARRAY_HOLDERS = frozenset({"sklearn.tree._tree.Tree"})
_SCHEMA = "schema.json"


def is_known(name: str) -> bool:
    """Whether a full name is in one of the lists.

    Examples
    --------
    >>> is_known("surewood.trees.flat_tree.FlatForest"), is_known("surewood.cli.__main__.main"), is_known("os.system")
    (True, False, False)
    """
    if name in _ARRAY_HOLDERS:
        return True
    homes = {home for home in surewood._HOME.values() if home != "surewood"} | _PARTS
    return any(
        name in getattr(import_module(home), "SAVED_TYPES", ())
        for home in homes
        if name.startswith(f"{home}.")
    )


def refuse_unknown(path: Path, trusted: frozenset[str], schema: bytes) -> None:
    """Refuse a description that names a type of this package that is in no list."""
    try:
        names = set(_names(json.loads(schema)))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the model of {path} cannot be rebuilt: {error}") from error
    ours = {name for name in names if name.split(".")[0] == "surewood"} - trusted
    unknown = sorted(name for name in ours if not is_known(name))
    if unknown:
        raise ModelFileError(untrusted(path, unknown))


def untrusted(path: Path, unknown: list[str]) -> str:
    """The sentence for types that are in no list."""
    return (
        f"{path} holds types that are not trusted: {', '.join(sorted(unknown))}. If you know them, name them in "
        "`trusted`."
    )


def read_schema(source: Path | BinaryIO) -> bytes:
    """The description of the object in a model file."""
    with zipfile.ZipFile(source) as archive:
        return archive.read(_SCHEMA)


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _names(item)
    elif isinstance(node, dict):
        if isinstance(node.get("__class__"), str) and isinstance(node.get("__module__"), str):
            yield f"{node['__module__']}.{node['__class__']}"
        for value in node.values():
            yield from _names(value)
