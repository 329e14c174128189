"""Arrays that travel to a worker once: marked by :func:`share`, replaced by a name in every task.

Marking costs nothing and changes nothing in threads. When tasks are packed for another process, a marked
array is left out wherever it stands in them (an argument, an attribute, a closure) and its name goes instead;
the engine puts the array itself where workers find it (Dask's scattered data, Ray's object store, a
memory-mapped file), once, for as long as the array lives here. Results come back the same way: a marked
array in them is a name, and the caller gets its own array.
"""

from __future__ import annotations

import io
import pickle
import threading
import uuid
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

try:
    import cloudpickle  # type: ignore[import-untyped]
except ImportError:  # joblib before 1.6 brought its own
    from joblib.externals import cloudpickle

SMALLEST = 1 << 16  # bytes below which an array travels with its task


@dataclass
class Entry:
    """A marked array: its name, and where each engine put it."""

    array: weakref.ref[np.ndarray]
    remote: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """What stands for the array in tasks; drawn when the first one is packed."""
        return uuid.uuid4().hex


_entries: dict[int, Entry] = {}
_lock = threading.RLock()  # re-entrant: an array may die, and call back, while the lock is held


def share(*arrays: Any) -> None:
    """Mark arrays that many tasks read. They must not change as long as they live.

    Small arrays, and anything that is no array, are left as they are.

    Examples
    --------
    >>> table = np.zeros((1000, 1000))
    >>> share(table, None)
    >>> len(pack([table])[0]) < 1000
    True
    """
    for array in arrays:
        if isinstance(array, np.ndarray) and array.nbytes >= SMALLEST and find(array) is None:
            with _lock:
                _entries[id(array)] = Entry(weakref.ref(array, _forget(id(array))))


def find(array: Any) -> Entry | None:
    """The entry of a marked array."""
    entry = _entries.get(id(array))
    return entry if entry is not None and entry.array() is array else None


def _forget(key: int) -> Any:
    def drop(reference: Any) -> None:
        with _lock:
            entry = _entries.get(key)
            if entry is not None and entry.array is reference:
                del _entries[key]

    return drop


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles by value what a worker cannot import, and marked arrays by name."""

    def __init__(self, file: io.BytesIO, names: Mapping[int, str] | None = None) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.names, self.used = names, {}  # type: ignore[var-annotated]

    def persistent_id(self, obj: Any) -> str | None:
        if not isinstance(obj, np.ndarray):
            return None
        if self.names is not None:  # on a worker: what it was given, it gives back by name
            return self.names.get(id(obj))
        entry = find(obj)
        if entry is None:
            return None
        self.used[entry.name] = obj
        return entry.name


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: Mapping[str, Any]) -> None:
        super().__init__(file)
        self.arrays = arrays

    def persistent_load(self, pid: Any) -> Any:
        return self.arrays[pid]


def pack(value: Any, given: Mapping[str, Any] | None = None) -> tuple[bytes, dict[str, Any]]:
    """A value as bytes, and the marked arrays that it names. `given`: the arrays of a worker, by name."""
    file = io.BytesIO()
    names = None if given is None else {id(array): name for name, array in given.items()}
    packer = _Packer(file, names)
    packer.dump(value)
    return file.getvalue(), packer.used


def unpack(blob: bytes, arrays: Mapping[str, Any]) -> Any:
    """The value again."""
    return _Unpacker(io.BytesIO(blob), arrays).load()


def references(engine: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Where `engine` has the arrays; puts there what it does not have (or has lost)."""
    with _lock:
        entries = {name: find(array) for name, array in arrays.items()}
        missing = {
            name: arrays[name]
            for name, entry in entries.items()
            if entry is not None
            and (engine.key not in entry.remote or engine.is_lost(entry.remote[engine.key]))
        }
        if missing:
            for name, reference in zip(missing, engine.upload(list(missing.values()))):
                entries[name].remote[engine.key] = reference  # type: ignore[union-attr]
        return {name: entry.remote[engine.key] for name, entry in entries.items() if entry is not None}
