"""The published errors of random composite forests that are reached under one of the two protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surewood.experiments.comparison import Results, count_bar
from surewood.experiments.protocol import OFFICIAL, PAPER, published

METHODS = ("rcf_refit", "surewood")
NEEDED = 8


def either_bar(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sets on which the refitted forest or the default is at or below the published error, as a bar.

    Parameters
    ----------
    records : sequence of dict
        Of both protocols.
    """
    targets = published("rcf").set_index(["dataset", "method"])["error"]
    sets = list(dict.fromkeys(str(name) for name, _ in targets.index))
    by_protocol = [
        Results([record for record in records if record["protocol"] == name]) for name in (PAPER, OFFICIAL)
    ]
    errors = {
        name: [
            100 * results.spread(name, method).mean
            for results in by_protocol
            for method in METHODS
            if results.has(name, method)
        ]
        for name in sets
    }
    have = [name for name in sets if errors[name]]
    good = [name for name in have if min(errors[name]) <= targets[name, "rcf"] + 1e-9]
    bar = (
        "RCF, refitted or as the library's default, at or below the published RCF under one of the two "
        f"protocols on at least {NEEDED} of {len(sets)}"
    )
    return count_bar(bar, NEEDED, good, have, sets)
