"""Charts as plain dictionaries that ``parts.chart`` puts on a page and plotly draws.

`figure` makes one; `label` turns a name into text that plotly shows as it is. Colors are names of the style
sheet with an ``@`` before them (``@leaf``, ``@soft``, ...), so that they follow light and dark; they are
looked up only under keys whose name contains "color". The rest of the file are the charts that all models
share; those that a model describes itself with are drawn in :mod:`surewood.report.blocks`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood.report.plain import plain_dict, short
from surewood.report.words import percent, percent_up

__all__ = ["COLOURS", "figure", "label"]

#: Colors of series, in their order.
COLOURS = ("@leaf", "@sky", "@bark", "@plum", "@warn", "@peer")
SCALE = [[0, "@seq0"], [0.35, "@seq1"], [0.7, "@seq2"], [1, "@seq3"]]


def label(text: Any, limit: int = 40) -> str:
    """A name as plotly shows it unchanged: plotly reads tags and entities, so they are escaped.

    Examples
    --------
    >>> label("<b>R&D</b>")
    '&lt;b&gt;R&amp;D&lt;/b&gt;'
    """
    return short(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def figure(
    title: str,
    data: list[dict[str, Any]] | None = None,
    layout: dict[str, Any] | None = None,
    *,
    height: int = 300,
    caption: str = "",
    variants: list[dict[str, Any]] | None = None,
    choose: str = "choose",
) -> dict[str, Any]:
    """A chart for the macro ``parts.chart``.

    Parameters
    ----------
    title, caption : str
    data : list of dict
        Traces of plotly.
    layout : dict, optional
        Of plotly; fonts, colors, grid and margins are set by the page.
    height : int
        Pixels.
    variants : list of dict, optional
        To choose from in a list, instead of `data`: ``name``, ``data`` and on wish ``layout``, ``height`` and
        ``narrow`` (the data for narrow screens).
    choose : str
        What the list is called for screen readers.

    Examples
    --------
    >>> chart = figure("points", [{"type": "bar", "x": ["a"], "y": [3], "marker": {"color": "@leaf"}}])
    >>> chart["variants"][0]["data"][0]["y"]
    [3]
    """
    shown = [{"name": "", "data": data or []}] if variants is None else variants
    return plain_dict(
        {
            "title": title,
            "caption": caption,
            "height": height,
            "choose": choose,
            "layout": layout or {},
            "variants": shown,
        }
    )


def confusion(facts: dict[str, Any], sample: str) -> dict[str, Any]:
    """Counts by true and predicted class; colors are fractions of the true class."""
    names = [label(name, 24) for name in facts["labels"]]
    counts = np.array(facts["matrix"], dtype=float)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    n = len(names)
    trace = {
        "type": "heatmap",
        "x": list(range(n)),
        "y": list(range(n)),
        "z": share,
        "customdata": counts,
        "colorscale": SCALE,
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "text": [[str(int(v)) if v else "" for v in row] for row in counts],
        "hovertemplate": "%{customdata} rows, %{z:.1%} of this class<extra></extra>",
    }
    if n <= 12:
        trace["texttemplate"] = "%{text}"
    ticks = {"tickmode": "array", "tickvals": list(range(n)), "ticktext": names, "showgrid": False}
    return figure(
        "Confusion matrix",
        [trace],
        {
            "xaxis": {**ticks, "title": {"text": "predicted"}},
            "yaxis": {**ticks, "title": {"text": "true"}, "autorange": "reversed"},
        },
        height=max(320, min(560, 90 + 26 * n)),
        caption=f"Rows of the {sample}; the stronger the color, the larger the fraction of the true class.",
    )


def calibration(facts: dict[str, Any], sample: str) -> dict[str, Any]:
    """Observed against predicted probability."""
    bins = facts["bins"]
    predicted, observed = [b["predicted"] for b in bins], [b["observed"] for b in bins]
    most = max(b["rows"] for b in bins)
    ideal = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 1],
        "y": [0, 1],
        "line": {"color": "@peer", "dash": "dot", "width": 1.5},
        "hoverinfo": "skip",
    }
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": predicted,
        "y": observed,
        "customdata": [b["rows"] for b in bins],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [b["high"] - b["observed"] for b in bins],
            "arrayminus": [b["observed"] - b["low"] for b in bins],
            "color": "@leaf",
            "thickness": 1,
            "width": 3,
        },
        "marker": {"color": "@leaf", "size": [5 + 13 * (b["rows"] / most) ** 0.5 for b in bins]},
        "hovertemplate": "predicted %{x:.1%}, observed %{y:.1%}<br>%{customdata} rows<extra></extra>",
    }
    share = {"tickformat": ".0%", "range": [-0.03, 1.03]}
    return figure(
        "Calibration",
        [ideal, trace],
        {
            "showlegend": False,
            "xaxis": {**share, "title": {"text": label(facts["of"], 60)}},
            "yaxis": {**share, "title": {"text": "observed frequency"}},
        },
        height=340,
        caption="On the dotted line, a prediction of 80 % is correct in 80 of 100 cases. Mean gap on the "
        f"{sample}: {100 * facts['expected_calibration_error']:.1f} points; bars are 95 % intervals; large "
        "dots have many rows.",
    )


def class_balance(classes: list[dict[str, Any]], limit: int = 30) -> dict[str, Any]:
    """Rows of each class."""
    shown = classes[:limit][::-1]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [c["rows"] for c in shown],
        "y": list(range(len(shown))),
        "customdata": [c["share"] for c in shown],
        "marker": {"color": "@leaf"},
        "hovertemplate": "%{x:,} rows, %{customdata:.1%}<extra></extra>",
    }
    left = len(classes) - len(shown)
    return figure(
        "Classes in training",
        [trace],
        {"xaxis": {"title": {"text": "rows"}}, "yaxis": _names([c["label"] for c in shown]), "bargap": 0.35},
        height=max(180, 70 + 24 * len(shown)),
        caption=f"The {limit} largest; {left} smaller ones are not drawn." if left else "",
    )


def importances(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Impurity importances of the most important columns."""
    shown = rows[::-1]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [r["importance"] for r in shown],
        "y": list(range(len(shown))),
        "marker": {"color": "@sky"},
        "hovertemplate": "%{x:.1%}<extra></extra>",
    }
    return figure(
        "Feature importance",
        [trace],
        {
            "xaxis": {"tickformat": ".0%", "title": {"text": "fraction of the impurity removed"}},
            "yaxis": _names([r["column"] for r in shown]),
            "bargap": 0.35,
        },
        height=max(200, 70 + 22 * len(shown)),
        caption="HEURISTIC: favors columns with many values; permutation importances are fairer.",
    )


