"""Charts as plain dictionaries that ``parts.chart`` puts on a page.

`figure` makes one from HTML that Python has drawn: :class:`~surewood.report.drawing.Plot` for axes, lines and
dots, `bar_rows` for bars with names. Colors are names of the style sheet ("leaf", "sky", ...), so they follow
light and dark. Then charts that several parts of the page use: confusion matrix, classes, the flow through a
chain of classifiers, a tree as nested boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from surewood.base.wording import percent
from surewood.report.drawing import Axis, Plot, alt_text, fitted_axis, legend, paint
from surewood.report.words import cut_names, middle

__all__ = ["COLORS", "Axis", "BarRow", "Part", "Plot", "bar_rows", "figure", "fitted_axis"]

#: Colors of series, in their order.
COLORS = ("leaf", "sky", "bark", "plum", "warn", "peer")


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


def largest_confusions(facts: dict[str, Any], limit: int = 8) -> list[dict[str, Any]]:
    """The most frequent errors, as true class, predicted class, rows and fraction of the true class."""
    counts = np.array(facts["matrix"], dtype=np.int64)
    total = np.maximum(counts.sum(axis=1), 1)
    off = counts.copy()
    np.fill_diagonal(off, 0)
    order = np.argsort(-off, axis=None, kind="stable")[:limit]
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


def class_balance(
    classes: list[dict[str, Any]], described: str = "training", limit: int = 30
) -> dict[str, Any]:
    """Rows of each class."""
    shown = classes[:limit]
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
        caption=f"The {limit} largest; {left} smaller ones are not drawn." if left else "",
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
    told = "" if accuracy is None else f", {percent(accuracy, 1)} correct"
    value = f"{leave:,} of {arrive:,} leave{told}"
    parts = [
        Part(0, correct, "leaf", value + beyond),
        Part(correct, leave, "warn", value + beyond),
        Part(leave, arrive, "peer-soft", f"{arrive - leave:,} rows go on"),
    ]
    name = f"{position + 1}: {stage['label']}"
    return BarRow(name, [part for part in parts if part.stop > part.start], value, name + beyond)


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
