"""``--cluster ADDRESS``: the option, and the block of work that runs there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from surewood.cli.mistakes import Mistake

ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a running Dask (tcp://HOST:PORT) or Ray (ray://HOST:PORT, or auto). Same model.",
        show_default=False,
    ),
]


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Inside, tasks go to the cluster; without an address nothing changes."""
    if address is None:
        yield
        return
    from surewood.parallel import cluster

    place = cluster(address)
    try:
        place.__enter__()
    except (ImportError, ConnectionError, ValueError) as error:
        raise Mistake(f"--cluster {address}: {error}") from error
    try:
        yield
    finally:
        place.__exit__(None, None, None)
