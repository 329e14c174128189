"""Charts that models describe themselves with, drawn by their kind.

A model's ``__report_facts__`` has sections of blocks (:mod:`surewood.estimators.describing`): text, tables
and charts. Here each kind of chart becomes a figure of :func:`surewood.report.charts.figure`; no model is
known by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surewood.report.charts import figure, label
from surewood.report.flow_chart import flow

__all__ = ["draw", "draw_sections"]

#: Colors of classes in scatter plots; they can be told apart on light and dark backgrounds.
CLASS_COLORS = (
    "#3f8f5f", "#4a86c5", "#c8803f", "#a35fa8", "#d0604a", "#8a8f3a", "#3fa3a3", "#7a6fd0", "#c0587f",
    "#8c8c8c", "#5fa83f", "#b59a2f",
)  # fmt: skip
TONES = {"main": "@leaf", "second": "@sky", "third": "@bark", "fourth": "@plum", "other": "@peer"}
_SYMBOLS = ("circle", "diamond", "square", "x")
_LEVELS = ("@seq0", "@seq1", "@seq2", "@seq3")


def draw_sections(facts: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Sections with their charts drawn; text and tables stay as they are."""
    if facts is None:
        return []
    return [
        {**section, "blocks": [_drawn(block) for block in section["blocks"]]} for section in facts["sections"]
    ]


def _drawn(block: dict[str, Any]) -> dict[str, Any]:
    if block["kind"] not in _CHARTS:
        return block
    return {"kind": "chart", "wide": block["wide"], "figure": draw(block)}


def draw(block: dict[str, Any]) -> dict[str, Any]:
    """A chart block as a figure.

    Examples
    --------
    >>> from surewood.estimators import describing
    >>> bars = [{"name": "", "names": ["a"], "series": [describing.series("rows", [3])]}]
    >>> draw(describing.chart("bars", "Rows", bars))["variants"][0]["data"][0]["y"]
    [3]
    """
    return _CHARTS[block["kind"]](block)


def _bars(block: dict[str, Any]) -> dict[str, Any]:
    """Stacked bars, one per name."""
    variants = []
    for variant in block["variants"]:
        traces = [
            {
                "type": "bar",
                "name": label(one["name"]),
                "x": [label(name) for name in variant["names"]],
                "y": one["values"],
                "customdata": one["hints"] or [""] * len(one["values"]),
                "marker": {"color": TONES[one["tone"]]},
                "hovertemplate": "%{x}: %{y:,.4~g}<br>%{customdata}<extra></extra>",
            }
            for one in variant["series"]
        ]
        variants.append({"name": variant["name"], "data": traces})
    layout = {
        "barmode": "stack",
        "bargap": 0.4,
        "showlegend": len(block["variants"][0]["series"]) > 1,
        "yaxis": {"title": {"text": label(block.get("y_title", ""), 60)}},
        "xaxis": {"type": "category"},
    }
    return _figure(block, layout, variants, height=300)


def _lines(block: dict[str, Any]) -> dict[str, Any]:
    """Lines over a common x, with steps, labels of points and a mark where the block has them."""
    form = ".1%" if block.get("y_format") == "percent" else ""
    variants = [
        {"name": variant["name"], "data": [_line(block, variant, one, form) for one in variant["series"]]}
        for variant in block["variants"]
    ]
    first = block["variants"][0]
    xaxis: dict[str, Any] = {"title": {"text": label(block.get("x_title", ""), 60)}}
    if block.get("whole_x"):
        xaxis |= {"dtick": 1, "range": [0.6, len(first["x"]) + 0.4]}
    layout: dict[str, Any] = {
        "showlegend": len(first["series"]) > 1,
        "xaxis": xaxis,
        "yaxis": {"tickformat": form, "title": {"text": label(block.get("y_title", ""), 60)}},
    }
    if block.get("mark") is not None:
        at = {"x0": block["mark"], "x1": block["mark"], "y0": 0, "y1": 1}
        line = {"color": "@peer", "dash": "dot", "width": 1.5}
        layout["shapes"] = [{"type": "line", "xref": "x", "yref": "paper", "line": line, **at}]
    return _figure(block, layout, variants, height=340 if block["wide"] else 270)


