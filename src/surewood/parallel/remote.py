"""What goes to another process and comes back: marked arrays, bundles of tasks.

Bundles are run by the joblib backend that the caller activated. On Dask and Ray they are submitted to the
client directly: joblib's Dask backend waits for ever for a task whose worker was killed (joblib 1.6), its Ray
backend starts a pool of actors for every call, which takes seconds each time.

An array that is marked by :func:`share` is left out wherever it stands in a task (an argument, an attribute,
a closure); its name goes instead, and the array itself once per call of :func:`run_remotely`. Results come
back the same way. In threads marking changes nothing.

A *bundle* is a run of consecutive tasks that one worker does one after the other: about a second of work,
so that the overhead does not count, and never fewer bundles than keep all workers busy. The tasks
themselves, and so the results, do not depend on how they are bundled.
"""

from __future__ import annotations

import io
import pickle
import socket
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

try:
    import cloudpickle  # type: ignore[import-untyped]
except ImportError:  # joblib before 1.6 brought its own
    from joblib.externals import cloudpickle

SMALLEST = 1 << 16  # bytes below which an array travels with its task
LEAST_SECONDS = 0.1  # less work than this is done here: sending it away would take as long
SHORTEST_BUNDLE, LONGEST_BUNDLE = 0.15, 2.0  # seconds
BUNDLES_A_WORKER = 4
_AHEAD = 3  # bundles per worker of a cluster that are sent before the first result is taken
RETRIES = 3  # times that Ray gives a bundle whose worker died to another
#: Errors of backends whose workers died, by name: a backend need not be installed.
_DEATHS = (
    "BrokenProcessPool",
    "FutureCancelledError",
    "KilledWorker",
    "NodeDiedError",
    "OutOfMemoryError",
    "TerminatedWorkerError",
    "WorkerCrashedError",
)


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


_marked: dict[int, tuple[weakref.ref[np.ndarray], str]] = {}


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
        if isinstance(array, np.ndarray) and array.nbytes >= SMALLEST and mark_of(array) is None:
            _marked[id(array)] = weakref.ref(array, partial(_forget, id(array))), uuid.uuid4().hex


def _forget(key: int, reference: Any) -> None:
    _marked.pop(key, None)


