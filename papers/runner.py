"""Run the units of a paper that are not in its results file yet.

The runner knows files, progress and provenance, and nothing of papers: it can be killed at any moment and
goes on where it was. Units run one after the other; threads work inside a unit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from papers.protocol import Context, Paper, PaperError, Profile, Unit, chosen_sets
from papers.records import RecordFile, forget_peak_memory, machine, peak_memory, versions
from surewood.tables import DataError

RESULTS = "results.jsonl"


class Display:
    """What runs, what is left, when it will be done; silent without a console.

    On a terminal a live bar on standard error, elsewhere one line per finished unit. The time left is the
    sum of the units' rough costs times the seconds that a cost has taken so far in this sitting.
    """

    def __init__(self, console: Console | None) -> None:
        self._console = console
        self._bar: Progress | None = None

    def announce(self, sentence: str) -> None:
        """A sentence before the run."""
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


@dataclass
class Outcome:
    """What a run left behind.

    Attributes
    ----------
    records : list of dict
        All records of the file, of earlier sittings too.
    missing : dict
        Data sets that could not be had, and why.
    n_new : int
        Records written by this sitting.
    """

    path: Path
    records: list[dict[str, Any]]
    missing: dict[str, str] = field(default_factory=dict)
    n_new: int = 0


def run_paper(
    paper: Paper,
    profile: Profile,
    out: Path,
    *,
    sets: Sequence[str] | None = None,
    repeats: int | None = None,
    resume: bool = False,
    n_jobs: int = 1,
    display: Display | None = None,
) -> Outcome:
    """Run what is not done yet of a paper's units; records go to ``results.jsonl`` in `out`.

    Parameters
    ----------
    paper : Paper
    profile : Profile
    out : Path
        Folder of the results file, made where it is absent.
    sets : sequence of str, optional
        Only these data sets.
    repeats : int, optional
        Only the first repeats of each.
    resume : bool, default=False
        Go on with the records of an earlier sitting.
    n_jobs : int, default=1
        Threads inside a unit; results do not depend on it.
    display : Display, optional
        Shows what runs; quiet by default.
    """
    units = paper.units(profile, chosen_sets(paper, sets, profile))
    units = [unit for unit in units if repeats is None or unit.repeat < repeats]
    display = display or Display(None)
    versions()  # the commit that the code was read from: a checkout may change while the run goes on
    settings = {"paper": paper.name, **profile.settings()}
    with RecordFile(out / RESULTS, settings, resume) as file:
        outcome = Outcome(file.path, file.records)
        done = _methods_done(file.records)
        left = [unit for unit in units if not _before(unit, done).issuperset(unit.methods)]
        for commit in sorted(_other_commits(file.records)):
            display.announce(
                f"{file.path} has records of {commit}, and this code is "
                f"{versions().get('commit') or 'unknown'}: the table of the documentation refuses such a "
                "mixture."
            )
        display.begin(paper.name, left, len(units))
        try:
            for unit in left:
                if unit.dataset in outcome.missing:
                    display.skip(unit)
                    continue
                context = Context(n_jobs, _before(unit, done), display.say)
                display.start(unit)
                try:
                    outcome.n_new += _run_unit(paper, unit, profile, context, file)
                except DataError as error:
                    outcome.missing[unit.dataset] = str(error)
                    file.add_missing(unit.dataset, str(error))
                    display.missing(unit, str(error))
                else:
                    display.finish(unit)
        finally:
            display.end()
    return outcome


def _other_commits(records: Sequence[Mapping[str, Any]]) -> set[str]:
    """Commits of the code that made records, other than the one that runs."""
    own = versions().get("commit", "")
    found = {str(record.get("versions", {}).get("commit", "")) for record in records}
    return {f"commit {commit}" if commit else "an unknown commit" for commit in found - {own}}


def _before(unit: Unit, done: Mapping[tuple[str, int], frozenset[str]]) -> frozenset[str]:
    """Methods of a unit that are in the file."""
    return done.get((unit.dataset, unit.repeat), frozenset()) & frozenset(unit.methods)


def _methods_done(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], frozenset[str]]:
    found: dict[tuple[str, int], set[str]] = {}
    for record in records:
        found.setdefault((record["dataset"], record["repeat"]), set()).add(record["method"])
    return {key: frozenset(methods) for key, methods in found.items()}


def _run_unit(paper: Paper, unit: Unit, profile: Profile, context: Context, file: RecordFile) -> int:
    """Append the records of a unit as they come; returns how many."""
    forget_peak_memory()
    left = set(unit.methods) - context.done
    count = 0
    for record in paper.run(unit, profile, context):
        method = record["method"]
        if method in context.done:
            continue
        if method not in left:
            raise PaperError(f"{paper.name}: {unit.dataset} yielded {method!r}, which was not asked for.")
        left.remove(method)
        file.add(_complete(record, unit, profile))
        count += 1
    if left:
        raise PaperError(f"{paper.name}: {unit.dataset} yielded nothing for {', '.join(sorted(left))}.")
    return count


def _complete(record: Mapping[str, Any], unit: Unit, profile: Profile) -> dict[str, Any]:
    """A record with all that the runner knows."""
    whole = {
        "dataset": unit.dataset,
        "repeat": unit.repeat,
        **record,
        "profile": profile.name,
        "protocol": profile.protocol_name,
        "peak_memory_bytes": peak_memory(),
        "versions": versions(),
        "machine": machine(),
        "finished": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
    }
    plain: dict[str, Any] = json.loads(json.dumps(whole, default=_plain))
    return plain


def _plain(value: Any) -> Any:
    """NumPy values as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a record holds {type(value).__name__}, which is not a plain value.")
