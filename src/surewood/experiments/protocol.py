"""What a paper's folder says: profiles (sizes only) from ``protocol.toml``, targets from ``published.csv``.

``protocol.toml`` has a table ``[protocol]`` with everything that no profile changes, and one table
``[profiles.NAME]`` with sizes. ``[profiles.NAME.sets.DATASET]`` overrides sizes for one data set. A second
protocol, ``[protocols.official]``, trains on the official training part of its `data_sets` and tests on the
official test part; what it says goes before ``[protocol]``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from surewood.experiments.errors import ExperimentError

PAPER, OFFICIAL = "paper", "official"
_HERE = Path(__file__).resolve().parent


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
    """

    name: str
    protocol: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Any] = field(default_factory=dict)
    division: str = PAPER

    def get(self, key: str, dataset: str | None = None) -> Any:
        """A size (of a data set, where it has its own), or else a value of the protocol."""
        own = self.sizes.get("sets", {}).get(dataset, {}) if dataset else {}
        for table in (own, self.sizes, self.protocol):
            if key in table:
                return table[key]
        raise ExperimentError(f"profile {self.name!r} does not say {key!r}; add it to protocol.toml.")

    def settings(self) -> dict[str, Any]:
        """All of it as one dict: what results must have in common to stand in one file."""
        own = {"division": self.division} if self.division != PAPER else {}
        return {"profile": self.name, "protocol": dict(self.protocol), "sizes": dict(self.sizes), **own}


def paper_folder(paper: str) -> Path:
    """The folder with a paper's protocol: in a checkout ``papers/NAME``, else beside the installed code."""
    for base in (_HERE.parents[2] / "papers", _HERE / "papers"):
        if (base / paper / "protocol.toml").is_file():
            return base / paper
    raise ExperimentError(f"papers/{paper}/protocol.toml was not found; run from a checkout of surewood.")


def read_profile(paper: str, name: str, division: str = PAPER) -> Profile:
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
        raise ExperimentError(f"{paper} has no profile {name!r}; it has {', '.join(profiles)}.")
    protocols = {PAPER: {}, **content.get("protocols", {})}
    if division not in protocols:
        raise ExperimentError(f"{paper} has no protocol {division!r}; it has {', '.join(protocols)}.")
    shared = {**content.get("protocol", {}), **protocols[division]}
    return Profile(name, shared, profiles[name], division)


def published(paper: str) -> pd.DataFrame:
    """The published values of a paper: one row a (data set, method), see ``published.csv``."""
    return pd.read_csv(paper_folder(paper) / "published.csv", comment="#")