def mark_of(array: Any) -> str | None:
    """The name of a marked array."""
    reference, name = _marked.get(id(array), (None, None))
    return name if reference is not None and reference() is array else None


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles by value what a worker cannot import, and marked arrays by name."""

    def __init__(self, file: io.BytesIO, names: Mapping[int, str] | None) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.names = names
        self.used: dict[str, np.ndarray] = {}

    def persistent_id(self, obj: Any) -> str | None:
        if not isinstance(obj, np.ndarray):
            return None
        # On a worker `names` are given: what it got by name it gives back by name.
        name = mark_of(obj) if self.names is None else self.names.get(id(obj))
        if name is not None:
            self.used[name] = obj
        return name


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: Mapping[str, Any]) -> None:
        super().__init__(file)
        self.arrays = arrays

    def persistent_load(self, pid: Any) -> Any:
        return self.arrays[pid]


def pack(value: Any, by_name: Mapping[str, Any] | None = None) -> tuple[bytes, dict[str, Any]]:
    """A value as bytes, and the marked arrays that it names. `by_name`: the arrays of a worker."""
    file = io.BytesIO()
    packer = _Packer(file, None if by_name is None else {id(array): name for name, array in by_name.items()})
    packer.dump(value)
    return file.getvalue(), packer.used


def unpack(blob: bytes, arrays: Mapping[str, Any]) -> Any:
    """The value again."""
    return _Unpacker(io.BytesIO(blob), arrays).load()


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


def run_remotely(n_workers: int, tasks: Sequence[Any], seconds: Any = None) -> Iterator[Any]:
    """Results of the tasks, in their order, by the workers of the active joblib backend."""
    cost = np.broadcast_to(np.asarray(1.0 if seconds is None else seconds, dtype=np.float64), len(tasks))
    if len(tasks) <= 1 or cost.sum() < LEAST_SECONDS:
        for function, args, kwargs in tasks:
            yield function(*args, **kwargs)
        return
    spans = bundle_spans(cost, n_workers, whole=seconds is None)
    sent: deque[dict[str, Any]] = deque()

    def calls() -> Iterator[tuple[Any, ...]]:
        for first, last in spans:
            blob, arrays = pack(tasks[first:last])
            sent.append(arrays)
            yield _own_version(), blob, list(arrays), *arrays.values()

    backend, _ = get_active_backend()
    if is_ray(backend):
        results = _ahead(calls(), n_workers, *_ray(backend))
    elif is_dask(backend):
        results = _ahead(calls(), n_workers, *_dask(backend))
    else:
        ordered = "generator" if getattr(backend, "supports_return_generator", False) else "list"
        pool = Parallel(n_jobs=n_workers, batch_size=1, return_as=ordered)
        results = pool(delayed(run_bundle)(*call) for call in calls())
    try:
        for blob in results:
            yield from unpack(blob, sent.popleft())
    except Exception as error:
        if type(error).__name__ not in _DEATHS:
            raise
        raise WorkerLost(
            "workers died again and again on the same task, most likely for lack of memory, or cannot be "
            f"reached any more: use fewer workers, or give them more memory ({type(error).__name__})."
        ) from error


def _ahead(
    calls: Iterator[tuple[Any, ...]],
    n_workers: int,
    put: Callable[[np.ndarray], Any],
    submit: Callable[..., Any],
    result: Callable[[Any], bytes],
) -> Iterator[bytes]:
    """Results of calls, of which a few per worker are begun ahead; each array goes to the workers once."""
    stored: dict[str, Any] = {}
    begun: deque[Any] = deque()
    for version, blob, names, *arrays in calls:
        stored |= {name: put(array) for name, array in zip(names, arrays) if name not in stored}
        begun.append(submit(version, blob, names, *(stored[name] for name in names)))
        if len(begun) > _AHEAD * n_workers:
            yield result(begun.popleft())
    while begun:
        yield result(begun.popleft())


def is_dask(backend: Any) -> bool:
    """Whether a joblib backend is Dask's."""
    return type(backend).__name__ == "DaskDistributedBackend"


def _dask(backend: Any) -> tuple[Callable[..., Any], ...]:
    """How an array is put, a bundle submitted and its result taken with the client of joblib's backend."""
    client, options = backend.client, {"pure": False, **backend.submit_kwargs}

    def result(future: Any) -> bytes:
        with backend.retrieval_context():  # inside a worker: make room for the bundles
            return bytes(future.result())

    return (
        partial(client.scatter, broadcast=True, hash=False),
        lambda *call: client.submit(run_bundle, *call, **options),
        result,
    )


def is_ray(backend: Any) -> bool:
    """Whether a joblib backend is Ray's."""
    return type(backend).__module__.split(".")[0] == "ray"


def _ray(backend: Any) -> tuple[Callable[..., Any], ...]:
    """The same with plain Ray tasks."""
    import ray

    options = {"num_cpus": 1, "max_retries": RETRIES, "name": "surewood"}
    options |= getattr(backend, "ray_remote_args", None) or {}

    def result(reference: Any) -> bytes:
        try:
            return bytes(ray.get(reference))
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from error

    return ray.put, ray.remote(run_bundle).options(**options).remote, result


def run_bundle(version: str, blob: bytes, names: Sequence[str], *arrays: Any) -> bytes:
    """What a worker does: the tasks of a bundle, one after the other."""
    if _own_version() != version:
        raise RuntimeError(
            f"the worker on {socket.gethostname()} has surewood {_own_version()}, this program "
            f"{version}: results could differ. Install the same version on all workers."
        )
    by_name = {name: array.view(np.ndarray) for name, array in zip(names, arrays)}  # of a file, perhaps
    try:
        with parallel_config("threading", n_jobs=1):  # tasks give nothing to other workers
            results = [function(*args, **kwargs) for function, args, kwargs in unpack(blob, by_name)]
    except MemoryError as error:
        raise MemoryError(f"a worker on {socket.gethostname()} ran out of memory: {error}") from error
    return pack(results, by_name)[0]


def _own_version() -> str:
    """The version that workers must have."""
    import surewood

    return str(surewood.__version__)
