"""Charts as plain dictionaries that ``parts.chart`` puts on a page.

`figure` makes one from HTML that Python has drawn: :class:`~surewood.report.plot.Plot` for axes, lines and
dots, :func:`~surewood.report.bar_rows.bar_rows` for bars with names. Colors are names of the style sheet
("leaf", "sky", ...), so they follow light and dark. The rest of the file are charts about the table that all
models share; those about quality are in :mod:`surewood.report.quality_charts`, those that a model describes
itself with in :mod:`surewood.report.blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from surewood.report.bar_rows import BarRow, Part, bar_rows
from surewood.report.heat_map import MOST_NUMBERS, confusion_map
from surewood.report.plot import Plot, alt_text
from surewood.report.scales import Axis, fitted_axis
from surewood.report.words import percent

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
