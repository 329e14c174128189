"""What differs from a paper: the decisions in force, read from ``decisions.toml`` beside this file.

An entry says what a paper leaves open or gets wrong, and what is done here. Where the protocol has a switch
for it (``key``), the sentence of the value in force is taken; sizes that a profile reduces are listed by
themselves.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from surewood.experiments.errors import ExperimentError
from surewood.experiments.protocol import Profile


def deviations(paper: str, profile: Profile, full: Profile) -> list[dict[str, str]]:
    """Rows ``{"subject", "paper", "here"}`` of a paper under a profile; `full` has the published sizes."""
    text = resources.files(__package__).joinpath("decisions.toml").read_text(encoding="utf-8")
    rows = [
        {
            "subject": f"{entry['subject']} [{entry['id']}]" if "id" in entry else entry["subject"],
            "paper": entry["paper"],
            "here": _in_force(entry, profile),
        }
        for entry in tomllib.loads(text)["decision"]
        if paper in entry["papers"]
    ]
    return rows + _reduced(profile, full)


def _in_force(entry: Mapping[str, Any], profile: Profile) -> str:
    if "key" not in entry:
        return str(entry["here"])
    value = str(profile.get(entry["key"]))
    if value not in entry["values"]:
        known = ", ".join(entry["values"])
        raise ExperimentError(f"{entry['key']} must be one of {known}, got {value!r}; see protocol.toml.")
    return str(entry["values"][value])


def _reduced(profile: Profile, full: Profile) -> list[dict[str, str]]:
    """Sizes that are not the published ones."""
    rows = []
    for name, size in profile.sizes.items():
        if name == "sets":
            for dataset, own in size.items():
                words = ", ".join(f"{key} {_words(value)}" for key, value in own.items())
                rows.append({"subject": f"sizes on {dataset}", "paper": "as on all sets", "here": words})
        elif size != full.sizes.get(name):
            published = _words(full.sizes.get(name, "–"))
            rows.append({"subject": f"size: {name}", "paper": published, "here": _words(size)})
    return rows


def _words(value: Any) -> str:
    return ", ".join(str(v) for v in value) if isinstance(value, list) else str(value)
