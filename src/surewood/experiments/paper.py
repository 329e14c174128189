"""What the runner asks of a paper, and the papers there are.

A paper divides its protocol into *units* of work: one data set, one repeat, and the methods that share work.
A unit's records depend on the unit and the profile alone, so units may run in any order, in any number of
sittings. The runner (:mod:`~surewood.experiments.runner`) knows nothing else of papers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from surewood.experiments.errors import ExperimentError
from surewood.experiments.protocol import Profile

#: name of a paper -> module with its object ``PAPER``
HOMES = {
    "rcf": "surewood.experiments.rcf",
    "cascades": "surewood.experiments.cascades",
    "mddf": "surewood.experiments.mddf",
}


@dataclass(frozen=True)
class Unit:
    """Work that is done in one go."""

    #: Name in the catalogue of data sets.
    dataset: str
    #: Repeat, fold or seed number.
    repeat: int
    #: Methods whose records the unit yields, each exactly once.
    methods: tuple[str, ...]
    #: Rough fraction of the whole run's time: only the display of the time left reads it.
    cost: float = 1.0


@dataclass(frozen=True)
class Context:
    """What the runner tells a unit."""

    #: Threads the unit may use; results must not depend on it.
    n_jobs: int = 1
    #: Methods of the unit whose records are in the file: they need not be computed, and are not written
    #: again.
    done: frozenset[str] = frozenset()
    #: ``say("growing trees")`` shows what the unit is doing.
    say: Callable[[str], None] = field(default=lambda text: None)


class Paper(Protocol):
    """One paper: its units, how they are run, and what their records say together.

    Records that `run` yields are dicts of plain values (numbers, strings, lists, dicts):

    * ``method`` : one of the unit's methods,
    * ``metrics`` : dict of numbers, such as ``{"error": 0.031, "n_train": 317, "n_test": 106}``,
    * ``chosen`` : dict of the settings that were selected,
    * ``seconds`` : float, processor time of the method beside shared work,
    * ``shared_seconds`` : float, optional, the unit's work that its methods share (the same in each record),
    * ``seeds`` : dict of int,
    * ``grid`` : optional, error counts of a whole grid (:mod:`~surewood.experiments.error_grids`).

    The runner adds ``dataset``, ``repeat``, ``profile``, ``protocol``, ``versions``, ``machine``,
    ``peak_memory_bytes`` and ``finished``. A data set that is not available raises
    :class:`~surewood.datasets.DataError`.

    `summarise` gives plain values (all keys but ``tables`` may be absent):

    * ``tables`` : list of ``{"name", "title", "note", "columns", "rows"}``; `rows` are lists of strings or
      numbers as long as `columns`; the first table is the paper's own, beside ours,
    * ``bars`` : list of ``{"bar", "met", "found"}``; `met` is None while missing sets may decide,
    * ``deviations`` : list of ``{"subject", "paper", "here"}``: what differs from the paper,
    * ``notes`` : list of sentences,
    * ``figures`` : list of figures of :mod:`surewood.report.charts`.

    It must work from the records of ``results.csv`` too: ``dataset``, ``repeat``, ``method``, ``metrics``,
    ``chosen``, ``seconds``, ``grid``.
    """

    name: str
    title: str
    #: Data sets of the paper, in the order of its table.
    sets: Sequence[str]

    def units(self, profile: Profile, sets: Sequence[str]) -> list[Unit]:
        """The units of some data sets, cheap and deterministic."""

    def run(self, unit: Unit, profile: Profile, context: Context) -> Iterator[dict[str, Any]]:
        """Do a unit's work; one record a method."""

    def summarise(
        self, records: Sequence[dict[str, Any]], profile: Profile, sets: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Tables, tests and bars from the records there are; sets without a record are missing.

        Tables and figures show `sets` (all by default); bars are always about all sets of the paper.
        """


def find_paper(name: str) -> Paper:
    """The paper of this name."""
    if name not in HOMES:
        raise ExperimentError(f"there is no paper called {name!r}; there are {', '.join(HOMES)}.")
    paper: Paper = import_module(HOMES[name]).PAPER
    return paper


def chosen_sets(paper: Paper, wanted: Sequence[str] | None, profile: Profile) -> list[str]:
    """The data sets asked for, in the paper's order; by default all that the protocol has."""
    limited = profile.protocol.get("data_sets")
    known = [name for name in paper.sets if limited is None or name in limited]
    if not wanted:
        return known
    strange = [name for name in wanted if name not in known]
    if strange:
        under = "" if limited is None else f" under the protocol {profile.division!r}"
        raise ExperimentError(
            f"{paper.name} has no data set {strange[0]!r}{under}; its sets are {', '.join(known)}."
        )
    return [name for name in known if name in wanted]
