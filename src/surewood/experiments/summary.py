"""A paper's own summary, completed with what every page shows: profile, sizes, what is missing, the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surewood.experiments.paper import Paper, chosen_sets
from surewood.experiments.protocol import OFFICIAL, PAPER, Profile


def complete_summary(
    paper: Paper,
    profile: Profile,
    records: Sequence[dict[str, Any]],
    missing: Mapping[str, str] | None = None,
    sets: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Everything that Markdown, HTML and JSON show, as plain values.

    Parameters
    ----------
    paper : Paper
    profile : Profile
    records : sequence of dict
        From a results file or from ``results.csv``.
    missing : mapping, optional
        Why a data set could not be had; sets without a record are missing in any case.
    sets : sequence of str, optional
        Only these data sets are shown; all by default.
    """
    shown = chosen_sets(paper, sets, profile)
    records = [
        record
        for record in records
        if record["dataset"] in shown and record.get("protocol", PAPER) == profile.division
    ]
    have = {record["dataset"] for record in records}
    reasons = missing or {}
    summary: dict[str, Any] = {
        "paper": paper.name,
        "title": paper.title + (", official division" if profile.division == OFFICIAL else ""),
        "profile": profile.name,
        "protocol": profile.division,
        "sizes": dict(profile.sizes),
        "bars": [],
        "deviations": [],
        "notes": [],
        "figures": [],
        **paper.summarise(records, profile, shown),
        "missing": [
            {"dataset": name, "reason": reasons.get(name, "not run")} for name in shown if name not in have
        ],
        "run": _run_facts(records),
    }
    return summary


def _run_facts(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    peaks = [record.get("peak_memory_bytes") or 0 for record in records]
    shared: dict[tuple[str, int], float] = {}  # a unit's methods share it; another unit may share nothing
    for r in records:
        key = (r["dataset"], r["repeat"])
        shared[key] = max(shared.get(key, 0.0), float(r.get("shared_seconds", 0.0)))
    versions = {
        tuple(sorted((name, v) for name, v in record.get("versions", {}).items() if name != "commit"))
        for record in records
    }
    return {
        "records": len(records),
        "seconds": round(sum(float(record["seconds"]) for record in records) + sum(shared.values()), 1),
        "peak_memory_bytes": max(peaks, default=0),
        "versions": [dict(items) for items in sorted(versions)],
        "commits": sorted({v for r in records if (v := r.get("versions", {}).get("commit"))}),
        "machines": sorted({record["machine"] for record in records if "machine" in record}),
    }