def guarantees(certificate: dict[str, Any], scores: dict[str, Any]) -> dict[str, Any] | None:
    """The guarantees beside the measured error and the majority-class baseline."""
    rows = [("baseline (majority class)", scores["majority_error"], "@peer", "measured")]
    if scores["sample"] == "holdout":
        rows.append(("this model, holdout", scores["error"], "@sky", "ESTIMATE"))
    rows += [
        (entry["method"], entry["value"], "@leaf", "GUARANTEE: not larger")
        for entry in certificate["entries"]
        if entry["status"] == "GUARANTEE" and entry.get("quantity", "error") == "error"
    ]
    if len(rows) < 2:
        return None
    rows = rows[::-1]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [row[1] for row in rows],
        "y": list(range(len(rows))),
        "text": [percent_up(row[1]) if row[2] == "@leaf" else percent(row[1]) for row in rows],
        "textposition": "auto",
        "customdata": [row[3] for row in rows],
        "marker": {"color": [row[2] for row in rows]},
        "hovertemplate": "%{text} (%{customdata})<extra></extra>",
    }
    return figure(
        "Errors: measured and guaranteed",
        [trace],
        {
            "xaxis": {"tickformat": ".0%", "rangemode": "tozero", "tickangle": 0, "nticks": 4},
            "yaxis": _names([row[0] for row in rows]),
            "bargap": 0.4,
        },
        height=70 + 42 * len(rows),
    )


def _names(names: list[Any]) -> dict[str, Any]:
    """A vertical axis of names, over positions: names that look like numbers or dates stay names."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [label(name, 32) for name in names],
        "showgrid": False,
        "zeroline": False,
    }
