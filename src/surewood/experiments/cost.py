"""What a run will cost, by the seconds of the committed records: ``papers/NAME/results.csv``."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surewood.experiments.errors import ExperimentError
from surewood.experiments.paper import Unit
from surewood.experiments.protocol import PAPER, Profile, paper_folder
from surewood.experiments.results_csv import read_csv
from surewood.report import words

_SMALLER_FIRST = ("quick", "standard", "full")
_NAMED = 4


@dataclass(frozen=True)
class Cost:
    """Seconds of the units of a run."""

    #: By data set, as far as there are records.
    seconds: Mapping[str, float]
    #: Number of methods, over all units, of which there is no record.
    unknown: int
    #: Profile and protocol of the records.
    profile: str
    division: str = PAPER

    @property
    def total(self) -> float:
        """Over all data sets."""
        return sum(self.seconds.values())


def committed_records(paper: str, division: str = PAPER) -> list[dict[str, Any]]:
    """The committed records of a paper's protocol, else those of its own; none where there is no file."""
    try:
        path = paper_folder(paper) / "results.csv"
    except ExperimentError:
        return []
    records = read_csv(path) if path.is_file() else []
    own = [record for record in records if record["protocol"] == division]
    return own or [record for record in records if record["protocol"] == PAPER]


def expected_cost(units: Sequence[Unit], records: Sequence[Mapping[str, Any]]) -> Cost | None:
    """What units cost if each method takes as long as it did in the records; None without records.

    Examples
    --------
    >>> record = {"dataset": "iris", "method": "rf", "profile": "quick", "seconds": 2.0, "shared_seconds": 1}
    >>> found = expected_cost([Unit("iris", 0, ("rf", "new"))], [record])
    >>> found.total, found.unknown
    (3.0, 1)
    """
    if not records:
        return None
    own: dict[tuple[str, str], list[float]] = {}
    shared: dict[tuple[str, str], list[float]] = {}
    for record in records:
        key = (record["dataset"], record["method"])
        own.setdefault(key, []).append(float(record["seconds"]))
        shared.setdefault(key, []).append(float(record.get("shared_seconds", 0.0)))
    seconds: dict[str, float] = {}
    unknown = 0
    for unit in units:
        known = [(unit.dataset, method) for method in unit.methods if (unit.dataset, method) in own]
        unknown += len(unit.methods) - len(known)
        if known:
            cost = sum(statistics.fmean(own[key]) for key in known)
            cost += max(statistics.fmean(shared[key]) for key in known)
            seconds[unit.dataset] = seconds.get(unit.dataset, 0.0) + cost
    first = records[0]
    return Cost(seconds, unknown, str(first["profile"]), str(first.get("protocol", PAPER)))


def cost_sentence(paper: str, units: Sequence[Unit], profile: Profile, cost: Cost | None) -> str:
    """What is about to run and how long it will take, for the line before the first unit."""
    n_sets = len({unit.dataset for unit in units})
    what = (
        f"{paper}, profile {profile.name}: {len(units)} unit{'s' * (len(units) != 1)} on {n_sets} "
        f"data set{'s' * (n_sets != 1)}"
    )
    if not units:
        return f"{what}: everything is done."
    if cost is None or not cost.seconds:
        return f"{what}; there are no records to estimate the time from."
    largest = sorted(cost.seconds.items(), key=lambda item: -item[1])
    parts = [f"{name} {words.seconds(seconds)}" for name, seconds in largest[:_NAMED]]
    if len(largest) > _NAMED:
        parts.append(f"the others {words.seconds(sum(seconds for _, seconds in largest[_NAMED:]))}")
    listed = f" ({', '.join(parts)})" if len(largest) > 1 else ""
    took = f"{words.seconds(cost.total)} at the pace of the committed records{listed}"
    more = f"; {cost.unknown} of the results have no record to estimate from" if cost.unknown else ""
    if profile.division != cost.division:
        more += "; those are of the paper's own division, and the official parts are larger"
    if profile.name == cost.profile:
        return f"{what}, about {took}{more}."
    names = (profile.name, cost.profile)
    how = ""
    if set(names) <= set(_SMALLER_FIRST):
        smaller = min(names, key=_SMALLER_FIRST.index)
        how = f"; {profile.name} takes {'less' if profile.name == smaller else 'more'}"
    return f"{what}. As many units of profile {cost.profile} take about {took}{more}{how}."
