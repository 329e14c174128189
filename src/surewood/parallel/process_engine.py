"""Bundles in processes of this machine (loky and other joblib backends): marked arrays as mapped files."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
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
    """See :class:`surewood.parallel.remote.Engine`."""

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