def _line(block: dict[str, Any], variant: dict[str, Any], one: dict[str, Any], form: str) -> dict[str, Any]:
    color, steps = TONES[one["tone"]], block.get("steps", False)
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines" if steps else "lines+markers",
        "name": label(one["name"], 60),
        "x": variant["x"],
        "y": one["values"],
        "line": {"color": color, "width": 2, **({"shape": "hvh"} if steps else {})},
        "marker": {"color": color, "size": 7},
        "hovertemplate": f"%{{x:,.4~g}}: %{{y:{form or '.4g'}}}<extra></extra>",
    }
    if variant.get("labels"):
        trace |= {"mode": "lines+markers+text", "text": [label(text) for text in variant["labels"]]}
        trace["textposition"] = "top center"
    return trace


def _points(block: dict[str, Any]) -> dict[str, Any]:
    """A scatter plot without axes, colored by class."""
    variants, n_classes = [], 0
    for variant in block["variants"]:
        codes = np.array(variant["codes"], dtype=np.int64)
        x, y = np.array(variant["x"]), np.array(variant["y"])
        traces = [
            _class_points(x, y, codes == code, block["classes"][code], code) for code in np.unique(codes)
        ]
        n_classes = max(n_classes, len(traces))
        variants.append({"name": variant["name"], "data": traces})
    quiet = {"showticklabels": False, "zeroline": False, "showgrid": False, "ticks": ""}
    layout = {
        "xaxis": quiet,
        "yaxis": quiet,
        "margin": {"l": 6, "r": 6, "t": 10, "b": 6},
        "legend": {"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0},
        "showlegend": n_classes <= 15,
    }
    return _figure(block, layout, variants, height=340)


def _class_points(x: Any, y: Any, here: Any, name: str, code: int) -> dict[str, Any]:
    marker = {
        "color": CLASS_COLORS[code % len(CLASS_COLORS)],
        "symbol": _SYMBOLS[code // len(CLASS_COLORS) % len(_SYMBOLS)],
        "size": 6,
        "opacity": 0.85,
    }
    trace = {"type": "scatter", "mode": "markers", "name": label(name, 18), "hoverinfo": "name"}
    return {**trace, "x": x[here], "y": y[here], "marker": marker}


def _icicle(block: dict[str, Any]) -> dict[str, Any]:
    """A tree as nested bars, root on top, as wide as their rows."""
    variants = []
    for variant in block["variants"]:
        nodes = variant["nodes"]
        depth = max(node["depth"] for node in nodes)
        trace = {
            "type": "icicle",
            "ids": [str(node["id"]) for node in nodes],
            "parents": ["" if node["parent"] is None else str(node["parent"]) for node in nodes],
            "labels": [label(node["label"], 60) for node in nodes],
            "values": [node["value"] for node in nodes],
            "branchvalues": "total",
            "text": [label(node["text"]) for node in nodes],
            "customdata": ["<br>".join(label(hint, 80) for hint in node["hints"]) for node in nodes],
            "marker": {
                "colors": [_level_color(node["level"]) for node in nodes],
                "line": {"color": "@paper", "width": 1.5},
            },
            "leaf": {"opacity": 1},
            "tiling": {"orientation": "v"},
            "sort": False,
            "pathbar": {"visible": False},
            "root": {"color": "@line"},
            "texttemplate": "%{label}<br>%{text}",
            "hovertemplate": "%{label}<br>%{customdata}<extra></extra>",
        }
        variants.append({"name": variant["name"], "data": [trace], "height": max(160, 62 * (depth + 1) + 40)})
    layout = {"margin": {"l": 0, "r": 0, "t": 8, "b": 4}, "uniformtext": {"minsize": 10, "mode": "hide"}}
    return _figure(block, layout, variants, height=300)


def _level_color(level: int | None) -> str:
    return "@inner" if level is None else _LEVELS[min(level, len(_LEVELS) - 1)]


def _flow(block: dict[str, Any]) -> dict[str, Any]:
    layout = {"margin": {"l": 8, "r": 8, "t": 10, "b": 16}}
    return _figure(block, layout, [flow(variant) for variant in block["variants"]], height=300)


def _figure(
    block: dict[str, Any], layout: dict[str, Any], variants: list[dict[str, Any]], height: int
) -> dict[str, Any]:
    return figure(
        block["title"],
        layout=layout,
        height=height,
        caption=block["caption"],
        variants=variants,
        choose=block["choose"],
    )


_CHARTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "bars": _bars,
    "lines": _lines,
    "points": _points,
    "icicle": _icicle,
    "flow": _flow,
}
