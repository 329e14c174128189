"""A progress display that names the stage, its share and the time left.

Quiet unless asked (``verbose >= 1``). On a terminal a live bar on standard error, elsewhere one line when the
stage ends. A stage inside another is shown below it, and leaves no line of its own. A program that runs many
stages opens one :func:`display` around them: they then come and go inside it, and nothing scrolls.

Steps are work that was done, counted by those who do it; they may be fractions, and may come from any thread
of this process. Where nobody knows how much work there is (a search prunes), the total is the most there may
be, and :func:`substeps` gives what was not needed at the end.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from surewood._text import escaped

Advance = Callable[[float], None]

_open_displays: list[Any] = []


@contextmanager
def stage(verbose: int, name: str, total: float) -> Iterator[Advance]:
    """Show a stage of `total` steps; yields a function that takes the number of steps just done.

    Examples
    --------
    >>> with stage(0, "growing trees", 10) as advance:
    ...     advance(10)
    """
    if verbose < 1:
        yield ignore
        return
    with _shown(name, total) as advance:
        yield advance


def ignore(steps: float = 1) -> None:
    """What takes the steps where nobody looks."""


@contextmanager
def substeps(advance: Advance, steps: float, total: float) -> Iterator[Advance]:
    """Work that is `steps` steps of a stage and counts in units of its own, at most `total` of them.

    What was not needed of them is done at the end; more than `total` count nothing.

    Examples
    --------
    >>> seen = []
    >>> with substeps(seen.append, 2.0, 10) as one:
    ...     one(5)
    ...     one(20)
    >>> seen
    [1.0, 1.0]
    """
    if advance is ignore:
        yield ignore
        return
    done, lock = 0.0, threading.Lock()

    def inner(units: float = 1) -> None:
        nonlocal done
        with lock:
            now = min(units, total - done)
            done += now
        if now > 0:
            advance(steps * now / total)

    yield inner
    if done < total:
        advance(steps * (total - done) / total)


@contextmanager
def display() -> Iterator[None]:
    """One live display on standard error for all stages of a program; nothing where that is no terminal.

    Examples
    --------
    >>> with display(), stage(1, "growing trees", 10) as advance:
    ...     advance(10)
    """
    if not sys.stderr.isatty():
        with _opened(None):
            yield
        return
    with _bar(transient=True) as bar, _opened(bar):
        yield


def say(text: str) -> None:
    """A line on standard error, above the live display where there is one.

    Examples
    --------
    >>> say("random forest: error 3.5 %")
    """
    bar = _open_displays[-1] if _open_displays else None
    if bar is not None:
        bar.console.print(escaped(text), markup=False, highlight=False)
    else:
        print(escaped(text), file=sys.stderr)


@contextmanager
def _shown(name: str, total: float) -> Iterator[Advance]:
    name = escaped(name)  # of files and classes, say
    if _open_displays:
        bar = _open_displays[-1]
        if bar is None:
            yield ignore
            return
        task = bar.add_task(name, total=total)
        try:
            yield partial(_advance, bar, task)
        finally:
            bar.remove_task(task)
        return
    if not sys.stderr.isatty():
        started = time.perf_counter()
        with _opened(None):
            yield ignore
        print(f"{name}: {total:.0f} in {time.perf_counter() - started:.1f} s", file=sys.stderr)
        return
    with _bar(transient=False) as bar, _opened(bar):
        task = bar.add_task(name, total=total)
        yield partial(_advance, bar, task)


def _advance(bar: Any, task: Any, steps: float = 1) -> None:
    bar.advance(task, steps)


@contextmanager
def _opened(bar: Any) -> Iterator[None]:
    """Stages that begin inside belong to this bar; None: nothing shows them."""
    _open_displays.append(bar)
    try:
        yield
    finally:
        _open_displays.pop()


def _bar(*, transient: bool) -> Any:
    """A rich display: spinner, stage, bar, percentage, time so far, time left."""
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
