"""Charts, drawn by Python: an SVG that stretches with its box, and labels in HTML around it.

`Plot` has two axes, lines and dots; `bar_rows` are bars with names; `figure` makes a plain dictionary of a
drawing, which the macro ``parts.chart`` puts on a page. Lines keep their width and dots stay round at any
size because strokes do not scale with the drawing; a dot is a line of length zero with round ends. Text is
HTML at positions in percent, so it never stretches. Nothing is drawn in the browser, so a page opens at once,
prints as it looks, and follows light and dark: colors are names of the style sheet ("leaf", "sky", ...).

Then charts that several parts of the page use: confusion matrix, classes, the flow through a chain of
classifiers, a tree as nested boxes. Models describe themselves (``__report_facts__``) with sections of blocks
(:mod:`surewood.base.describing`), each kind of which becomes a figure here; no model is known by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from surewood.base.wording import percent
from surewood.report.words import cut_names, middle, number

SIZE = 1000  # of the drawing's own coordinates
_TICK_ROOM = 26  # characters of an x axis on a phone
_NEAR = 0.35  # of the width: labels nearer than this may cover each other
_LINE = 15  # pixels between two labels
_MOST_TOLD = 6  # pairs that screen readers hear
_MOST_CONFUSIONS, _MOST_CLASSES = 8, 30  # shown


def paint(color: str) -> str:
    """A color for a style: a name of the style sheet, or a literal color.

    Examples
    --------
    >>> paint("leaf"), paint("#aa0000")
    ('var(--leaf)', '#aa0000')
    """
    return color if color.startswith("#") else f"var(--{color})"


class Plot:
    """A chart with two axes; methods add marks, `render` gives the HTML.

    Parameters
    ----------
    x, y : Axis
    height : int
        Pixels of the drawing, without labels.

    Examples
    --------
    >>> plot = Plot(Axis(0, 1), Axis(0, 1, "percent", "accuracy"))
    >>> plot.line([0, 1], [0.5, 1.0], "leaf", name="holdout")
    >>> plot.mark(x=0.5, name="chosen")
    >>> "<svg" in plot.render() and "holdout" in plot.render()
    True
    """

    def __init__(self, x: Axis, y: Axis, *, height: int = 250) -> None:
        self.x, self.y, self.height = x, y, height
        self._marks: list[Markup] = []
        self._texts: list[tuple[float, float, str]] = []
        self._legend: list[tuple[str, str, str]] = []

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float | None],
        color: str = "leaf",
        *,
        name: str = "",
        dashed: bool = False,
        steps: bool = False,
        width: float = 2.0,
    ) -> None:
        """A line through points; a missing value interrupts it."""
        parts, drawing, before = [], False, 0.0
        for a, b in zip(x, y):
            if b is None or not math.isfinite(b) or not math.isfinite(a):
                drawing = False
                continue
            left, top = self._at(a, b)
            if drawing and steps:
                parts.append(f"H{(before + left) / 2:.0f}V{top:.0f}H{left:.0f}")
            else:
                parts.append(f"{'L' if drawing else 'M'}{left:.0f} {top:.0f}")
            drawing, before = True, left
        style = f"stroke:{paint(color)};stroke-width:{width:g}px" + (";stroke-dasharray:5 4" * dashed)
        if parts:
            self._marks.append(Markup('<path class="line" d="{}" style="{}"/>').format("".join(parts), style))
        if name:
            self._legend.append((name, color, "dashed" if dashed else "line"))

    def points(
        self,
        x: Sequence[float],
        y: Sequence[float | None],
        color: str = "leaf",
        *,
        size: float | Sequence[float] = 8.0,
        tips: Sequence[str] | None = None,
        name: str = "",
    ) -> None:
        """Dots; those with a tip tell it when one points at them."""
        sizes = [float(size)] * len(x) if isinstance(size, int | float) else list(size)
        plain: list[str] = []
        for k, (a, b) in enumerate(zip(x, y)):
            if b is None or not (math.isfinite(a) and math.isfinite(b)):
                continue
            left, top = self._at(a, b)
            if tips is None:
                plain.append(f"M{left:.0f} {top:.0f}h0")
                continue
            form = (
                '<path class="dot" d="M{:.0f} {:.0f}h0" style="stroke:{};stroke-width:{:g}px" data-tip="{}"/>'
            )
            self._marks.append(Markup(form).format(left, top, paint(color), sizes[k], tips[k]))
        if plain:
            style = f"stroke:{paint(color)};stroke-width:{sizes[0]:g}px"
            self._marks.append(Markup('<path class="dot" d="{}" style="{}"/>').format("".join(plain), style))
        if name:
            self._legend.append((name, color, "dot"))

    def band(
        self, x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str = "leaf-soft"
    ) -> None:
        """The area between two lines."""
        there = [self._at(a, b) for a, b in zip(x, high)]
        back = [self._at(a, b) for a, b in zip(x, low)][::-1]
        outline = "".join(f"{'L' if k else 'M'}{p[0]:.0f} {p[1]:.0f}" for k, p in enumerate([*there, *back]))
        self._marks.append(Markup('<path d="{}Z" style="fill:{}"/>').format(outline, paint(color)))

    def column(self, left: float, right: float, top: float, color: str, tip: str = "") -> None:
        """A box on the x axis, up to a value of the y axis."""
        (a, y), (b, base) = self._at(left, top), self._at(right, self.y.low)
        form = '<rect x="{:.0f}" y="{:.0f}" width="{:.0f}" height="{:.0f}" style="fill:{}" data-tip="{}"/>'
        self._marks.append(Markup(form).format(a, y, max(1.0, b - a), base - y, paint(color), tip))

    def interval(self, x: float, low: float, high: float) -> None:
        """A vertical line between two values."""
        self.line([x, x], [low, high], width=1.2)

    def mark(
        self, *, x: float | None = None, y: float | None = None, color: str = "peer", name: str = ""
    ) -> None:
        """A dashed line across the chart at a position of one axis."""
        if x is not None:
            self.line([x, x], [self.y.low, self.y.high], color, dashed=True, width=1.4, name=name)
        if y is not None:
            self.line([self.x.low, self.x.high], [y, y], color, dashed=True, width=1.4, name=name)

    def text(self, x: float, y: float, text: str) -> None:
        """A label beside a position: to its right in the left half, to its left in the right half."""
        self._texts.append((self.x.place(x), self.y.place(y), text))

    def render(self) -> Markup:
        """The chart as HTML."""
        grid = [f"M0 {self._at(self.x.low, v)[1]:.0f}H{SIZE}" for v, _ in self.y.ticks(self._y_count())]
        lines = Markup('<path class="grid" d="{}"/>').format("".join(grid))
        svg = Markup('<svg viewBox="0 0 {0} {0}" preserveAspectRatio="none" aria-hidden="true">{1}{2}</svg>')
        inside = svg.format(SIZE, lines, Markup("").join(self._marks)) + self._text_html()
        labels = [text for _, text in self.y.ticks(self._y_count())]
        room = max((len(text) for text in labels), default=0)
        form = (
            '{}{}<div class="axes" style="--room:{}ch"><div class="area" style="height:{}px">{}{}</div>'
            '<div class="x">{}</div>{}</div>'
        )
        title = Markup('<div class="x-title">{}</div>').format(self.x.title) if self.x.title else ""
        above = Markup('<div class="y-title">{}</div>').format(self.y.title) if self.y.title else ""
        return Markup(form).format(
            self._legend_html(), above, room, self.height, inside, self._y_labels(), self._x_labels(), title
        )

    def _text_html(self) -> Markup:
        """Labels, moved down where one would cover another."""
        form = Markup(
            '<span class="label" style="{}:calc({:.1f}% + 7px);top:{:.1f}%;color:var(--ink)" '
            'title="{}">{}</span>'
        )
        labels: list[Markup] = []
        taken: list[tuple[float, float]] = []
        for left, up, text in sorted(self._texts, key=lambda label: -label[1]):
            top = 1 - up
            while any(abs(left - a) < _NEAR and abs(top - b) * self.height < _LINE for a, b in taken):
                top += 1 / self.height
            taken.append((left, top))
            side, at = ("right", 1 - left) if left > 0.55 else ("left", left)
            labels.append(form.format(side, 100 * at, 100 * top, text, middle(text, 32)))
        return Markup("").join(labels)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        """Coordinates of the drawing, kept near its box."""
        left, top = SIZE * self.x.place(x), SIZE * (1 - self.y.place(y))
        return min(max(left, -SIZE), 2 * SIZE), min(max(top, -SIZE), 2 * SIZE)

    def _y_count(self) -> int:
        return max(3, self.height // 45)

    def _y_labels(self) -> Markup:
        form = Markup('<span class="y" style="top:{:.2f}%">{}</span>')
        ticks = self.y.ticks(self._y_count())
        return Markup("").join(form.format(100 * (1 - self.y.place(v)), text) for v, text in ticks)

    def _x_labels(self) -> Markup:
        """Labels of the x axis; every second one gives way on narrow screens where they would touch."""
        ticks = self.x.ticks()
        crowded = sum(len(text) + 2 for _, text in ticks) > _TICK_ROOM
        parts = []
        for k, (value, text) in enumerate(ticks):
            less = ' class="less"' if crowded and k % 2 else ""
            form = Markup(f'<span{less} style="left:{{:.2f}}%">{{}}</span>')
            parts.append(form.format(100 * self.x.place(value), text))
        return Markup("").join(parts)

    def _legend_html(self) -> Markup:
        return legend(self._legend) if len(self._legend) > 1 else Markup("")


def legend(entries: Sequence[tuple[str, str, str]]) -> Markup:
    """Names with their colors; an entry is name, color and "line", "dashed", "dot" or "box".

    Examples
    --------
    >>> "ours" in legend([("ours", "leaf", "dot")])
    True
    """
    form = Markup('<span><i class="{}" style="color:{}"></i><span title="{}">{}</span></span>')
    shown = [form.format(kind, paint(color), name, middle(name, 44)) for name, color, kind in entries]
    return Markup('<div class="legend">{}</div>').format(Markup("").join(shown))


def alt_text(title: str, pairs: Sequence[tuple[Any, Any]]) -> str:
    """What a chart shows, for those who cannot see it.

    Examples
    --------
    >>> alt_text("Classes", [("a", "3 rows"), ("b", "2 rows")])
    'Classes: a 3 rows, b 2 rows'
    """
    shown = ", ".join(f"{middle(name, 40)} {value}" for name, value in pairs[:_MOST_TOLD])
    more = f" and {len(pairs) - _MOST_TOLD} more" if len(pairs) > _MOST_TOLD else ""
    return f"{title}: {shown}{more}" if shown else title


Kind = Literal["number", "percent", "log", "none"]
_MAX_DIGITS = 8


@dataclass(frozen=True)
class Axis:
    """Range, kind and title of an axis.

    Examples
    --------
    >>> Axis(0.0, 0.5, "percent").ticks()
    [(0.0, '0 %'), (0.1, '10 %'), (0.2, '20 %'), (0.30000000000000004, '30 %'), (0.4, '40 %'), (0.5, '50 %')]
    """

    #: Ends of the axis.
    low: float
    high: float
    #: "percent": values are fractions; "log": values are positive; "none": no ticks.
    kind: Kind = "number"
    title: str = ""
    #: Ticks at whole numbers only.
    whole: bool = False

    def place(self, value: float) -> float:
        """Position of a value: 0 at the low end, 1 at the high end."""
        if self.kind == "log":
            low, high, value = (math.log(max(v, 1e-300)) for v in (self.low, self.high, value))
        else:
            low, high = self.low, self.high
        return (value - low) / (high - low) if high > low else 0.5

    def ticks(self, count: int = 6) -> list[tuple[float, str]]:
        """Positions and labels of the ticks, at most about `count`."""
        if self.kind == "none":
            return []
        if self.kind == "log":
            values = _log_ticks(self.low, self.high)
        else:
            values = nice_ticks(self.low, self.high, count, whole=self.whole)
        return list(zip(values, tick_labels(values, percent=self.kind == "percent")))


def fitted_axis(
    values: Iterable[float | None],
    kind: Kind = "number",
    title: str = "",
    *,
    include: Sequence[float] = (),
    limits: tuple[float, float] | None = None,
    margin: float = 0.06,
    whole: bool = False,
) -> Axis:
    """An axis that just holds the values.

    Parameters
    ----------
    values : iterable of float
        What is not finite is left out.
    kind, title
        Of :class:`Axis`.
    include : sequence of float
        More values that the axis must hold, such as 0.
    limits : tuple, optional
        The axis never goes beyond these, such as (0, 1).
    margin : float
        Room at both ends, as a fraction of the range.
    whole : bool
        Ticks at whole numbers only.

    Examples
    --------
    >>> axis = fitted_axis([0.81, 0.84], "percent", limits=(0, 1))
    >>> round(axis.low, 3), round(axis.high, 3)
    (0.808, 0.842)
    """
    known = [float(v) for v in (*values, *include) if v is not None and math.isfinite(v)]
    if kind == "log":
        known = [v for v in known if v > 0]
    if not known:
        return Axis(*(limits or ((1.0, 10.0) if kind == "log" else (0.0, 1.0))), kind, title, whole)
    low, high = min(known), max(known)
    if kind == "log":
        ratio = max((high / low) ** margin, 1.25)
        return Axis(low / ratio, high * ratio, kind, title)
    room = abs(low) * 0.5 or 0.5 if low == high else margin * (high - low)
    low, high = low - room * (low not in include), high + room * (high not in include)
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    return Axis(low, high if high > low else low + 1.0, kind, title, whole)


def nice_ticks(low: float, high: float, count: int = 6, *, whole: bool = False) -> list[float]:
    """Round values between two ends.

    Examples
    --------
    >>> nice_ticks(0.0, 10.0), nice_ticks(1.0, 3.0, whole=True)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0])
    """
    if not high > low:
        return [low]
    raw = (high - low) / max(1, count - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= raw * 0.999)
    if math.floor(high / step) - math.ceil(low / step) < 2:  # fewer than three ticks say little
        step /= 2
    if whole:
        step = max(1.0, round(step))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with 2 and 5 between them where there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors: tuple[int, ...] = (1,) if last - first > 4 else (1, 3) if last - first > 2 else (1, 2, 5)
    found = [f * 10.0**k for k in range(first, last + 1) for f in factors]
    found = [value for value in found if low <= value * 1.0001 and value <= high * 1.0001]
    while len(found) > 7:
        found = found[::2]
    return found or [low]


def tick_labels(values: Sequence[float], *, percent: bool = False) -> list[str]:
    """Labels with as few digits as tell the values apart.

    Examples
    --------
    >>> tick_labels([0.0, 0.001, 0.002], percent=True), tick_labels([1000.0, 2000.0])
    (['0 %', '0.1 %', '0.2 %'], ['1,000', '2,000'])
    """
    shown = [100 * v if percent else v for v in values]
    if any(v and not 1e-4 <= abs(v) < 1e7 for v in shown) and not percent:
        return [number(float(v)) if v else "0" for v in shown]
    gap = min((abs(b - a) for a, b in pairwise(shown)), default=abs(shown[0]) if shown else 1.0)
    for digits in range(_MAX_DIGITS):
        exact = all(abs(round(v, digits) - v) <= 1e-3 * gap for v in shown)
        if exact or digits == _MAX_DIGITS - 1:
            break
    logarithmic = len(shown) > 2 and shown[0] > 0 and shown[-1] / shown[0] > 50
    texts = [f"{v:,.4g}" if logarithmic else f"{v:,.{digits}f}" if round(v, digits) else "0" for v in shown]
    return [f"{text} %" if percent else text for text in texts]


def figure(
    title: str,
    drawing: Markup | None = None,
    *,
    caption: str = "",
    alt: str = "",
    variants: Sequence[tuple[str, Markup]] | None = None,
    choose: str = "choose",
) -> dict[str, Any]:
    """A chart for the macro ``parts.chart``.

    Parameters
    ----------
    title, caption : str
    drawing : Markup
        Of :meth:`Plot.render` or :func:`bar_rows`.
    alt : str
        What the chart shows, for screen readers; the title by default.
    variants : list of (name, drawing), optional
        To choose from in a list, instead of `drawing`.
    choose : str
        What the list is called for screen readers.

    Examples
    --------
    >>> chart = figure("Rows", bar_rows([BarRow("a", [Part(0, 3)], "3")]))
    >>> chart["title"], len(chart["variants"])
    ('Rows', 1)
    """
    shown = [("", drawing or Markup(""))] if variants is None else list(variants)
    return {
        "title": title,
        "caption": caption,
        "choose": choose,
        "alt": alt or title,
        "variants": [{"name": name, "html": html} for name, html in shown],
    }


def confusion(facts: dict[str, Any], sample: str) -> dict[str, Any]:
    """Counts by true and predicted class; colors are fractions of the true class."""
    rows, columns = facts["labels"], facts["predicted_labels"]
    counts = np.array(facts["matrix"], dtype=np.int64)
    right = int(np.trace(counts[: len(columns), : len(rows)]))
    how = "Rows" if max(len(rows), len(columns)) > MOST_NUMBERS else "Rows and fractions of the true class"
    return figure(
        "Confusion matrix",
        confusion_map(rows, columns, counts),
        caption=f"{how}, on the {sample}. Green is correct, red is not; the stronger, the larger the "
        "fraction.",
        alt=f"Confusion matrix of {len(rows)} classes: {right:,} of {int(counts.sum()):,} rows are correct",
    )


def largest_confusions(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """The most frequent errors, as true class, predicted class, rows and fraction of the true class."""
    counts = np.array(facts["matrix"], dtype=np.int64)
    total = np.maximum(counts.sum(axis=1), 1)
    off = counts.copy()
    np.fill_diagonal(off, 0)
    order = np.argsort(-off, axis=None, kind="stable")[:_MOST_CONFUSIONS]
    places = [divmod(int(k), counts.shape[1]) for k in order]
    return [
        {
            "truth": facts["labels"][i],
            "predicted": facts["predicted_labels"][j],
            "rows": int(counts[i, j]),
            "share": float(counts[i, j] / total[i]),
        }
        for i, j in places
        if off[i, j]
    ]


def class_balance(classes: list[dict[str, Any]], described: str = "training") -> dict[str, Any]:
    """Rows of each class."""
    shown = classes[:_MOST_CLASSES]
    rows = [
        BarRow(
            c["label"],
            [Part(0, c["rows"], "leaf", f"{c['rows']:,} rows")],
            f"{c['rows']:,} ({percent(c['share'], 1)})",
        )
        for c in shown
    ]
    left = len(classes) - len(shown)
    title = f"Classes in {described}"
    return figure(
        title,
        bar_rows(rows),
        caption=f"The {_MOST_CLASSES} largest; {left} smaller ones are not drawn." if left else "",
        alt=alt_text(title, [(c["label"], f"{c['rows']:,} rows") for c in shown]),
    )


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
    names: Sequence[tuple[str, str, str]] = (),
    axis: Axis | None = None,
) -> Markup:
    """Rows of bars on a common scale.

    Parameters
    ----------
    rows : list of BarRow
    names : list of (name, color, shape)
        The legend, shown where it has more than one entry.
    axis : Axis, optional
        The scale, with ticks under the rows; by default from 0, or the least negative value, to the largest.

    Examples
    --------
    >>> html = bar_rows([BarRow("a", [Part(0, 3)], "3 rows"), BarRow("b", [Part(0, 1)], "1 row")])
    >>> "width:33.3%" in html
    True
    """
    if axis is None:
        ends = [end for row in rows for part in row.parts for end in (part.start, part.stop)]
        left, right = min([0.0, *ends]), max([0.0, *ends])
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


MOST_NUMBERS = 12  # classes up to which cells have room for numbers
_STRONGEST = 62  # percent of the color behind text: more would leave too little contrast


def confusion_map(rows: Sequence[str], columns: Sequence[str], counts: NDArray[np.int64]) -> Markup:
    """The matrix of counts, true classes down and predicted classes across.

    Parameters
    ----------
    rows, columns : list of str
        Names of the true and of the predicted classes; equal positions are the same class.
    counts : ndarray of shape (len(rows), len(columns))

    Examples
    --------
    >>> html = confusion_map(["no", "yes"], ["no", "yes"], np.array([[8, 2], [1, 9]]))
    >>> html.count("<td"), "80 %" in html
    (4, True)
    """
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    if max(len(rows), len(columns)) <= MOST_NUMBERS:
        return _with_numbers(rows, columns, counts, share)
    return _with_colors(rows, columns, counts, share)


def _with_numbers(
    rows: Sequence[str], columns: Sequence[str], counts: NDArray[np.int64], share: NDArray[np.float64]
) -> Markup:
    head = Markup("").join(
        Markup('<th scope="col" title="{}">{}</th>').format(name, cut)
        for name, cut in zip(columns, cut_names(columns, 16))
    )
    cell = Markup('<td style="background:{}"><b>{}</b><small>{}</small></td>')
    lines = []
    short = cut_names(rows, 20)
    for i, name in enumerate(rows):
        cells = Markup("").join(
            cell.format(_ground(i == j, share[i, j]), f"{counts[i, j]:,}", percent(share[i, j], 0))
            if counts[i, j] or i == j
            else Markup('<td class="none">0</td>')
            for j in range(len(columns))
        )
        side = Markup('<th scope="row" title="{}">{}</th>').format(name, short[i])
        lines.append(Markup("<tr>{}{}</tr>").format(side, cells))
    form = Markup(
        '<div class="matrix"><table><thead><tr><th class="corner"><span>true ↓</span> '
        "<span>predicted →</span></th>{}</tr></thead><tbody>{}</tbody></table></div>"
    )
    return form.format(head, Markup("").join(lines))


def _ground(correct: bool, share: float) -> str:
    strength = _STRONGEST * float(share)
    return f"color-mix(in srgb, var(--{'leaf' if correct else 'warn'}) {strength:.0f}%, transparent)"


def _with_colors(
    rows: Sequence[str], columns: Sequence[str], counts: NDArray[np.int64], share: NDArray[np.float64]
) -> Markup:
    n = max(len(rows), len(columns))
    side = 22 if n <= 30 else 15 if n <= 60 else 12
    form = Markup(
        '<rect x="{}" y="{}" width="1" height="1" style="fill:var(--{});fill-opacity:{:.2f}" data-tip="{}"/>'
    )
    cells = []
    for i, j in np.argwhere(counts > 0).tolist():
        tip = f"true {rows[i]}, predicted {columns[j]}: {counts[i, j]:,} ({percent(share[i, j], 0)})"
        strength = 0.15 + 0.85 * float(share[i, j])
        cells.append(form.format(j, i, "leaf" if i == j else "warn", strength, tip))
    name = Markup('<span title="{}">{}</span>')
    left = Markup("").join(name.format(one, cut) for one, cut in zip(rows, cut_names(rows, 16)))
    above = Markup("").join(name.format(one, cut) for one, cut in zip(columns, cut_names(columns, 16)))
    whole = Markup(
        '<div class="heat" style="--side:{}px;--n:{};--m:{}"><p class="soft">true classes down, '
        'predicted across</p><div class="above">{}</div><div class="left">{}</div><svg viewBox="0 0 {} {}" '
        'preserveAspectRatio="none" aria-hidden="true">{}</svg></div>'
    )
    return whole.format(
        side, len(columns), len(rows), above, left, len(columns), len(rows), Markup("").join(cells)
    )


_NAMES = (
    ("leave, correct", "leaf", "box"),
    ("leave, wrong", "warn", "box"),
    ("go on to the next", "peer-soft", "box"),
)


def flow(stages: list[dict[str, Any]]) -> Markup:
    """The chain as rows of bars, one per classifier.

    Parameters
    ----------
    stages : list of dict
        ``label``, ``arrive``, ``points`` (rows that leave), ``accuracy`` and ``threshold``.

    Examples
    --------
    >>> stage = {"label": "degree 1", "arrive": 10, "points": 8, "accuracy": 0.75, "threshold": 0.5}
    >>> "8 of 10 leave, 75.0 % correct" in flow([stage])
    True
    """
    return bar_rows([_row(k, stage) for k, stage in enumerate(stages)], names=_NAMES)


def _row(position: int, stage: dict[str, Any]) -> BarRow:
    leave, arrive, accuracy = stage["points"], stage["arrive"], stage["accuracy"]
    correct = leave if accuracy is None else accuracy * leave
    beyond = "" if stage["threshold"] is None else f"\nleave where |f| > {stage['threshold']:.3g}"
    correctness = "" if accuracy is None else f", {percent(accuracy, 1)} correct"
    value = f"{leave:,} of {arrive:,} leave{correctness}"
    bars = [
        Part(0, correct, "leaf", value + beyond),
        Part(correct, leave, "warn", value + beyond),
        Part(leave, arrive, "peer-soft", f"{arrive - leave:,} rows go on"),
    ]
    name = f"{position + 1}: {stage['label']}"
    return BarRow(name, [part for part in bars if part.stop > part.start], value, name + beyond)


LEVELS = ("seq0", "seq1", "seq2", "seq3")
_ROW = 46  # pixels of a level of the tree
_NARROWEST = 0.2  # percent


def tree_map(nodes: list[dict[str, Any]]) -> Markup:
    """Boxes of the nodes of a tree.

    Parameters
    ----------
    nodes : list of dict
        Of an "icicle" of :func:`surewood.base.describing.chart`; parents come before their children.

    Examples
    --------
    >>> node = {"text": "", "hints": [], "level": None}
    >>> nodes = [{"id": 0, "parent": None, "label": "all rows", "value": 4, "depth": 0, **node},
    ...          {"id": 1, "parent": 0, "label": "x > 1", "value": 1, "depth": 1, **node}]
    >>> "width:25.00%" in tree_map(nodes)
    True
    """
    total = next(float(node["value"]) for node in nodes if node["parent"] is None) or 1.0
    left: dict[int, float] = {}
    boxes = []
    form = Markup(
        '<span class="{}" style="left:{:.2f}%;width:{:.2f}%;top:{}px;background:var(--{})" data-tip="{}">'
        "{}{}</span>"
    )
    for node in nodes:
        start = 0.0 if node["parent"] is None else left[node["parent"]]
        width = 100 * float(node["value"]) / total
        if node["parent"] is not None:
            left[node["parent"]] = start + width  # where the next child begins
        left[node["id"]] = start
        if width < _NARROWEST:
            continue
        tip = "\n".join([str(node["label"]), *map(str, node["hints"])])
        label = Markup("<b>{}</b>").format(middle(node["label"], 48)) if width > 4 else ""
        text = (
            Markup("<small>{}</small>").format(middle(node["text"], 24)) if width > 4 and node["text"] else ""
        )
        level = node["level"]
        color = "inner" if level is None else LEVELS[min(int(level), len(LEVELS) - 1)]
        dark = "dark-box" if level is not None and level >= 2 else "box"
        boxes.append(form.format(dark, start, width, _ROW * int(node["depth"]), color, tip, label, text))
    height = _ROW * (1 + max(int(node["depth"]) for node in nodes))
    whole = Markup('<div class="tree" style="height:{}px">{}</div>')
    return whole.format(height, Markup("").join(boxes))


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
