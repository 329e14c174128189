"""Charts with two axes, drawn by Python: an SVG that stretches with its box, and labels in HTML around it.

Lines keep their width and dots stay round at any size because strokes do not scale with the drawing; a dot is
a line of length zero with round ends. Text is HTML at positions in percent, so it never stretches. Nothing is
drawn in the browser, so a page opens at once, prints as it looks, and follows light and dark by its style
sheet alone. Axes have ranges that use their space, round ticks, and tick labels of which no two are equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from markupsafe import Markup

from surewood.report.words import middle, number

SIZE = 1000  # of the drawing's own coordinates
_TICK_ROOM = 26  # characters of an x axis on a phone
_NEAR = 0.35  # of the width: labels nearer than this may cover each other
_LINE = 15  # pixels between two labels


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
        self._texts: list[tuple[float, float, str, str]] = []
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

    def interval(self, x: float, low: float, high: float, color: str = "leaf") -> None:
        """A vertical line between two values."""
        self.line([x, x], [low, high], color, width=1.2)

    def mark(
        self, *, x: float | None = None, y: float | None = None, color: str = "peer", name: str = ""
    ) -> None:
        """A dashed line across the chart at a position of one axis."""
        if x is not None:
            self.line([x, x], [self.y.low, self.y.high], color, dashed=True, width=1.4, name=name)
        if y is not None:
            self.line([self.x.low, self.x.high], [y, y], color, dashed=True, width=1.4, name=name)

    def text(self, x: float, y: float, text: str, *, color: str = "ink") -> None:
        """A label beside a position: to its right in the left half, to its left in the right half."""
        self._texts.append((self.x.place(x), self.y.place(y), text, color))

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
            '<span class="label" style="{}:calc({:.1f}% + 7px);top:{:.1f}%;color:{}" title="{}">{}</span>'
        )
        found: list[Markup] = []
        taken: list[tuple[float, float]] = []
        for left, up, text, color in sorted(self._texts, key=lambda one: -one[1]):
            top = 1 - up
            while any(abs(left - a) < _NEAR and abs(top - b) * self.height < _LINE for a, b in taken):
                top += 1 / self.height
            taken.append((left, top))
            side, at = ("right", 1 - left) if left > 0.55 else ("left", left)
            found.append(form.format(side, 100 * at, 100 * top, paint(color), text, middle(text, 32)))
        return Markup("").join(found)

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


def alt_text(title: str, pairs: Sequence[tuple[Any, Any]], limit: int = 6) -> str:
    """What a chart shows, for those who cannot see it.

    Examples
    --------
    >>> alt_text("Classes", [("a", "3 rows"), ("b", "2 rows")])
    'Classes: a 3 rows, b 2 rows'
    """
    shown = ", ".join(f"{middle(name, 40)} {value}" for name, value in pairs[:limit])
    more = f" and {len(pairs) - limit} more" if len(pairs) > limit else ""
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
