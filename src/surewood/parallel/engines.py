"""Bundles of tasks on other processes: joblib's own pools, Dask, Ray.

Each engine puts marked arrays where its workers find them, runs bundles (:mod:`surewood.parallel.remote`)
and gives the bundles of a dead worker to another one, which joblib's backends do not.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import tempfile
import uuid
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from surewood.parallel import remote


class MappedFile:
    """An array on disk, for as long as this object lives."""

    def __init__(self, array: np.ndarray) -> None:
        handle, self.path = tempfile.mkstemp(prefix="surewood-", suffix=".npy")
        weakref.finalize(self, _remove, self.path)
        with os.fdopen(handle, "wb") as file:
            np.save(file, array, allow_pickle=False)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def run_mapped(number: int, version: str, blob: bytes, names: Sequence[str], paths: Sequence[str]) -> Any:
    """`run_bundle` on mapped arrays; the number tells whose result it is."""
    arrays = [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]
    return number, remote.run_bundle(version, blob, names, *(array.view(np.ndarray) for array in arrays))


def _backend() -> str | None:
    """What runs the processes: the active backend, or loky where that gives its results at the end only.

    The latter is so with "multiprocessing", which would also wait for ever for a process that was killed.
    """
    backend, _ = get_active_backend()
    return None if getattr(backend, "supports_return_generator", False) else "loky"


class ProcessEngine:
    """Processes of this computer (loky and other joblib backends), with marked arrays as mapped files."""

    key = ("processes",)
    copies = False

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def upload(self, arrays: list[np.ndarray]) -> list[Any]:
        return [MappedFile(array) for array in arrays]

    def is_lost(self, reference: Any) -> bool:
        return False

    def run(self, packages: Iterator[remote.Package]) -> Iterator[tuple[int, bytes]]:
        open_: dict[int, remote.Package] = {}

        def calls(todo: Iterator[remote.Package]) -> Iterator[Any]:
            for package in todo:
                open_[package.number] = package
                names, files = remote.send_list(self, package)
                paths = [file.path for file in files]
                yield delayed(run_mapped)(package.number, remote.own_version(), package.blob, names, paths)

        for attempt in range(remote.RETRIES + 1):
            pool = Parallel(
                n_jobs=self.n_workers, backend=_backend(), batch_size=1, return_as="generator_unordered"
            )
            try:
                # First what is left over from the attempt before. A chain, since a broken pool closes the
                # generator it was given: "yield from" would close `packages` with it and lose the rest.
                todo = itertools.chain(list(open_.values()), packages)
                for number, result in pool(calls(todo)):
                    open_.pop(number)
                    yield number, result
                if not open_:
                    return  # a broken pool may have taken a package after the new one had begun
            except BrokenProcessPool as error:
                if attempt == remote.RETRIES:
                    raise remote.WorkerLost(
                        f"worker processes were killed {remote.RETRIES + 1} times on the same tasks: most "
                        "likely the system ran out of memory. Use fewer workers (n_jobs)."
                    ) from error
            except ModuleNotFoundError as error:
                raise remote.in_words(error) from error


_IN_FLIGHT = 3  # bundles per worker of a cluster that are sent ahead


class DaskEngine:
    """The client of joblib's dask backend, with marked arrays as scattered data.

    joblib's own path would scatter the arguments again at every call and does not cancel what it abandoned;
    so bundles are submitted here, with the arrays as dependencies. The scheduler gives the bundles of a dead
    worker to others by itself; only where the last copy of an array died with it are arrays and bundles sent
    again.
    """

    copies = True

    def __init__(self, backend: Any) -> None:
        self.backend, self.client = backend, backend.client
        self.key = ("dask", self.client.id)
        self._check_scheduler()
        self.n_workers = backend.effective_n_jobs(-1)  # waits for a first worker, as joblib does

    def upload(self, arrays: list[np.ndarray]) -> list[Any]:
        # A copy on every worker: the scheduler must not prefer the one that has it, and it survives the death
        # of any of them. hash=False: the content was never looked at, and need not be.
        self._check_scheduler()
        return list(self.client.scatter(arrays, broadcast=True, hash=False))

    def is_lost(self, reference: Any) -> bool:
        return bool(reference.status in ("cancelled", "lost", "error"))

    def run(self, packages: Iterator[remote.Package]) -> Iterator[tuple[int, bytes]]:
        from distributed import as_completed

        open_: dict[Any, remote.Package] = {}
        attempts: dict[int, int] = {}
        done: Any = as_completed([], loop=self.client.loop)  # type: ignore[no-untyped-call]

        def submit(package: remote.Package) -> None:
            names, futures = remote.send_list(self, package)
            extra = {"pure": False, **self.backend.submit_kwargs}
            future = self.client.submit(
                remote.run_bundle, remote.own_version(), package.blob, names, *futures, **extra
            )
            open_[future] = package
            done.add(future)

        try:
            with self.backend.retrieval_context():  # inside a worker: make room for the bundles
                for package in islice(packages, _IN_FLIGHT * self.n_workers):
                    submit(package)
                for future in done:
                    package = open_.pop(future)
                    if future.status == "finished":
                        result = future.result()
                        following = next(packages, None)
                        if following is not None:
                            submit(following)
                        yield package.number, result
                    else:
                        self._explain(future)
                        attempts[package.number] = attempts.get(package.number, 0) + 1
                        if attempts[package.number] > remote.RETRIES:
                            raise remote.WorkerLost(
                                f"Dask lost the data of a task {remote.RETRIES + 1} times: "
                                "too many workers died."
                            )
                        submit(package)
        finally:
            if open_ and self.client.status == "running":
                with contextlib.suppress(Exception):
                    self.client.cancel(list(open_), force=True)

    def _check_scheduler(self) -> None:
        if self.client.status != "running":
            address = getattr(self.client.scheduler, "address", None) or "its address"
            raise remote.WorkerLost(
                f"the Dask scheduler at {address} cannot be reached any more; the work was stopped and "
                "nothing half-fitted is left. Start the cluster again and repeat the call."
            )

    def _explain(self, future: Any) -> None:
        """Raise what ended a bundle; return where sending it again helps."""
        self._check_scheduler()
        if future.status != "error":  # cancelled or lost: an array went with the last worker that had it
            return
        error = future.exception()
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            raise self._killed(error) from error
        raise remote.in_words(error)

    def _killed(self, error: Any) -> BaseException:
        """Out of memory where the nannies say so."""
        worker = getattr(error, "last_worker", None)
        address = getattr(worker, "address", "unknown")
        limit = getattr(worker, "memory_limit", 0)
        text = self._nanny_log(getattr(worker, "nanny", None))
        if "memory budget" in text or "memory usage" in text:
            size = f" of {limit / 2**30:.1f} GiB" if limit else ""
            return MemoryError(
                f"Dask worker {address} ran out of memory: it passed its limit{size} and was stopped each "
                "time. Give workers more memory, or use fewer threads per worker."
            )
        return remote.WorkerLost(
            f"Dask workers died again and again on the same task (the last one: {address}); the system may "
            "have stopped them for lack of memory."
        )

    def _nanny_log(self, address: str | None) -> str:
        """What the nanny of a dead worker says.

        It is asked itself: the scheduler forgets a nanny with its worker, until that is there again. The
        scheduler is asked about all others where the client cannot reach it.
        """
        if address is not None:
            with contextlib.suppress(Exception):
                return str(self.client.sync(self.client.rpc(address).get_logs, callback_timeout=10))
        with contextlib.suppress(Exception):
            return str(self.client.get_worker_logs(nanny=True))
        return ""


_SECONDS_BETWEEN_LOOKS = 0.5  # at the raylet, while no result comes
_LOST = (
    "the Ray cluster cannot be reached any more; the work was stopped and nothing half-fitted is left. Start "
    "the cluster again and repeat the call."
)


def is_refused(path: str | None) -> bool:
    """Whether nobody listens at a socket of this computer any more; False where there is none to try."""
    if not path or not hasattr(socket, "AF_UNIX"):
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_SECONDS_BETWEEN_LOOKS)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except OSError:  # busy
            return False
    return False


def _given_up(run: bytes) -> bool:
    from ray.experimental.internal_kv import _internal_kv_exists

    return bool(_internal_kv_exists(run))


def _give_up(run: bytes) -> None:
    from ray.experimental.internal_kv import _internal_kv_put

    _internal_kv_put(run, b"")


def run_unless_given_up(run: bytes, version: str, blob: bytes, names: Sequence[str], *arrays: Any) -> bytes:
    """What a Ray worker does with a bundle."""
    return b"" if _given_up(run) else remote.run_bundle(version, blob, names, *arrays)


class RayEngine:
    """Plain Ray tasks, with marked arrays in the object store.

    joblib's ray backend starts a pool of actors for every call and does not replace one that dies; tasks
    reuse Ray's worker processes and are given to another worker by Ray itself when theirs dies.

    Tasks that nobody waits for any more are not cancelled by ``ray.cancel``: where the call meets a task that
    is just being handed to a worker, Ray 2.60 aborts the whole program ("Tried to complete task that was not
    pending"). A note in Ray's key-value store says that a run was given up; bundles that find it return at
    once.

    A program whose own raylet (Ray's process on this computer) is gone is ended by Ray at its next look into
    the object store, without an exception. So the raylet's socket is tried before every such look.
    """

    copies = False

    def __init__(self, backend: Any) -> None:
        import ray

        self.ray = ray
        if not ray.is_initialized():
            ray.init()  # RAY_ADDRESS, or a local one: as joblib's backend does
        self.key = ("ray", ray.get_runtime_context().get_job_id())
        self.n_workers = max(1, int(ray.cluster_resources().get("CPU", 1)))  # type: ignore[no-untyped-call]
        options = {"num_cpus": 1, "max_retries": remote.RETRIES, "name": "surewood"}
        options |= getattr(backend, "ray_remote_args", None) or {}
        self.function = ray.remote(run_unless_given_up).options(**options)

    def upload(self, arrays: list[np.ndarray]) -> list[Any]:
        found = []
        for array in arrays:
            self._refuse_a_lost_raylet()
            found.append(self.ray.put(array))
        return found

    def _refuse_a_lost_raylet(self) -> None:
        node = getattr(self.ray._private.worker.global_worker, "node", None)  # None: a client far away
        if is_refused(getattr(node, "raylet_socket_name", None)):
            raise remote.WorkerLost(_LOST)

    def is_lost(self, reference: Any) -> bool:
        return False  # this process owns what it put; Ray keeps it

    def run(self, packages: Iterator[remote.Package]) -> Iterator[tuple[int, bytes]]:
        open_: dict[Any, remote.Package] = {}
        this_run = b"surewood-" + uuid.uuid4().bytes

        def submit(package: remote.Package) -> None:
            names, references = remote.send_list(self, package)
            sent = self.function.remote(this_run, remote.own_version(), package.blob, names, *references)
            open_[sent] = package

        try:
            for package in islice(packages, _IN_FLIGHT * self.n_workers):
                submit(package)
            while open_:
                self._refuse_a_lost_raylet()
                ready, _ = self.ray.wait(list(open_), num_returns=1, timeout=_SECONDS_BETWEEN_LOOKS)
                if not ready:
                    continue
                package = open_.pop(ready[0])
                result = self._result(ready[0])
                following = next(packages, None)
                if following is not None:
                    submit(following)
                yield package.number, result
        finally:
            if open_:
                with contextlib.suppress(Exception):  # where the cluster is gone, so are its tasks
                    _give_up(this_run)

    def _result(self, reference: Any) -> bytes:
        self._refuse_a_lost_raylet()
        errors = self.ray.exceptions
        try:
            return bytes(self.ray.get(reference))
        except errors.OutOfMemoryError as error:
            raise MemoryError(
                f"a Ray worker ran out of memory and was stopped by Ray: {str(error).splitlines()[0]} Give "
                "nodes more memory, or let fewer tasks run at once (ray_remote_args={'num_cpus': 2})."
            ) from error
        except errors.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, BaseException) else error
            raise remote.in_words(cause) from error
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError) as error:
            raise remote.WorkerLost(
                f"Ray workers died {remote.RETRIES + 1} times on the same task; the system may have stopped "
                "them for lack of memory."
            ) from error
        except (errors.RaySystemError, ConnectionError) as error:
            raise remote.WorkerLost(_LOST) from error
