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
    height = [max(-6.0, point["log_evidence"] / math.log(10.0)) for point in points]
    alarm = -math.log10(alpha)
    across = charts.fitted_axis(rows, title="rows since the start", include=(0.0,))
    up = charts.fitted_axis([*height, alarm], title="evidence, powers of 10")
    plot = charts.Plot(across, up)
    plot.mark(y=alarm, color="warn", name="alarm")
    plot.line(rows, height, "leaf", name="evidence")
    plot.points(rows, height, "leaf", size=5, tips=[f"row {n:,}: 10^{h:.2f}" for n, h in zip(rows, height)])
    caption = f"Alarm at the dashed line, 1/{alpha:g} = {1 / alpha:.3g}. A path that falls is good news."
    alt = f"{_TITLES[kind]}: ends at 10 to the power of {height[-1]:.2f}, the alarm is at {alarm:.2f}"
    return charts.figure(_TITLES[kind], plot.render(), caption=caption, alt=alt)


def _limits(points: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    rows = [point["rows"] for point in points]
    lower, upper = ([point[side] for point in points] for side in ("lower", "upper"))
    across = charts.fitted_axis(rows, title="labelled rows since the start", include=(0.0,))
    up = charts.fitted_axis([*upper, limit], "percent", "error", include=(0.0,), limits=(0.0, 1.0))
    plot = charts.Plot(across, up)
    plot.band(rows, lower, upper, "peer-soft")
    for name, values in (("lower limit", lower), ("upper limit", upper)):
        plot.line(rows, values, "sky", name=name)
        told = [f"row {n:,}: {name} {100 * v:.2f} %" for n, v in zip(rows, values)]
        plot.points(rows, values, "sky", size=6, tips=told)
    plot.mark(y=limit, color="warn", name="watched")
    caption = "The true error lies between the limits at all times together; dashed: the error watched."
    alt = f"Limits of the error so far: {100 * lower[-1]:.2f} to {100 * upper[-1]:.2f} %"
    return charts.figure("Limits of the error so far", plot.render(), caption=caption, alt=alt)
