"""Every kind of forgery: each array and each scalar of each saved class, changed in each way that could hurt.

A *place* is an attribute of a class, such as ``FlatForest.node_start``; it is forged in the smallest of some
model files that has it.
"""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.persistence.forging import forge

#: Ways to forge an array, by the kinds of its dtype.
ARRAYS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "first is -1": ("iuf", lambda a: _with(a, 0, -1)),
    "last is the largest": ("iu", lambda a: _with(a, -1, np.iinfo(a.dtype).max)),
    "NaN": ("f", lambda a: _with(a, 0, np.nan)),
    "huge": ("f", lambda a: np.full_like(a, np.finfo(a.dtype).max)),
    "reversed": ("iuf", lambda a: np.ascontiguousarray(a[::-1]) if a.ndim else a + 1),
    "shorter": ("iufbUO", lambda a: a[:-1] if a.ndim else a[None]),
    "longer": ("iufbU", lambda a: np.concatenate([a, a[-1:]]) if a.ndim else a[None]),
    "other type": ("iufbU", lambda a: a.astype("<c16" if a.dtype.kind in "iufb" else "|S9")),
}
#: Ways to forge a scalar, by the type of its value.
SCALARS: dict[str, tuple[tuple[type, ...], Any]] = {
    "-1": ((int, float), -1),
    "huge": ((int,), 2**62),
    "not a number": ((float,), float("nan")),
    "none": ((int, float, str, bool), None),
    "a word": ((int, float, bool, str), "word"),
    "a list": ((str, type(None)), [1, 2]),
}
#: A number of a part that no other has: parts of the same number are the same object to the reader.
OWN = 1
#: Classes that tell what a fit did; no prediction follows them.
_RECORDS = re.compile(r"(Record|Result|Evidence|Facts|Coverage|Promise|OutOfFold|OutOfBag|HeldOut\w*|Proof)$")
#: Classes that hold the parameters of a fit.
_PARAMETERS = re.compile(r"^(?!surewood\.certify).*(Classifier|CV|PolySVC|Scanner)$")


@dataclass(frozen=True)
class Forgery:
    """One place of one file, forged in one way."""

    model: int
    owner: str  # full name of the class
    attribute: str
    way: str
    members: dict[str, bytes]

    @property
    def kind(self) -> str:
        return f"{self.owner}.{self.attribute}: {self.way}"


def _with(array: np.ndarray, at: int, value: Any) -> np.ndarray:
    forged = array.copy()
    wide = value % (1 << 64) if array.dtype.kind in "iu" else value
    forged.reshape(-1)[at] = np.array(wide).astype(array.dtype)
    return forged


def forgeries(paths: list[Path], thorough: bool) -> Iterator[Forgery]:
    """All kinds of forgery of some model files; one kind for each parameter and record unless `thorough`."""
    met: set[tuple[str, str, str]] = set()
    for number, path in sorted(enumerate(paths), key=lambda one: one[1].stat().st_size):
        with zipfile.ZipFile(path) as archive:
            schema = json.loads(archive.read("schema.json"))
            for owner, attribute, node in _places(schema):
                for way, members in _ways(archive, schema, node, met, (owner, attribute)):
                    yield Forgery(number, owner, attribute, way, members())
                    if not thorough and (_RECORDS.search(owner) or _PARAMETERS.search(owner)):
                        met |= {(owner, attribute, other) for other in (*ARRAYS, *SCALARS)}


def _places(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(class, attribute, node) of every array and scalar of our classes, and of linear models within."""
    open_nodes: list[tuple[Any, str, str]] = [(schema, "", "")]
    while open_nodes:
        node, owner, attribute = open_nodes.pop()
        if isinstance(node, list):
            open_nodes += [(one, owner, attribute) for one in node]
        if not isinstance(node, dict):
            continue
        loader = node.get("__loader__")
        if loader == "JsonNode" or (loader == "NdArrayNode" and node.get("type") == "numpy"):
            if owner.startswith("surewood.") or re.search(r"\.(coef|intercept)_$", f".{attribute}"):
                yield owner, attribute, node
            continue
        ours = str(node.get("__module__")).startswith("surewood.")
        if loader == "ObjectNode" or (ours and loader == "TupleNode"):
            owner, attribute = f"{node['__module__']}.{node['__class__']}", ""
        content = node.get("content")
        own = content.get("content") if loader == "ObjectNode" and isinstance(content, dict) else None
        if ours and loader == "TupleNode":
            open_nodes += [(one, owner, f"{k}") for k, one in enumerate(content)]
        elif isinstance(own, dict):
            open_nodes += [(one, owner, name) for name, one in own.items()]
        else:
            open_nodes.append((content, owner, attribute))
            if isinstance(content, dict) and "__loader__" not in content:
                open_nodes += [(one, owner, attribute) for one in content.values()]


def _ways(
    archive: zipfile.ZipFile,
    schema: dict[str, Any],
    node: dict[str, Any],
    met: set[tuple[str, str, str]],
    place: tuple[str, str],
) -> Iterator[tuple[str, Callable[[], dict[str, bytes]]]]:
    """The ways to forge a place that have not been met yet, and the members of each forged file."""
    array = np.load(io.BytesIO(archive.read(node["file"]))) if "file" in node else None
    before = None if "file" in node else json.loads(node["content"])
    for way, (kinds, change) in (SCALARS if array is None else ARRAYS).items():
        if (*place, way) in met:
            continue
        if array is not None and array.size and array.dtype.kind in kinds:
            met.add((*place, way))
            yield way, partial(_forged_array, node["file"], array, change)
        elif array is None and type(before) in kinds:
            met.add((*place, way))
            yield way, partial(_forged_scalar, schema, node, change)


def _forged_array(file: str, array: np.ndarray, change: Any) -> dict[str, bytes]:
    stream = io.BytesIO()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.save(stream, change(array))
    return {file: stream.getvalue()}


def _forged_scalar(schema: dict[str, Any], node: dict[str, Any], value: Any) -> dict[str, bytes]:
    forged = {"content": json.dumps(value), "__id__": OWN}
    before = {name: node[name] for name in forged}
    node.update(forged)
    content = json.dumps(schema).encode()
    node.update(before)
    return {"schema.json": content}


def written(source: Path, target: Path, forgery: Forgery) -> Path:
    """The forged file."""
    return forge(source, target, lambda name, content: forgery.members.get(name, content))
