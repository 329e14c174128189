"""The page of a monitor: the path of the evidence, and the limits of the error so far."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from surewood.monitor import Monitor
from surewood.report import charts, render_template, write_text

_TITLES = {"error": "Evidence that the error rose", "shift": "Evidence that rows look different"}


def write_monitor_page(monitor: Monitor, title: str, path: Path) -> None:
    """Write the page as one file that needs no other."""
    state, look = monitor.state, monitor.look()
    figures = [
        _evidence(kind, [point for point in state.path if point["kind"] == kind], state.alpha)
        for kind in _TITLES
        if any(point["kind"] == kind for point in state.path)
    ]
    limits = [point for point in state.path if "lower" in point]
    if limits and state.limit is not None:
        figures.append(_limits(limits, state.limit))
    values = {"title": f"Monitor of {title}", "state": state, "look": look, "figures": figures}
    write_text(render_template("monitor.html", values, package="surewood.workflow"), path)


def _evidence(kind: str, points: list[dict[str, Any]], alpha: float) -> dict[str, Any]:
    rows = [point["rows"] for point in points]
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": rows,
        "y": [max(-6.0, point["log_evidence"] / math.log(10.0)) for point in points],
        "line": {"color": "@leaf", "width": 2},
        "hovertemplate": "row %{x:,}: 10^%{y:.2f}<extra></extra>",
    }
    alarm = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, max(rows)],
        "y": [-math.log10(alpha)] * 2,
        "line": {"color": "@warn", "dash": "dash", "width": 1.5},
        "hoverinfo": "skip",
    }
    layout = {
        "showlegend": False,
        "xaxis": {"title": {"text": "rows since the start"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "evidence, powers of 10"}},
    }
    caption = f"Alarm at the dashed line, 1/{alpha:g} = {1 / alpha:.3g}. A path that falls is good news."
    return charts.figure(_TITLES[kind], [line, alarm], layout, height=300, caption=caption)


def _limits(points: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    rows = [point["rows"] for point in points]
    band = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": rows,
            "y": [point[side] for point in points],
            "line": {"color": "@sky", "width": 1.5},
            "name": side,
            "hovertemplate": f"{side} limit %{{y:.2%}}<extra></extra>",
        }
        for side in ("lower", "upper")
    ]
    guaranteed = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, max(rows)],
        "y": [limit, limit],
        "line": {"color": "@warn", "dash": "dash", "width": 1.5},
        "name": "guaranteed",
        "hoverinfo": "skip",
    }
    layout = {
        "xaxis": {"title": {"text": "labelled rows since the start"}, "rangemode": "tozero"},
        "yaxis": {"tickformat": ".1%", "rangemode": "tozero", "title": {"text": "error"}},
    }
    caption = "The true error lies between the limits at all times together; dashed: the guaranteed error."
    return charts.figure("Limits of the error so far", [*band, guaranteed], layout, caption=caption)
