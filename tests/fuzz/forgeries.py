"""Forged model files: random changes of any node or array, and a list of changes of every attribute.

A forged file has right sizes and a right checksum again, unless it is the sizes that were changed.
"""

from __future__ import annotations

import copy
import io
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.persistence.forging import places, put_together, taken_apart

_EXTREME = (0, 1, -1, 2, 255, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63))
_ODD_NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 2.0, 1e308, -1e308, 5e-324, 1e9)
_ODD_NODES = (
    -1, 0, 1, 2, 3, 7, 64, 10**6, 2**31, 2**63, -(2**63), 10**30, 0.5, -1.5, 1e308, np.nan, np.inf, None,
    True, False, "", "text", [], [1, 2], {}, {"tuple": []}, {"dict": []}, {"dict": [["a", 1], [3, None]]},
    {"labels": []}, {"labels": ["a", None]}, {"dtype": "<f8"}, {"type": "<f8"}, {"set": [1]},
    {"slice": [None, 2**62, None]}, {"object": ["os.system", {}]},
)  # fmt: skip
_ARRAY_CHANGES = ("element", "element", "element", "all", "resize", "dtype", "shape", "shuffle")


def changed_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array with something wrong in it."""
    change = str(rng.choice(_ARRAY_CHANGES))
    array = array.copy()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if change in ("element", "all") and array.size and array.dtype.kind in "iufb":
            value = _odd_value(array, rng)
            if change == "all":
                array[...] = value
            else:
                array.reshape(-1)[rng.integers(array.size)] = value
            return array
        if change == "resize":
            sides = [max(0, side + int(rng.choice([-1, 1, -side, side, 7]))) for side in array.shape]
            return np.resize(array, sides) if array.size else np.ones(sides or 3, dtype=array.dtype)
        if change == "dtype" and array.dtype.kind in "iufb":
            return array.astype(rng.choice(["<f4", "<f8", "<i4", "<i8", "<u2", "|u1", "|b1", "<c16", "<U3"]))
    if change == "shape":
        return array.reshape(-1) if array.ndim > 1 else array[None]
    flat = array.reshape(-1)
    rng.shuffle(flat)
    return array


def _odd_value(array: np.ndarray, rng: np.random.Generator) -> Any:
    if array.dtype.kind == "f":
        return array.dtype.type(rng.choice(_ODD_NUMBERS))
    if array.dtype.kind == "b":
        return bool(rng.integers(2))
    value = _EXTREME[rng.integers(len(_EXTREME))]
    if rng.random() < 0.4:
        value = int(array.reshape(-1)[rng.integers(array.size)]) + int(rng.choice([-1, 1, 2]))
    return np.array(value % (1 << 64), dtype=np.uint64).astype(array.dtype)


@cache
def _parts(source: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    return taken_apart(source)


def forged(source: Path, target: Path, rng: np.random.Generator) -> str:
    """Write a changed copy; returns what was changed."""
    header, arrays = copy.deepcopy(_parts(source)[0]), list(_parts(source)[1])
    tree, table = header["tree"], header.pop("arrays")
    spots = list(places(tree))
    owner, attribute, container, key = spots[rng.integers(len(spots))]
    change = str(
        rng.choice(
            ["array", "value", "transplant", "class", "rename", "repeat", "wrap", "sizes", "text"],
            p=[0.35, 0.25, 0.12, 0.06, 0.06, 0.05, 0.03, 0.05, 0.03],
        )
    )
    what = f"{change} {owner.rpartition('.')[2]}.{attribute}"
    if change == "array":
        number = int(rng.integers(len(arrays)))
        before = arrays[number]
        arrays[number] = after = changed_array(before, rng)
        return _write(
            target,
            header,
            arrays,
            f"array {number}: {before.dtype}{before.shape} -> {after.dtype}{after.shape}",
        )
    if change == "value":
        before, after = container[key], _ODD_NODES[rng.integers(len(_ODD_NODES))]
        if type(before) is int and rng.random() < 0.3:
            after = before + int(rng.choice([-1, 1]))
        container[key] = after
        return _write(target, header, arrays, f"{what}: {str(before)[:60]} -> {after!r}")
    if change == "transplant":
        _, _, other, its_key = spots[rng.integers(len(spots))]
        container[key] = copy.deepcopy(other[its_key])
    elif change == "class":
        objects = [place[2][place[3]]["object"] for place in spots if _is_object(place[2][place[3]])]
        objects.append(tree["object"])
        changed = objects[rng.integers(len(objects))]
        changed[0] = objects[rng.integers(len(objects))][0]
        what = f"class -> {changed[0]}"
    elif change == "rename" and isinstance(container, dict):
        node = container.pop(key)
        if rng.random() < 0.5:
            container[str(rng.choice(["predict_proba", "__class__", "classes_", "x", "__dict__"]))] = node
    elif change == "repeat":
        container[key] = [container[key]] * int(rng.choice([2, 100, 20_000]))
    elif change == "sizes":
        entry = table[rng.integers(len(table))]
        field = int(rng.integers(4))
        entry[field] = [("|O", "<f8", "<U9"), ([], [2**40], [-1, 3]), ("F", "C", 3), (0, 7, 2**63)][field][
            rng.integers(3)
        ]
        header["arrays"] = table
    elif change == "text":
        return _write(target, _damaged(header | {"arrays": table}, rng), arrays, "text of the header")
    else:
        container[key] = {
            str(rng.choice(["tuple", "labels", "dict", "same", "array", "scalar"])): container[key]
        }
    return _write(target, header, arrays, what)


def _is_object(node: Any) -> bool:
    return isinstance(node, dict) and "object" in node


def _damaged(header: dict[str, Any], rng: np.random.Generator) -> bytes:
    import json

    text = bytearray(json.dumps(header).encode())
    for place in rng.integers(0, len(text), 3):
        text[place] = int(rng.choice(bytearray(b'0123456789[]{},:"-eE.')))
    return bytes(text)


def _write(target: Path, header: Any, arrays: list[np.ndarray], what: str) -> str:
    put_together(target, header, arrays)
    return what


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


#: Listed ways to forge an array, by the kinds of its dtype.
ARRAYS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "first is -1": ("iuf", lambda a: _with(a, 0, -1)),
    "last is the largest": ("iu", lambda a: _with(a, -1, np.iinfo(a.dtype).max)),
    "NaN": ("f", lambda a: _with(a, 0, np.nan)),
    "huge": ("f", lambda a: np.full_like(a, np.finfo(a.dtype).max)),
    "reversed": ("iuf", lambda a: np.ascontiguousarray(a[::-1]) if a.ndim else a + 1),
    "shorter": ("iufbU", lambda a: a[:-1] if a.ndim else a[None]),
    "longer": ("iufbU", lambda a: np.concatenate([a, a[-1:]]) if a.ndim else a[None]),
    "other type": ("iufbU", lambda a: a.astype("<c16" if a.dtype.kind in "iufb" else "|S9")),
}
#: Listed ways to forge a scalar, by the type of its value.
SCALARS: dict[str, tuple[tuple[type, ...], Any]] = {
    "-1": ((int, float), -1),
    "huge": ((int,), 2**62),
    "not a number": ((float,), float("nan")),
    "none": ((int, float, str, bool), None),
    "a word": ((int, float, bool, str), "word"),
    "a list": ((str, type(None)), [1, 2]),
}
#: Classes that tell what a fit did; no prediction follows them.
_RECORDS = re.compile(r"(Record|Result|Evidence|Facts|Coverage|Promise|OutOfFold|OutOfBag|HeldOut\w*|Proof)$")
#: Classes that hold the parameters of a fit.
_PARAMETERS = re.compile(r"^(?!surewood\.certify).*(Classifier|CV|PolySVC|Scanner)$")


def _with(array: np.ndarray, at: int, value: Any) -> np.ndarray:
    forged = array.copy()
    wide = value % (1 << 64) if array.dtype.kind in "iu" else value
    forged.reshape(-1)[at] = np.array(wide).astype(array.dtype)
    return forged


def listed_forgeries(
    paths: list[Path], thorough: bool, target: Path, first: int, last: int
) -> Iterator[tuple[int, int, str]]:
    """(case, file, what) of every attribute forged in every listed way, in the smallest file that has it.

    Cases from `first` to `last` are written to `target`. One way for each parameter and record unless
    `thorough`.
    """
    met: set[tuple[str, str, str]] = set()
    case = 0
    for number, path in sorted(enumerate(paths), key=lambda numbered: numbered[1].stat().st_size):
        header, arrays = taken_apart(path)
        del header["arrays"]
        for owner, attribute, container, key in list(places(header["tree"])):
            node = container[key]
            ours = owner.startswith("surewood.") or attribute in ("coef_", "intercept_")
            is_array = isinstance(node, dict) and "array" in node
            if not ours or not (is_array or node is None or isinstance(node, bool | int | float | str)):
                continue
            array = arrays[node["array"]] if is_array else None
            for way, (kinds, change) in (ARRAYS if is_array else SCALARS).items():
                applies = (
                    array.size and array.dtype.kind in kinds if array is not None else type(node) in kinds
                )
                if (owner, attribute, way) in met or not applies:
                    continue
                met.add((owner, attribute, way))
                if first <= case < last:
                    added = []
                    if array is not None:
                        with np.errstate(all="ignore"), warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            added = [change(array)]
                    container[key] = {"array": len(arrays)} if added else change
                    put_together(target, header, arrays + added)
                    container[key] = node
                    yield case, number, f"{owner}.{attribute}: {way}"
                case += 1
                if not thorough and (_RECORDS.search(owner) or _PARAMETERS.search(owner)):
                    met |= {(owner, attribute, other) for other in (*ARRAYS, *SCALARS)}
