"""Run the units of a paper that are not in its results file yet.

The runner knows files, progress and provenance, and nothing of papers: it can be killed at any moment and
goes on where it was. Units run one after the other; threads work inside a unit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from surewood.experiments.cost import committed_records, cost_sentence, expected_cost
from surewood.experiments.display import Display
from surewood.experiments.errors import ExperimentError
from surewood.experiments.paper import Context, Paper, Unit, chosen_sets
from surewood.experiments.protocol import Profile
from surewood.experiments.provenance import forget_peak_memory, machine, peak_memory, versions
from surewood.experiments.records import RecordFile
from surewood.tables import DataError

RESULTS = "results.jsonl"


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
    resume : bool, default=False
        Go on with the records of an earlier sitting.
    n_jobs : int, default=1
        Threads inside a unit; results do not depend on it.
    display : Display, optional
        Shows what runs; quiet by default.
    """
    units = paper.units(profile, chosen_sets(paper, sets, profile))
    display = display or Display(None)
    versions()  # the commit that the code was read from: a checkout may change while the run goes on
    settings = {"paper": paper.name, **profile.settings()}
    with RecordFile(out / RESULTS, settings, resume) as file:
        outcome = Outcome(file.path, file.records)
        done = _methods_done(file.records)
        left = [unit for unit in units if not _before(unit, done).issuperset(unit.methods)]
        cost = expected_cost(left, committed_records(paper.name, profile.division))
        display.announce(cost_sentence(paper.name, left, profile, cost))
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
            raise ExperimentError(
                f"{paper.name}: {unit.dataset} yielded {method!r}, which was not asked for."
            )
        left.remove(method)
        file.add(_complete(record, unit, profile))
        count += 1
    if left:
        raise ExperimentError(f"{paper.name}: {unit.dataset} yielded nothing for {', '.join(sorted(left))}.")
    return count


def _complete(record: Mapping[str, Any], unit: Unit, profile: Profile) -> dict[str, Any]:
    """A record with all that the runner knows."""
    whole = {
        "dataset": unit.dataset,
        "repeat": unit.repeat,
        **record,
        "profile": profile.name,
        "protocol": profile.division,
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
