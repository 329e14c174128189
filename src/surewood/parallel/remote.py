"""What goes to another process and comes back: marked arrays, bundles of tasks, words for what went wrong.

An array that is marked by :func:`share` travels to a worker once. When tasks are packed for another process,
it is left out wherever it stands in them (an argument, an attribute, a closure) and its name goes instead;
the engine puts the array itself where workers find it (Dask's scattered data, Ray's object store, a
memory-mapped file), once, for as long as the array lives here. Results come back the same way. In threads
marking changes nothing.

A *bundle* is a run of consecutive tasks that one worker does one after the other: about a second of work,
so that the engine's overhead does not count, and never fewer bundles than keep all workers busy. The tasks
themselves, and so the results, do not depend on how they are bundled.
"""

from __future__ import annotations

import io
import pickle
import socket
import threading
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from surewood.parallel.memory import kept_memory

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


LEAST_SECONDS = 0.1  # less work than this is done here: sending it away would take as long
SHORTEST_BUNDLE, LONGEST_BUNDLE = 0.15, 2.0  # seconds
BUNDLES_A_WORKER = 4
RETRIES = 3  # times that a bundle whose worker died is given to another


class WorkerLost(RuntimeError):
    """Workers died again and again on the same tasks, or could not be reached.

    Examples
    --------
    >>> from surewood.parallel import WorkerLost
    >>> try:  # what a fit inside ``with cluster(address):`` may raise
    ...     raise WorkerLost("no worker is left")
    ... except RuntimeError as error:
    ...     print(error)
    no worker is left
    """


class Package(NamedTuple):
    """A bundle ready for sending: its place, its bytes, and the marked arrays that it names."""

    number: int
    blob: bytes
    arrays: dict[str, Any]


class Engine(Protocol):
    """A way to run bundles elsewhere.

    `key` names the place where marked arrays are put; two engines with one key find each other's. `copies`:
    whether every worker gets a copy of them through a connection, or all on one computer read one copy.
    """

    key: Any
    n_workers: int
    copies: bool

    def upload(self, arrays: list[np.ndarray]) -> list[Any]:
        """Put arrays where every worker finds them."""
        ...

    def is_lost(self, reference: Any) -> bool:
        """Whether an uploaded array is no longer there."""
        ...

    def run(self, packages: Iterator[Package]) -> Iterator[tuple[int, bytes]]:
        """Numbers and results of all packages, as they come."""
        ...


def run_remotely(engine: Engine, tasks: Sequence[Any], seconds: Any = None) -> Iterator[Any]:
    """Results of the tasks, in their order, each as soon as it and all before it are there."""
    cost = np.broadcast_to(np.asarray(1.0 if seconds is None else seconds, dtype=np.float64), len(tasks))
    if len(tasks) <= 1 or cost.sum() < LEAST_SECONDS:
        for function, args, kwargs in tasks:
            yield function(*args, **kwargs)
        return
    spans = bundle_spans(cost, engine.n_workers, whole=seconds is None)
    sent: dict[int, dict[str, Any]] = {}

    def packages() -> Iterator[Package]:
        for number, (first, last) in enumerate(spans):
            blob, arrays = pack(tasks[first:last])
            sent[number] = arrays
            yield Package(number, blob, arrays)

    waiting: dict[int, list[Any]] = {}
    turn = 0
    for number, blob in engine.run(packages()):
        waiting[number] = unpack(blob, sent.pop(number))
        while turn in waiting:
            yield from waiting.pop(turn)
            turn += 1
    assert turn == len(spans), "an engine lost a bundle"


def bundle_spans(cost: np.ndarray, n_workers: int, whole: bool = False) -> list[tuple[int, int]]:
    """Ranges of tasks of about equal cost. `whole`: nothing is known about the cost, every task for itself.

    Examples
    --------
    >>> bundle_spans(np.full(8, 0.1), n_workers=1)
    [(0, 2), (2, 4), (4, 6), (6, 8)]
    """
    if whole:
        return [(k, k + 1) for k in range(len(cost))]
    target = cost.sum() / (BUNDLES_A_WORKER * max(n_workers, 1))
    target = min(LONGEST_BUNDLE, max(SHORTEST_BUNDLE, target))
    cuts, held = [0], 0.0
    for k, seconds in enumerate(cost):
        if held and held + seconds / 2 > target:
            cuts.append(k)
            held = 0.0
        held += float(seconds)
    return list(pairwise([*cuts, len(cost)]))


def send_list(engine: Engine, package: Package) -> tuple[list[str], list[Any]]:
    """Names and references of a package's arrays."""
    found = references(engine, package.arrays)
    return list(found), list(found.values())


def run_bundle(version: str, blob: bytes, names: Sequence[str], *arrays: Any) -> bytes:
    """What a worker does: the tasks of a bundle, one after the other."""
    import surewood

    if surewood.__version__ != version:
        raise RuntimeError(
            f"the worker on {socket.gethostname()} has surewood {surewood.__version__}, this program "
            f"{version}: results could differ. Install the same version on all workers."
        )
    given = dict(zip(names, arrays))
    try:
        with kept_memory():
            results = [function(*args, **kwargs) for function, args, kwargs in unpack(blob, given)]
    except MemoryError as error:
        raise MemoryError(f"a worker on {socket.gethostname()} ran out of memory: {error}") from error
    return pack(results, given)[0]


def own_version() -> str:
    """The version that workers must have."""
    import surewood

    return str(surewood.__version__)


def in_words(error: BaseException) -> BaseException:
    """The error itself, or a clearer one."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "surewood":
        return RuntimeError("the workers do not have surewood: install it in their environment too.")
    return error
