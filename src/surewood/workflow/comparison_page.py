"""The picture of a comparison: a page by plotly, or a PNG by matplotlib where that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surewood.report import charts, render_template, write_text
from surewood.workflow.errors import WorkflowError


def write_comparison(result: dict[str, Any], path: Path) -> None:
    """Write a comparison as .html or .png."""
    if path.suffix.lower() == ".png":
        _write_picture(result, path)
    else:
        values = {**result, "title": f"Comparison on {result['table']}", "figures": _figures(result)}
        write_text(render_template("compare.html", values, package="surewood.workflow"), path)


def _figures(result: dict[str, Any]) -> list[dict[str, Any]]:
    rows = result["results"][::-1]
    # In lines, so that the names leave room for the chart on a phone.
    names = [charts.label(row["title"]).replace(" (", "<br>(").replace(", ", ",<br>") for row in rows]
    found = []
    for key, title, scale in (
        ("errors", "Error of each fold, percent", 100.0),
        ("log_losses", "Log-loss of each fold", 1.0),
    ):
        traces = [
            {
                "type": "box",
                "orientation": "h",
                "x": [scale * value for value in row[key]],
                "y": [name] * len(row[key]),
                "name": name,
                "boxpoints": "all",
                "boxmean": True,
                "marker": {"color": "@leaf" if row["ours"] else "@peer"},
                "showlegend": False,
            }
            for name, row in zip(names, rows)
        ]
        layout = {"xaxis": {"rangemode": "tozero"}, "yaxis": {"automargin": True}}
        found.append(charts.figure(title, traces, layout, height=60 + 48 * len(rows)))
    traces = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": [row["fit_seconds"]],
            "y": [100 * row["error"]],
            "text": [charts.label(row["name"])],
            "textposition": "top center",
            "cliponaxis": False,
            "marker": {"size": 11, "color": "@leaf" if row["ours"] else "@peer"},
            "showlegend": False,
        }
        for row in result["results"]
    ]
    layout = {
        "xaxis": {"type": "log", "title": {"text": "seconds per fit"}},
        "yaxis": {"title": {"text": "error, percent"}, "rangemode": "tozero"},
    }
    found.append(charts.figure("Error against time", traces, layout, height=340))
    return found


def _write_picture(result: dict[str, Any], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise WorkflowError(
            "a .png needs matplotlib (pip install 'surewood[plots]'); an .html does not."
        ) from None
    rows = result["results"][::-1]
    figure = Figure(figsize=(9, 1.2 + 0.42 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, key, title, scale in (
        (left, "errors", "error, percent", 100.0),
        (right, "log_losses", "log-loss", 1.0),
    ):
        for place, row in enumerate(rows):
            color = "#2f7d4f" if row["ours"] else "#8a8f98"
            values = [scale * value for value in row[key]]
            axes.plot(values, [place] * len(values), "o", color=color, alpha=0.35, markersize=5)
            axes.plot(sum(values) / len(values), place, "|", color=color, markersize=22, markeredgewidth=3)
        axes.set_xlabel(title)
        axes.set_xlim(left=0)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_yticks(range(len(rows)), [row["title"] for row in rows])
    figure.suptitle(f"{result['table']}: {result['folds']} folds, bars are means", x=0.01, ha="left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
