"""Random changes of model files and pickles: one array or one scalar is not what it was.

A changed file has a right checksum again. :mod:`tests.persistence.forgeries` lists changes by hand instead.
"""

from __future__ import annotations

import io
import json
import pickle
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_EXTREME = (0, 1, -1, 2, 255, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63))
_ODD_NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 2.0, 1e308, -1e308, 5e-324, 1e9)
_ODD_SCALARS = (
    -1, 0, 1, 2, 3, 7, 64, 10**6, 2**31, 2**63, -(2**63), 10**30, 0.5, -1.5, 1e308, np.nan, np.inf, None,
    True, False, "", "text", [], [1, 2], {},
)  # fmt: skip
KINDS = ("element", "element", "element", "all", "resize", "dtype", "shape", "shuffle")


def changed_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array with something wrong in it."""
    kind = str(rng.choice(KINDS))
    array = array.copy()
    if kind in ("element", "all") and array.size and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = _odd_value(array, rng)
        if kind == "all":
            array[...] = value
        else:
            array.reshape(-1)[rng.integers(array.size)] = value
        return array
    if kind == "resize":
        sides = [max(0, side + int(rng.choice([-1, 1, -side, side, 7]))) for side in array.shape]
        return np.resize(array, sides) if array.size else np.ones(sides or 3, dtype=array.dtype)
    if kind == "dtype" and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return array.astype(rng.choice(["<f4", "<f8", "<i4", "<i8", "<u2", "|u1", "|b1", "<c16", "<U3"]))
    if kind == "shape":
        return array.reshape(-1) if array.ndim > 1 else array[None]
    flat = array.reshape(-1)
    rng.shuffle(flat)
    return array


def _odd_value(array: np.ndarray, rng: np.random.Generator) -> Any:
    if array.dtype.kind == "f":
        return array.dtype.type(rng.choice(_ODD_NUMBERS))
    if array.dtype.kind == "b":
        return bool(rng.integers(2))
    if rng.random() < 0.4:
        neighbour = int(array.reshape(-1)[rng.integers(array.size)]) + int(rng.choice([-1, 1, 2]))
        return np.array(neighbour % (1 << 64), dtype=np.uint64).astype(array.dtype)
    value = _EXTREME[rng.integers(len(_EXTREME))]
    return np.array(value % (1 << 64), dtype=np.uint64).astype(array.dtype)


def places(schema: Any) -> list[dict[str, Any]]:
    """Nodes of a description that hold a scalar."""
    found, open_nodes = [], [schema]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, dict):
            if node.get("__loader__") == "JsonNode":
                found.append(node)
            open_nodes.extend(node.values())
        elif isinstance(node, list):
            open_nodes.extend(node)
    return found


def forged(source: Path, target: Path, rng: np.random.Generator) -> str:
    """Write a changed copy; returns what was changed."""
    from tests.persistence.forgeries import OWN
    from tests.persistence.forging import forge

    with zipfile.ZipFile(source) as archive:
        arrays = [name for name in archive.namelist() if name.endswith(".npy")]
        schema = json.loads(archive.read("schema.json"))
        scalars = places(schema)
        if arrays and rng.random() < 0.65:
            name = arrays[rng.integers(len(arrays))]
            before = np.load(io.BytesIO(archive.read(name)))
            after = changed_array(before, rng)
            stream = io.BytesIO()
            np.save(stream, after)
            members = {name: stream.getvalue()}
            what = f"array {_owner(schema, name)}: {before.dtype}{before.shape} -> {after.dtype}{after.shape}"
        else:
            node = scalars[rng.integers(len(scalars))]
            old = json.loads(node["content"])
            new = _ODD_SCALARS[rng.integers(len(_ODD_SCALARS))]
            if isinstance(old, int) and not isinstance(old, bool) and rng.random() < 0.3:
                new = old + int(rng.choice([-1, 1]))
            what = f"scalar {_owner(schema, node)}: {old!r} -> {new!r}"
            node |= {"content": json.dumps(new), "__id__": OWN}
            members = {"schema.json": json.dumps(schema).encode()}
    forge(source, target, lambda name, content: members.get(name, content))
    return what


def _owner(schema: Any, wanted: Any) -> str:
    """Where in the object a node or a file stands, for the report."""
    open_nodes = [(schema, schema["__class__"], "")]
    while open_nodes:
        node, owner, path = open_nodes.pop()
        if node is wanted or (isinstance(node, dict) and node.get("file") == wanted):
            return f"{owner}{path}"
        if isinstance(node, dict):
            if node.get("__loader__") == "ObjectNode":
                owner, path = node["__class__"], ""
            open_nodes += [
                (value, owner, path if key in ("content", "key_types") else f"{path}.{key}")
                for key, value in node.items()
            ]
        elif isinstance(node, list):
            open_nodes += [(value, owner, f"{path}[{k}]") for k, value in enumerate(node)]
    return "?"


class _ForgedPickle(pickle.Pickler):
    """Pickles a model with a change in one of its arrays, the `target`-th of numbers."""

    def __init__(self, file: io.BytesIO, target: int, rng: np.random.Generator) -> None:
        super().__init__(file, protocol=4)
        self.target, self.rng, self.met, self.what = target, rng, 0, "nothing"

    def reducer_override(self, value: Any) -> Any:
        if type(value) is not np.ndarray or value.dtype.kind not in "iufb":
            return NotImplemented
        self.met += 1
        if self.met != self.target + 1:
            return NotImplemented
        forged = changed_array(value, self.rng)
        self.what = f"{value.dtype}{value.shape} -> {forged.dtype}{forged.shape}"
        return forged.__reduce_ex__(4)


@cache
def _honest(path: Path) -> tuple[Any, int]:
    """The model of a file, and how many arrays of numbers it has."""
    import surewood

    model = surewood.load(path)
    counting = _ForgedPickle(io.BytesIO(), -1, np.random.default_rng(0))
    counting.dump(model)
    return model, counting.met


def forged_pickle(path: Path, rng: np.random.Generator) -> tuple[bytes, str]:
    """A pickle with a change in it, and what was changed."""
    model, n_arrays = _honest(path)
    stream, target = io.BytesIO(), int(rng.integers(max(n_arrays, 1)))
    forger = _ForgedPickle(stream, target, rng)
    forger.dump(model)
    return stream.getvalue(), f"pickled array {target}: {forger.what}"
