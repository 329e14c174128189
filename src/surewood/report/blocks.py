"""Charts that models describe themselves with, drawn by their kind.

A model's ``__report_facts__`` has sections of blocks (:mod:`surewood.base.describing`): text, tables
and charts. Here each kind of chart becomes a figure of :func:`surewood.report.charts.figure`; no model is
known by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from markupsafe import Markup

from surewood.base.wording import percent
from surewood.report.charts import BarRow, Part, bar_rows, figure, flow, tree_map
from surewood.report.drawing import Axis, Plot, alt_text, fitted_axis
from surewood.report.words import middle, number

__all__ = ["draw", "draw_sections"]

#: Colors of classes in scatter plots; they can be told apart on light and dark backgrounds.
CLASS_COLORS = (
    "#3f8f5f", "#4a86c5", "#c8803f", "#a35fa8", "#d0604a", "#8a8f3a", "#3fa3a3", "#7a6fd0", "#c0587f",
    "#8c8c8c", "#5fa83f", "#b59a2f",
)  # fmt: skip
TONES = {"main": "leaf", "second": "sky", "third": "bark", "fourth": "plum", "other": "peer"}
_MOST_NAMES = 15  # classes named in the legend of a scatter plot


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
    >>> from surewood.base import describing
    >>> bars = [{"name": "", "names": ["a"], "series": [describing.series("rows", [3])]}]
    >>> draw(describing.chart("bars", "Rows", bars))["title"]
    'Rows'
    """
    make = _CHARTS[block["kind"]]
    variants = [(variant["name"], make(block, variant)) for variant in block["variants"]]
    return figure(
        block["title"], variants=variants, caption=block["caption"], choose=block["choose"], alt=_alt(block)
    )


def _alt(block: dict[str, Any]) -> str:
    first = block["variants"][0]
    if block["kind"] == "bars":
        totals = np.sum([[v or 0 for v in one["values"]] for one in first["series"]], axis=0)
        return alt_text(block["title"], [(n, number(float(v))) for n, v in zip(first["names"], totals)])
    if block["kind"] == "lines":
        ends = [(one["name"], f"ends at {number(one['values'][-1])}") for one in first["series"]]
        return alt_text(block["title"], ends)
    return str(block["title"])


def _bars(block: dict[str, Any], variant: dict[str, Any]) -> Markup:
    """Stacked bars, one per name."""
    rows = []
    for k, name in enumerate(variant["names"]):
        parts, start = [], 0.0
        for one in variant["series"]:
            value = one["values"][k] or 0.0
            hint = f"\n{one['hints'][k]}" if one["hints"] else ""
            tip = f"{name}, {one['name']}: {number(value)}{hint}"
            parts.append(Part(start, start + value, TONES[one["tone"]], tip))
            start += value
        rows.append(BarRow(str(name), parts, number(start)))
    names = [(one["name"], TONES[one["tone"]], "box") for one in variant["series"]]
    title = block.get("y_title", "")
    above = Markup('<div class="y-title">{}</div>').format(title) if title else Markup("")
    return above + bar_rows(rows, names=names)


def _lines(block: dict[str, Any], variant: dict[str, Any]) -> Markup:
    """Lines over a common x, with steps, labels of points and a mark where the block has them."""
    share = block.get("y_format") == "percent"
    whole, steps = bool(block.get("whole_x")), block.get("steps", False)
    values = [v for one in variant["series"] for v in one["values"]]
    x, mark = variant["x"], block.get("mark")
    across = fitted_axis([*x, mark], "number", block.get("x_title", ""), margin=0.04, whole=whole)
    include = (0.0,) if steps else ()
    up = fitted_axis(
        values, "percent" if share else "number", block.get("y_title", ""),
        include=include, limits=(0.0, 1.0) if share else None, margin=0.12,
    )  # fmt: skip
    plot = Plot(across, up, height=280 if block["wide"] else 210)
    for one in variant["series"]:
        color = TONES[one["tone"]]
        plot.line(x, one["values"], color, name=one["name"], steps=steps)
        if not steps:
            told = [f"{number(a)}: {_value(b, share)}" for a, b in zip(x, one["values"])]
            plot.points(x, one["values"], color, tips=told)
        for text, a, b in zip(variant.get("labels") or (), x, one["values"]):
            if text and b is not None:
                plot.text(a, b, text)
    if mark is not None:
        plot.mark(x=mark)
    return plot.render()


def _value(value: float | None, share: bool) -> str:
    return percent(value, 1) if share else number(value)


def _points(block: dict[str, Any], variant: dict[str, Any]) -> Markup:
    """A scatter plot without axes, colored by class."""
    codes = np.array(variant["codes"], dtype=np.int64)
    x, y = np.array(variant["x"], dtype=float), np.array(variant["y"], dtype=float)
    plot = Plot(_quiet(x), _quiet(y), height=270)
    present = np.unique(codes)
    for code in present.tolist():
        here, name = codes == code, middle(block["classes"][code], 24)
        tips = [name] * int(here.sum())
        shown = name if len(present) <= _MOST_NAMES else ""
        color = CLASS_COLORS[code % len(CLASS_COLORS)]
        plot.points(x[here].tolist(), y[here].tolist(), color, size=5.5, tips=tips, name=shown)
    return plot.render()


def _quiet(values: Any) -> Axis:
    fitted = fitted_axis(values.tolist(), margin=0.04)
    return Axis(fitted.low, fitted.high, "none")


def _icicle(block: dict[str, Any], variant: dict[str, Any]) -> Markup:
    return tree_map(variant["nodes"])


def _flow(block: dict[str, Any], variant: dict[str, Any]) -> Markup:
    return flow(variant["stages"])


_CHARTS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Markup]] = {
    "bars": _bars,
    "lines": _lines,
    "points": _points,
    "icicle": _icicle,
    "flow": _flow,
}
