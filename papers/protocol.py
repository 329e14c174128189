"""What a paper is: profiles (sizes only), published values, units of work, and what the runner asks of it.

``protocol.toml`` in a paper's folder has a table ``[protocol]`` with everything that no profile changes, and
one table ``[profiles.NAME]`` with sizes. ``[profiles.NAME.sets.DATASET]`` overrides sizes for one data set.
A second protocol, ``[protocols.official]``, trains on the official training part of its `data_sets` and
tests on the official test part; what it says goes before ``[protocol]``. ``published.csv`` has the published
values.

A paper divides its protocol into *units* of work: one data set, one repeat, and the methods that share work.
A unit's records depend on the unit and the profile alone, so units may run in any order, in any number of
sittings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from papers.readings import OPTIONS, Readings

PAPER, OFFICIAL = "paper", "official"
ROOT = Path(__file__).resolve().parents[1]
NAMES = ("rcf", "cascades", "mddf")


class PaperError(ValueError):
    """A run that cannot start or go on; the message says why and what to do."""


@dataclass(frozen=True)
class Profile:
    """The protocol with the sizes of one profile.

    Attributes
    ----------
    name : str
        "quick", "standard" or "full".
    protocol : dict
        What all profiles share.
    sizes : dict
        What this profile sets; the key "sets" holds overrides by data set.
    division : {"paper", "official"}
        The paper's own division of the data, or the official one of each data set.
    readings : Readings
        How the paper is read where it leaves something open.
    """

    name: str
    protocol: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Any] = field(default_factory=dict)
    division: str = PAPER
    readings: Readings = field(default_factory=Readings)

    @property
    def protocol_name(self) -> str:
        """Division and readings: what records of one table have in common."""
        return ", ".join(filter(None, (self.division, str(self.readings))))

    def get(self, key: str, dataset: str | None = None) -> Any:
        """A size (of a data set, where it has its own), or else a value of the protocol."""
        own = self.sizes.get("sets", {}).get(dataset, {}) if dataset else {}
        for table in (own, self.sizes, self.protocol):
            if key in table:
                return table[key]
        raise PaperError(f"profile {self.name!r} does not say {key!r}; add it to protocol.toml.")

    def settings(self) -> dict[str, Any]:
        """All of it as one dict: what results must have in common to stand in one file."""
        settings = {"profile": self.name, "protocol": dict(self.protocol), "sizes": dict(self.sizes)}
        if self.division != PAPER:
            settings["division"] = self.division
        if str(self.readings):
            settings["readings"] = str(self.readings)
        return settings


def paper_folder(paper: str) -> Path:
    """The folder of a paper."""
    return ROOT / "papers" / paper


def read_profile(paper: str, name: str, division: str = PAPER, readings: Sequence[str] = ()) -> Profile:
    """A profile of a paper, as written in its ``protocol.toml``; of its official protocol, where it has one.

    Examples
    --------
    >>> read_profile("cascades", "standard").get("folds")
    5
    """
    text = (paper_folder(paper) / "protocol.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    profiles = content.get("profiles", {})
    if name not in profiles:
        raise PaperError(f"{paper} has no profile {name!r}; it has {', '.join(profiles)}.")
    protocols = {PAPER: {}, **content.get("protocols", {})}
    if division not in protocols:
        raise PaperError(f"{paper} has no protocol {division!r}; it has {', '.join(protocols)}.")
    shared = {**content.get("protocol", {}), **protocols[division]}
    return Profile(name, shared, profiles[name], division, parse_readings(paper, readings))


def parse_readings(paper: str, settings: Sequence[str]) -> Readings:
    """Readings from texts such as ``kernel=homogeneous``; anything else is refused with a sentence.

    Examples
    --------
    >>> parse_readings("rcf", ["division=70/10/20"]).division
    '70/10/20'
    """
    values: dict[str, Any] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        options = OPTIONS[paper]
        if name not in options:
            raise PaperError(f"{paper} has no reading {name!r}; it has {', '.join(options)}.")
        if value not in options[name]:
            raise PaperError(f"{name} can be {' or '.join(options[name])}, not {value!r}.")
        values[name] = value
    return Readings(**values)


def published(paper: str) -> pd.DataFrame:
    """The published values of a paper: one row per (data set, method), see ``published.csv``."""
    return pd.read_csv(paper_folder(paper) / "published.csv", comment="#")


def published_cells(paper: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of :func:`published` by data set and method."""
    rows = published(paper).to_dict("records")
    return {(str(row["dataset"]), str(row["method"])): {str(k): v for k, v in row.items()} for row in rows}


def seed_of(*parts: object) -> int:
    """A 32-bit seed for the thing these parts name.

    Examples
    --------
    >>> seed_of("rcf", "vowel", 0) == seed_of("rcf", "vowel", 0) != seed_of("rcf", "vowel", 1)
    True
    """
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")


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
    * ``grid`` : optional, error counts of a whole grid (:func:`papers.records.pack`).

    The runner adds ``dataset``, ``repeat``, ``profile``, ``protocol``, ``versions``, ``machine``,
    ``peak_memory_bytes`` and ``finished``. A data set that is not available raises
    :class:`~surewood.tables.DataError`.

    `summarise` gives plain values (all keys but ``tables`` may be absent):

    * ``tables`` : list of ``{"name", "title", "note", "columns", "rows"}``; `rows` are lists of strings or
      numbers as long as `columns`; the first table is the paper's own, beside ours,
    * ``counts`` : list of sentences on how many sets a statement holds,
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
        """Do a unit's work; one record per method."""

    def summarise(
        self, records: Sequence[dict[str, Any]], profile: Profile, sets: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Tables, tests and counts from the records there are; sets without a record are missing.

        Tables and figures show `sets` (all by default); counts are always about all sets of the paper.
        """


def find_paper(name: str) -> Paper:
    """The paper of this name."""
    if name not in NAMES:
        raise PaperError(f"there is no paper called {name!r}; there are {', '.join(NAMES)}.")
    paper: Paper = import_module(f"papers.{name}").PAPER
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
        raise PaperError(
            f"{paper.name} has no data set {strange[0]!r}{under}; its sets are {', '.join(known)}."
        )
    return [name for name in known if name in wanted]
