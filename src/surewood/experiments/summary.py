"""A paper's own summary, completed with what every page shows: profile, sizes, what is missing, the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surewood.experiments.paper import Paper, chosen_sets
from surewood.experiments.protocol import Profile


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
    shown = chosen_sets(paper, sets)
    records = [record for record in records if record["dataset"] in shown]
    have = {record["dataset"] for record in records}
    reasons = missing or {}
    summary: dict[str, Any] = {
        "paper": paper.name,
        "title": paper.title,
        "profile": profile.name,
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
    shared = {(r["dataset"], r["repeat"]): float(r.get("shared_seconds", 0.0)) for r in records}
    versions = {tuple(sorted(record.get("versions", {}).items())) for record in records}
    return {
        "records": len(records),
        "seconds": round(sum(float(record["seconds"]) for record in records) + sum(shared.values()), 1),
        "peak_memory_bytes": max(peaks, default=0),
        "versions": [dict(items) for items in sorted(versions)],
        "machines": sorted({record["machine"] for record in records if "machine" in record}),
    }
