"""Horizontal bars in HTML, one row per name: readable at any width, with the value as text beside the bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from surewood.report.plain import cut_names
from surewood.report.plot import legend, paint
from surewood.report.scales import Axis

__all__ = ["BarRow", "Part", "bar_rows"]

NAME_LENGTH = 34


@dataclass(frozen=True)
class Part:
    """A piece of a row: a bar from `start` to `stop` ("bar" or "thin"), or a "dot" or "tick" at `stop`."""

    start: float
    stop: float
    color: str = "leaf"
    tip: str = ""
    shape: str = "bar"


@dataclass(frozen=True)
class BarRow:
    """A row: its name, its pieces, and what is written at the right."""

    name: str
    parts: Sequence[Part]
    value: str = ""
    hint: str = ""
    strong: bool = field(default=False)


def bar_rows(
    rows: Sequence[BarRow],
    *,
    low: float | None = None,
    high: float | None = None,
    names: Sequence[tuple[str, str, str]] = (),
    axis: Axis | None = None,
) -> Markup:
    """Rows of bars on a common scale.

    Parameters
    ----------
    rows : list of BarRow
    low, high : float, optional
        Ends of the scale; by default 0 and the largest value, and below 0 where there are negative values.
    names : list of (name, color, shape)
        The legend, shown where it has more than one entry.
    axis : Axis, optional
        The scale, with ticks under the rows, instead of `low` and `high`.

    Examples
    --------
    >>> html = bar_rows([BarRow("a", [Part(0, 3)], "3 rows"), BarRow("b", [Part(0, 1)], "1 row")])
    >>> "width:33.3%" in html
    True
    """
    if axis is None:
        ends = [end for row in rows for part in row.parts for end in (part.start, part.stop)]
        left = min([0.0, *ends]) if low is None else low
        right = max([left, *ends]) if high is None else high
        scale = Axis(left, right if right > left else left + 1.0, "none")
    else:
        scale = axis
    zero = Markup("")
    if scale.low < 0 < scale.high:
        zero = Markup('<u style="left:{:.1f}%"></u>').format(100 * scale.place(0.0))
    form = Markup(
        '<div class="row{}"><span class="name" title="{}">{}</span><span class="track">{}{}</span>'
        '<span class="value">{}</span></div>'
    )
    drawn = []
    short = cut_names([row.name for row in rows], NAME_LENGTH)
    for row, name in zip(rows, short):
        pieces = Markup("").join(_piece(part, scale) for part in row.parts)
        hint = row.hint or row.name
        drawn.append(form.format(" strong" * row.strong, hint, name, zero, pieces, _together(row.value)))
    if axis is not None:
        drawn.append(_axis_row(axis))
    above = legend(names) if len(names) > 1 else Markup("")
    return above + Markup('<div class="rows">{}</div>').format(Markup("").join(drawn))


def _together(text: str) -> str:
    """Text whose percent signs stay with their numbers."""
    return text.replace(" %", "\u00a0%").replace("≤ ", "≤\u00a0").replace("≥ ", "≥\u00a0")


def _gives_way(k: int, n: int) -> str:
    """Which ticks go first where there is little room; the first and the last even one stay."""
    if k % 2:
        return "less"
    return "" if k in (0, 2 * ((n - 1) // 2)) else "least"


def _axis_row(axis: Axis) -> Markup:
    ticks = axis.ticks(5)
    parts = []
    for k, (value, text) in enumerate(ticks):
        form = Markup('<span class="{}" style="left:{:.1f}%">{}</span>')
        parts.append(form.format(_gives_way(k, len(ticks)), 100 * axis.place(value), text))
    title = Markup('<div class="x-title">{}</div>').format(axis.title) if axis.title else ""
    form = Markup(
        '<div class="row"><span></span><span class="scale"><span class="x">{}</span>{}</span>'
        "<span></span></div>"
    )
    return form.format(Markup("").join(parts), title)


def _piece(part: Part, scale: Axis) -> Markup:
    start, stop = sorted((100 * scale.place(part.start), 100 * scale.place(part.stop)))
    start, stop = max(0.0, min(start, 100.0)), max(0.0, min(stop, 100.0))
    tip = Markup(' data-tip="{}"').format(part.tip) if part.tip else ""
    if part.shape in ("bar", "thin"):
        form = Markup('<i{} style="left:{:.1f}%;width:{:.1f}%;background:{}"{}></i>')
        thin = Markup(' class="thin"') if part.shape == "thin" else ""
        return form.format(thin, start, stop - start, paint(part.color), tip)
    form = Markup('<i class="{}" style="left:{:.1f}%;background:{}"{}></i>')
    return form.format(part.shape, stop, paint(part.color), tip)
