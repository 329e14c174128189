"""What a run shows while it works: what runs, what is left, when it will be done.

On a terminal a live bar on standard error, elsewhere one line per finished unit. Units have rough costs; the
time left is their sum times the seconds a cost has taken so far in this sitting.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from surewood.experiments.paper import Unit


class Display:
    """Progress of a run on a console; silent without one."""

    def __init__(self, console: Console | None) -> None:
        self._console = console
        self._bar: Progress | None = None

    def announce(self, sentence: str) -> None:
        """What is about to run, and what it will cost."""
        if self._console is not None:
            self._console.print(sentence, highlight=False, markup=False, soft_wrap=True)

    def begin(self, paper: str, left: Sequence[Unit], n_units: int) -> None:
        """Start with the units that are left."""
        self._paper, self._total, self._count = paper, n_units, n_units - len(left)
        self._cost_left, self._cost_done = sum(unit.cost for unit in left), 0.0
        self._began = self._unit_began = time.monotonic()
        if self._console is None:
            return
        if self._count:
            self._console.print(f"{paper}: {self._count} of {self._total} units were done before")
        if self._console.is_terminal:
            columns = (
                TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
            )  # fmt: skip
            self._bar = Progress(*columns, console=self._console)
            self._task = self._bar.add_task(paper, total=self._total, completed=self._count, left="")
            self._bar.start()

    def start(self, unit: Unit) -> None:
        """A unit begins."""
        self._unit, self._unit_began = unit, time.monotonic()
        self.say("")

    def say(self, text: str) -> None:
        """What the unit is doing."""
        if self._bar is not None:
            what = f"{_name(self._unit)}: {text}" if text else _name(self._unit)
            self._bar.update(self._task, description=what, left=self._left())

    def finish(self, unit: Unit) -> None:
        """A unit is done."""
        self._count += 1
        self._cost_left -= unit.cost
        self._cost_done += unit.cost
        seconds = time.monotonic() - self._unit_began
        if self._bar is not None:
            self._bar.update(self._task, completed=self._count, left=self._left())
        elif self._console is not None:
            self._console.print(
                f"[{self._count}/{self._total}] {self._paper} {_name(unit)}: "
                f"{seconds:.1f} s, {self._left()}",
                highlight=False, markup=False,
            )  # fmt: skip

    def missing(self, unit: Unit, reason: str) -> None:
        """A data set that is not available: one line."""
        self.skip(unit)
        if self._console is not None:
            self._console.print(f"{unit.dataset} is missing: {reason}", highlight=False, markup=False)

    def skip(self, unit: Unit) -> None:
        """A unit that will not run: its data are missing."""
        self._cost_left -= unit.cost

    def end(self) -> None:
        """All units are through, or the run stops."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _left(self) -> str:
        """Time left and the clock's time then; nothing before the first unit of this sitting."""
        if self._cost_done <= 0:
            return ""
        pace = (time.monotonic() - self._began) / self._cost_done
        left = timedelta(seconds=round(pace * max(self._cost_left, 0.0)))
        return f"about {left} left, done at {datetime.now() + left:%H:%M}"


def _name(unit: Unit) -> str:
    """Data set, repeat (from 1) and what the unit is about."""
    more = ", ..." if len(unit.methods) > 1 else ""
    return f"{unit.dataset} {unit.repeat + 1} ({unit.methods[0]}{more})"
