"""The picture of a comparison: a page, or a PNG by matplotlib where that is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from surewood.report import charts, render_template, write_text
from surewood.report.words import number, percent, seconds
from surewood.workflow.comparison_scores import METRICS
from surewood.workflow.errors import WorkflowError

_LEGEND = (("surewood", "leaf", "dot"), ("other libraries", "peer", "dot"))
#: Name, values per fold, kind of axis, how a value is written, what to say.
_MEASURES: dict[str, tuple[str, str, Any, Callable[[float], str], str]] = {
    "error": ("Error", "errors", "percent", percent, "Fraction of wrong predictions; lower is better."),
    "auc": (
        "AUC",
        "aucs",
        "number",
        lambda v: number(v, 3),
        "Mean over classes, one against the rest; higher is better.",
    ),
    "log_loss": (
        "Log-loss",
        "log_losses",
        "number",
        lambda v: number(v, 3),
        "Quality of the probabilities; lower is better.",
    ),
    "fit": ("Fit time", "fit_times", "log", seconds, "Seconds per fit, logarithmic; lower is better."),
}


def write_comparison(result: dict[str, Any], path: Path) -> None:
    """Write a comparison as .html or .png."""
    if path.suffix.lower() == ".png":
        _write_picture(result, path)
    else:
        values = {
            **result,
            "results": _sorted(result),
            "title": f"Comparison on {result['table']}",
            "figures": _figures(result),
            "metric_name": METRICS[result["metric"]],
        }
        write_text(render_template("compare.html", values, package="surewood.workflow"), path)


def _figures(result: dict[str, Any]) -> list[dict[str, Any]]:
    """A chart per metric, the one that decides first: a dot per fold and a bar at the mean."""
    rows = _sorted(result)
    order = sorted(_MEASURES, key=lambda key: key != result["metric"])
    found = [{"key": key, "name": _MEASURES[key][0], "figure": _folds(key, rows)} for key in order]
    return [*found, {"key": "time", "name": "Error against time", "figure": _against_time(rows)}]


def _sorted(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The results, best first."""
    metric = result["metric"]
    return sorted(result["results"], key=lambda row: -row["auc"] if metric == "auc" else row[metric])


def _folds(key: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    name, values_key, kind, text, caption = _MEASURES[key]
    near = [value for row in rows if not row["floor"] for value in row[values_key]]
    # The baseline may lie far off: the scale is for the others, and the baseline's value stands beside it.
    limits = None if kind == "log" else (0.0, 1.0 if key in ("error", "auc") else 1e9)
    axis = charts.fitted_axis(near or [0.0, 1.0], kind, limits=limits)
    drawn = []
    for row in rows:
        color, values = _color(row), row[values_key]
        mean = sum(values) / len(values)
        parts = [
            charts.Part(value, value, color, f"fold {k + 1}: {text(value)}", "dot faint")
            for k, value in enumerate(values)
            if axis.low <= value <= axis.high
        ]
        if axis.low <= mean <= axis.high:
            parts.append(charts.Part(mean, mean, color, f"mean {text(mean)}", "tick"))
        drawn.append(charts.BarRow(row["title"], parts, text(mean), strong=row["ours"]))
    return charts.figure(
        name,
        charts.bar_rows(drawn, axis=axis, names=_LEGEND),
        caption=f"{caption} A dot per fold, a bar at the mean; the best on top.",
        alt=f"{name}: " + ", ".join(f"{row.name} {row.value}" for row in drawn),
    )


def _against_time(rows: list[dict[str, Any]]) -> dict[str, Any]:
    shown = [row for row in rows if not row["floor"]] or rows
    across = charts.fitted_axis([row["fit_seconds"] for row in shown], "log", "seconds per fit", margin=0.15)
    plot = charts.Plot(
        across,
        charts.fitted_axis([row["error"] for row in shown], "percent", "error", margin=0.12),
        height=320,
    )
    for row in shown:
        told = f"{row['title']}: error {percent(row['error'])}, {number(row['fit_seconds'])} s per fit"
        plot.points([row["fit_seconds"]], [row["error"]], _color(row), size=11, tips=[told])
        plot.text(row["fit_seconds"], row["error"], row["name"])
    caption = "Left and down is better: fast and with few errors. Without the majority-class baseline."
    return charts.figure("Error against time", plot.render(), caption=caption)


def _color(row: dict[str, Any]) -> str:
    return "leaf" if row["ours"] else "bark" if row["floor"] else "peer"


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
        axes.spines[["top", "right"]].set_visible(False)
    left.set_yticks(range(len(rows)), [row["title"] for row in rows])
    figure.suptitle(f"{result['table']}: {result['folds']} folds, bars are means", x=0.01, ha="left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
