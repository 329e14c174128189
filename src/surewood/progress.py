"""A progress display that names the stage, its share and the time left.

Quiet unless asked (``verbose >= 1``). On a terminal a live bar on standard error, elsewhere one line when the
stage ends. A program that runs many stages opens one :func:`display` around them: stages then come and go
inside it, nested ones below each other, and nothing scrolls. :func:`observe` calls a function at every step.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Advance = Callable[[int], None]
#: Called at every step with the stage's name, the steps done and their total.
Observer = Callable[[str, int, int], None]

_observers: list[Observer] = []
_open_displays: list[Any] = []


@contextmanager
def stage(verbose: int, name: str, total: int) -> Iterator[Advance]:
    """Show a stage of `total` steps; yields a function that takes the number of steps just done.

    Examples
    --------
    >>> with stage(0, "growing trees", 10) as advance:
    ...     advance(10)
    """
    if verbose < 1:
        yield lambda steps=1: None
        return
    with _shown(name, total) as show:
        if not _observers:
            yield show
            return
        done = 0

        def advance(steps: int = 1) -> None:
            nonlocal done
            done += steps
            show(steps)
            for observer in tuple(_observers):
                observer(name, done, total)

        yield advance


@contextmanager
def display() -> Iterator[None]:
    """One live display on standard error for all stages of a program; nothing where that is no terminal.

    Examples
    --------
    >>> with display(), stage(1, "growing trees", 10) as advance:
    ...     advance(10)
    """
    if not sys.stderr.isatty():
        _open_displays.append(None)  # a stage that ends inside says nothing
        try:
            yield
        finally:
            _open_displays.pop()
        return
    with _bar(transient=True) as bar:
        _open_displays.append(bar)
        try:
            yield
        finally:
            _open_displays.pop()


@contextmanager
def observe(observer: Observer) -> Iterator[None]:
    """Call `observer` at every step of every stage that is shown.

    Examples
    --------
    >>> seen = []
    >>> with display(), observe(lambda *step: seen.append(step)), stage(1, "reading", 3) as advance:
    ...     advance(2)
    >>> seen
    [('reading', 2, 3)]
    """
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


@contextmanager
def _shown(name: str, total: int) -> Iterator[Advance]:
    if _open_displays:
        bar = _open_displays[-1]
        if bar is None:
            yield lambda steps=1: None
            return
        task = bar.add_task(name, total=total)
        try:
            yield lambda steps=1: bar.advance(task, steps)
        finally:
            bar.remove_task(task)
        return
    if not sys.stderr.isatty():
        started = time.perf_counter()
        yield lambda steps=1: None
        print(f"{name}: {total} in {time.perf_counter() - started:.1f} s", file=sys.stderr)
        return
    with _bar(transient=False) as bar:
        task = bar.add_task(name, total=total)
        yield lambda steps=1: bar.advance(task, steps)


def _bar(*, transient: bool) -> Any:
    """A rich display: spinner, stage, bar, share, time so far, time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=transient, speed_estimate_period=60)
