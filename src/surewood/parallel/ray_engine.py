"""Bundles on Ray: plain Ray tasks, marked arrays in the object store.

joblib's ray backend starts a pool of actors for every call and does not replace one that dies; tasks reuse
Ray's worker processes and are given to another worker by Ray itself when theirs dies.

Tasks that nobody waits for any more are not cancelled by ``ray.cancel``: where the call meets a task that is
just being handed to a worker, Ray 2.60 aborts the whole program ("Tried to complete task that was not
pending"). A note in Ray's key-value store says that a run was given up; bundles that find it return at once.

A program whose own raylet (Ray's process on this computer) is gone is ended by Ray at its next look into the
object store, without an exception. So the raylet's socket is tried before every such look.
"""

from __future__ import annotations

import contextlib
import socket
import uuid
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from surewood.parallel import remote

_IN_FLIGHT = 3  # bundles per core of the cluster that are sent ahead
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
    """See :class:`surewood.parallel.remote.Engine`."""

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
