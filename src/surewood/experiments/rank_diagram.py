"""Average ranks of methods as a picture, with the critical distance of Nemenyi's test (theory.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from surewood.report.charts import Axis, Plot, figure

LEVEL = 0.05


def critical_distance(n_methods: int, n_sets: int, level: float = LEVEL) -> float:
    """Average ranks that differ by less are not told apart by Nemenyi's test (theory.md §7).

    Examples
    --------
    >>> round(critical_distance(5, 30), 2)  # Demsar, 2006: q = 2.728
    1.11
    """
    q = float(stats.studentized_range.ppf(1.0 - level, n_methods, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def groups(ranks: Mapping[str, float], distance: float) -> list[tuple[str, ...]]:
    """Largest runs of neighboring methods whose ranks differ by less than the distance.

    Examples
    --------
    >>> groups({"a": 1.0, "b": 1.5, "c": 2.4}, 1.0)
    [('a', 'b'), ('b', 'c')]
    """
    names = sorted(ranks, key=lambda name: ranks[name])
    found: list[tuple[str, ...]] = []
    for k, first in enumerate(names):
        run = tuple(name for name in names[k:] if ranks[name] - ranks[first] < distance)
        if len(run) > 1 and (not found or run[-1] != found[-1][-1]):
            found.append(run)
    return found


def rank_diagram(title: str, ranks: Mapping[str, float], n_sets: int) -> dict[str, Any]:
    """A figure: one dot per method, and bars over the methods that the data do not tell apart."""
    distance = critical_distance(len(ranks), n_sets)
    together = groups(ranks, distance)
    names = sorted(ranks, key=lambda name: ranks[name])
    n_lines = len(names) + len(together) + 1  # the distance itself on top
    high = float(max(len(names), 1.0 + distance))
    plot = Plot(
        Axis(0.9, high + 0.1, "number", "average rank (1 is best)", whole=True),
        Axis(-n_lines, 0.0, "none"),
        height=26 * n_lines,
    )
    plot.line([1.0, 1.0 + distance], [-0.5, -0.5], "ink", width=2.5)
    plot.text(1.0 + distance, -0.5, f"critical distance {distance:.2f}")
    for k, name in enumerate(names, start=1):
        plot.points([ranks[name]], [-k - 0.5], "leaf", tips=[f"{name}: {ranks[name]:.2f}"])
        plot.text(ranks[name], -k - 0.5, f"{name} {ranks[name]:.2f}")
    for k, group in enumerate(together, start=len(names) + 1):
        ends = [ranks[group[0]], ranks[group[-1]]]
        plot.line(ends, [-k - 0.5, -k - 0.5], "bark", width=5.0)
    note = (
        f"Over {n_sets} data set{'s' * (n_sets != 1)}. Ranks that differ by less than the critical distance "
        f"(Nemenyi's test, level {LEVEL:g}) are not told apart by these data; a bar at the bottom joins such "
        "methods."
    )
    alt = f"{title}: " + ", ".join(f"{name} {ranks[name]:.2f}" for name in names)
    return figure(title, plot.render(), caption=note, alt=alt)
