"""Model files taken apart and put together again with any node, array or declared size changed.

Written from the description of the format, not with the code that writes it: checksums are right again.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PREFIX = struct.Struct("<8sIIQQQ32s32s")
START, ALIGNMENT = 128, 64

Change = Callable[[dict[str, Any], list[np.ndarray]], None]


def taken_apart(path: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Header and arrays of a file that was saved with ``compress=False``."""
    content = path.read_bytes()
    _, _, _, header_at, stored, _, _, _ = PREFIX.unpack(content[: PREFIX.size])
    header = json.loads(content[header_at : header_at + stored])
    arrays, start = [], START
    for dtype, shape, order, length in header["arrays"]:
        flat = np.frombuffer(content[start : start + length], dtype=dtype)
        arrays.append(flat.reshape(shape, order=order))
        start += length + -length % ALIGNMENT
    return header, arrays


def put_together(
    target: Path,
    header: dict[str, Any] | bytes,
    arrays: list[np.ndarray],
    compress: bool = False,
    **prefix: Any,
) -> Path:
    """Write a file; the header may be any text, and fields of the prefix may be other than they are."""
    blocks, table = [], []
    for array in arrays:
        order = "C" if array.flags.c_contiguous else "F"
        raw = array.tobytes(order=order)
        block = zlib.compress(raw) if compress and len(zlib.compress(raw)) < len(raw) else raw
        table.append([array.dtype.str, list(array.shape), order, len(block)])
        blocks.append(block if compress else block + bytes(-len(block) % ALIGNMENT))
    text = header if isinstance(header, bytes) else json.dumps({"arrays": table, **header}).encode()
    stored = zlib.compress(text) if compress else text
    body = b"".join(blocks)
    fields = {"format": 3, "compressed": int(compress), "at": START + len(body), "stored": len(stored)}
    fields |= {"length": len(text)} | prefix
    start = PREFIX.pack(b"surewood", *fields.values(), b"", b"")
    digest = hashlib.sha256(body + stored + start[:40]).digest()
    target.write_bytes(
        PREFIX.pack(b"surewood", *fields.values(), digest, b"").ljust(START, b"\0") + body + stored
    )
    return target


def forge(source: Path, target: Path, change: Change, compress: bool = False) -> Path:
    """Copy a file with its header and arrays changed; declared sizes are right unless `change` sets them."""
    header, arrays = taken_apart(source)
    del header["arrays"]
    change(header, arrays)
    return put_together(target, header, arrays, compress)


def places(node: Any, owner: str = "", attribute: str = "") -> Iterator[tuple[str, str, Any, Any]]:
    """(class, attribute, container, key) of every node: ``container[key]`` is the node."""
    if isinstance(node, list):
        for k, entry in enumerate(node):
            yield owner, attribute, node, k
            yield from places(entry, owner, attribute)
    elif isinstance(node, dict):
        ((kind, content),) = node.items()
        if kind == "object":
            owner, state = content
            for name, entry in state.items() if isinstance(state, dict) else enumerate(state):
                yield owner, str(name), state, name
                yield from places(entry, owner, str(name))
        elif kind == "dict":
            for pair in content:
                yield owner, attribute, pair, 1
                yield from places(pair[1], owner, attribute)
        elif isinstance(content, list):
            yield from places(content, owner, attribute)


def at(header: dict[str, Any], owner: str, attribute: str) -> tuple[Any, Any]:
    """Container and key of an attribute of the first object of this class."""
    for cls, name, container, key in places(header["tree"]):
        if (cls.rpartition(".")[2], name) == (owner, attribute) and key == attribute:
            return container, key
    raise LookupError(f"{owner}.{attribute}")


def with_attribute(owner: str, attribute: str, value: Any) -> Change:
    """Another node for an attribute; a function changes its array, for this attribute alone."""

    def change(header: dict[str, Any], arrays: list[np.ndarray]) -> None:
        container, key = at(header, owner, attribute)
        if callable(value):
            arrays.append(value(arrays[container[key]["array"]]))
            container[key] = {"array": len(arrays) - 1}
        else:
            container[key] = value

    return change
