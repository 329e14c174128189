"""Bundles on Dask: the client of joblib's dask backend, marked arrays as scattered data.

joblib's own path would scatter the arguments again at every call and does not cancel what it abandoned; so
bundles are submitted here, with the arrays as dependencies. The scheduler gives the bundles of a dead worker
to others by itself; only where the last copy of an array died with it are arrays and bundles sent again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from surewood.parallel import remote

_IN_FLIGHT = 3  # bundles per thread of the cluster that are sent ahead


class DaskEngine:
    """See :class:`surewood.parallel.remote.Engine`."""

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
