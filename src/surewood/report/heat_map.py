"""A confusion matrix in HTML: with counts and rates in its cells for few classes, colors alone for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from surewood.report.plain import cut_names
from surewood.report.words import percent

__all__ = ["confusion_map"]

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
