"""Connecting to a running cluster by its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import joblib


@contextmanager
def cluster(address: str, *, timeout: float = 10.0) -> Iterator[Any]:
    """Run everything inside the ``with`` block on the workers of a Dask or Ray cluster.

    Parameters
    ----------
    address : str
        A Dask scheduler (``tcp://host:8786``, ``host:8786``, or the path of a scheduler file ending in
        ``.json``), a Ray cluster (``ray://host:10001``), or ``auto`` for the Ray cluster that this computer
        belongs to.
    timeout : float, default=10
        Seconds to wait for a Dask scheduler.

    Yields
    ------
    distributed.Client, or the context of ``ray.init``

    Examples
    --------
    >>> from surewood import MarginDeepForestClassifier
    >>> with cluster("tcp://scheduler:8786"):  # doctest: +SKIP
    ...     MarginDeepForestClassifier(n_jobs=-1).fit(X, y)
    """
    address = address.strip()
    if not address:
        raise ValueError(
            "the address of the cluster is empty; give tcp://host:port, ray://host:port or auto."
        )
    if address == "auto" or address.startswith("ray://"):
        yield from _on_ray(address)
    else:
        yield from _on_dask(address, timeout)


def _on_dask(address: str, timeout: float) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            f"{address} is a Dask scheduler, but Dask is not installed: pip install 'surewood[dask]'."
        ) from error
    if not address.endswith(".json") and not re.search(r":\d+|^inproc:", address):
        # A client that could not read its address waits long, and complains once more when it is collected.
        raise ValueError("the address of a Dask scheduler is tcp://host:port, or the name of its .json file.")
    place = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client: Any = Client(**place, timeout=timeout, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address} ({error}).") from error
    try:
        with joblib.parallel_config("dask", client=client):
            yield client
    finally:
        client.close()


def _on_ray(address: str) -> Iterator[Any]:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise ImportError(
            f"{address} is a Ray cluster, but Ray is not installed: pip install 'surewood[ray]'."
        ) from error
    is_ours = not ray.is_initialized()
    try:
        context = ray.init(address, log_to_driver=False) if is_ours else ray.get_runtime_context()
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise ConnectionError(f"no Ray cluster answers at {address} ({error}).") from error
    register_ray()  # type: ignore[no-untyped-call]
    try:
        with joblib.parallel_config("ray"):
            yield context
    finally:
        if is_ours:
            ray.shutdown()
