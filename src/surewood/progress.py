"""A progress bar that names the stage, its share and the time left.

Quiet unless asked (``verbose >= 1``). On a terminal a live bar on standard error, elsewhere one line when the
stage ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stage(verbose: int, name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a stage of `total` steps; yields a function that takes the number of steps just done.

    Examples
    --------
    >>> with stage(0, "growing trees", 10) as advance:
    ...     advance(10)
    """
    if verbose < 1:
        yield lambda steps=1: None
        return
    if not sys.stderr.isatty():
        started = time.perf_counter()
        yield lambda steps=1: None
        print(f"{name}: {total} in {time.perf_counter() - started:.1f} s", file=sys.stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=total)
        yield lambda steps=1: bar.advance(task, steps)
