"""A chain of classifiers as a Sankey diagram: rows that arrive, leave and go on."""

from __future__ import annotations

from typing import Any

from surewood.report.charts import label
from surewood.report.plain import short

__all__ = ["flow"]


def flow(variant: dict[str, Any]) -> dict[str, Any]:
    """A variant of a flow chart as plotly's data, for wide and narrow screens."""
    stages = variant["stages"]
    return {
        "name": short(variant["name"] or "all classes", 48),
        "data": [_sankey(stages)],
        "narrow": [_sankey(stages, False)],
        "height": 150 + 70 * len(stages),
    }


def _sankey(stages: list[dict[str, Any]], roomy: bool = True) -> dict[str, Any]:
    """The chain as nodes and links; labels are short where there is little room."""
    k = len(stages)
    names, exits, colors = [], [], []
    for i, stage in enumerate(stages):
        names.append(f"{i + 1}: {label(stage['label'])}, {stage['arrive']:,} rows" if roomy else str(i + 1))
        correct = _correct(stage) if roomy else ""
        exits.append(f"{stage['points']:,} leave{correct}")
        colors.append("@leaf" if stage["accuracy"] is None or stage["accuracy"] >= 0.5 else "@warn")
    links = _links(stages)
    return {
        "type": "sankey",
        "arrangement": "snap",
        "textfont": {"color": "@ink", "size": 12.5},
        "node": {
            "label": names + exits,
            "color": ["@sky"] * k + colors,
            "line": {"width": 0, "color": "@line"},
            "pad": 26,
            "thickness": 14,
            "x": [0.001 + 0.85 * i / k for i in range(k)] + [0.999] * k,
            "y": _heights(stages),
            "hovertemplate": "%{label}<extra></extra>",
        },
        "link": {
            "source": [link[0] for link in links],
            "target": [link[1] for link in links],
            "value": [link[2] for link in links],
            "color": [link[3] for link in links],
            "customdata": [link[4] for link in links],
            "hovertemplate": "%{customdata}<extra></extra>",
        },
    }


def _correct(stage: dict[str, Any]) -> str:
    return "" if stage["accuracy"] is None else f", {100 * stage['accuracy']:.1f} % correct"


def _links(stages: list[dict[str, Any]]) -> list[tuple[int, int, int, str, str]]:
    """Source, target, rows, color and hint of each link."""
    links, k = [], len(stages)
    for i, stage in enumerate(stages):
        threshold, leave = stage["threshold"], stage["points"]
        if leave:
            beyond = "" if threshold is None else f"|f| &gt; {threshold:.3g}: "
            hint = f"{beyond}{leave:,} rows leave here{_correct(stage)}"
            links.append((i, k + i, leave, "@leaf-soft", hint))
        on = stage["arrive"] - leave
        if i + 1 < k and on:
            hint = f"{on:,} rows go on" if threshold is None else f"|f| ≤ {threshold:.3g}: {on:,} rows go on"
            links.append((i, i + 1, on, "@peer-soft", hint))
    return links


def _heights(stages: list[dict[str, Any]]) -> list[float]:
    """Centers of classifiers, along the bottom, and of exits, from the top down: so no two links cross."""
    total = max(1, stages[0]["arrive"])
    left = [stage["points"] / total for stage in stages]
    arrive = [stage["arrive"] / total for stage in stages]
    centers = [1 - part / 2 for part in arrive] + [sum(left[:i]) + left[i] / 2 for i in range(len(left))]
    room = 0.9 - 0.04 * len(stages)  # the rest is the space between exits
    return [min(0.999, max(0.001, room * center)) for center in centers]
