"""Arrays of a model file mapped from disk instead of read: large models open at once and share memory.

An uncompressed model file holds its arrays byte by byte. :func:`align` moves every member to a multiple of 64
bytes (padding in the member's extra field, as Android's zipalign does), which is what processors and mapped
arrays like; inside :func:`mapped_from` skops rebuilds objects with mapped arrays in the place of read ones.
Small arrays, and those that are compressed or not aligned, are read as ever.
"""

from __future__ import annotations

import os
import struct
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skops.io import _audit
from skops.io._numpy import NdArrayNode

_ALIGNMENT = 64
_PADDING = 0xD935  # the extra field of zipalign
_LOCAL_HEADER = 30  # bytes before the name of a member
_SMALLEST = 1 << 12  # bytes below which an array is read
_lock = threading.Lock()  # skops has one table of node types for all threads


def align(source: Path, target: Path) -> None:
    """Copy an archive without compression, each member's data at a multiple of 64 bytes."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            info = zipfile.ZipInfo(entry.filename, entry.date_time)
            start = new.start_dir + _LOCAL_HEADER + len(entry.filename.encode()) + 4
            padding = -start % _ALIGNMENT
            info.extra = struct.pack("<HH", _PADDING, padding) + bytes(padding)
            new.writestr(info, old.read(entry), zipfile.ZIP_STORED)


@contextmanager
def mapped_from(path: Path, mode: str) -> Iterator[None]:
    """While skops works on this file, large arrays are mapped: "r" read-only, "c" changes stay in memory.

    Other threads may load other files meanwhile; theirs are read.
    """
    here = threading.get_ident()

    class MappedArrayNode(NdArrayNode):  # type: ignore[misc]
        """An array that is mapped when it is constructed."""

        def __init__(self, state: dict[str, Any], load_context: Any, trusted: Any = None) -> None:
            self.mapped = None
            ours = threading.get_ident() == here and state["type"] == "numpy"
            if ours and (state["__module__"], state["__class__"]) == ("numpy", "ndarray"):
                self.mapped = map_member(path, load_context.src.getinfo(state["file"]), mode)
            if self.mapped is None:
                super().__init__(state, load_context, trusted)
                return
            _audit.Node.__init__(self, state, load_context, trusted)
            self.type = state["type"]
            self.trusted = self._get_trusted(trusted, [np.ndarray])

        def _construct(self) -> Any:
            return super()._construct() if self.mapped is None else self.mapped

    with _lock:
        keys = [key for key, node in _audit.NODE_TYPE_MAPPING.items() if node is NdArrayNode]
        try:
            _audit.NODE_TYPE_MAPPING.update(dict.fromkeys(keys, MappedArrayNode))
            yield
        finally:
            _audit.NODE_TYPE_MAPPING.update(dict.fromkeys(keys, NdArrayNode))


def map_member(path: Path, info: zipfile.ZipInfo, mode: str) -> NDArray[Any] | None:
    """A member in NumPy's format as an array on disk; None where it has to be read."""
    if info.compress_type != zipfile.ZIP_STORED or info.file_size < _SMALLEST:
        return None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        name, extra = struct.unpack("<HH", header[26:30])
        start = file.seek(info.header_offset + _LOCAL_HEADER + name + extra)
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read(file)
        offset = file.tell()
    aligned = start % _ALIGNMENT == 0 and offset % dtype.alignment == 0
    fits = offset + dtype.itemsize * int(np.prod(shape)) <= os.path.getsize(path)
    if dtype.hasobject or not (aligned and fits) or 0 in shape:
        return None
    options: dict[str, Any] = {"mode": mode, "order": "F" if fortran else "C"}
    mapped: Any = np.memmap(path, dtype=dtype, offset=offset, shape=shape, **options)
    return np.asarray(mapped)  # a plain array, still mapped
