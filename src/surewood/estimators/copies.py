"""Rows that occur more than once in a training table.

Equal rows are merged on entry, and no model that is held out from one of them has seen the others. That is
right for *new* contents. Where a table has copies, rows to come will have copies in it too, and the models
that predict those have seen them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats
from surewood.tables import FitInputs


def copy_counts(inputs: FitInputs) -> Floats:
    """How often each row of the merged table occurs, label included.

    Weight 2 is the row twice, so occurrences are read from the weights: they are counts where all are whole
    numbers, or whole multiples of the smallest weight of their class. Other weights say nothing of copies,
    and a table in which every row has copies (or weights that only scale) is taken to have none.
    """
    counts = _counts(inputs.weight, inputs.y, inputs.table.n_rows)
    return np.ones_like(counts) if (counts > 1.5).all() else counts


def with_other_copies(
    held_out: Floats, y: Codes, counts: Floats, seen: Callable[[NDArray[np.int64]], Floats]
) -> Floats:
    """What models that saw the other copies of a row, but not the row itself, would predict for it.

    This is leaving one row out: the next row may be a copy of a training row, and a model that learns labels
    by heart is judged by how often they are right again. A row that occurs w times acts as w votes for its
    label beside s votes of the held-out prediction h, where s follows from the prediction of the whole
    model, (w e + s h) / (w + s); with one copy less it is ((w - 1) e + s h) / (w - 1 + s).

    Parameters
    ----------
    held_out : ndarray of shape (n_rows, n_classes)
        Predictions by models that saw no copy of the row; NaN where there is none.
    y, counts : ndarray of shape (n_rows,)
        Class codes, and how often each row occurs.
    seen : callable
        Predictions of the whole model for rows with these numbers.

    Examples
    --------
    Three of four rows with the same values have label 0. Without one of these, two of three have:

    >>> held_out, y, counts = np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([0, 1]), np.array([3.0, 1.0])
    >>> with_other_copies(held_out, y, counts, lambda rows: np.array([[0.75, 0.25]])).round(3).tolist()
    [[0.667, 0.333], [0.5, 0.5]]
    """
    rows = np.flatnonzero(counts > 1.5)
    if not len(rows):
        return held_out
    whole, alone, own = seen(rows), held_out[rows], y[rows]
    each = np.arange(len(rows))
    moved = np.maximum(whole[each, own] - alone[each, own], 0.0)  # 0: the copies did not matter
    left = (counts[rows] - 1.0) * moved
    others = counts[rows] * (1.0 - whole[each, own])  # s, times the same factor
    weight = np.divide(left, left + others, out=np.zeros(len(rows)), where=left + others > 0.0)[:, None]
    label = np.eye(held_out.shape[1])[own]
    result = held_out.copy()
    result[rows] = np.where(np.isnan(alone), whole, weight * label + (1.0 - weight) * alone)
    return result


def _counts(weight: Floats | None, y: NDArray[np.int32], n_rows: int) -> Floats:
    """How often each merged row occurs.

    Examples
    --------
    >>> _counts(np.array([1.0, 2.0]), np.array([0, 0]), 2).tolist()
    [1.0, 2.0]
    >>> _counts(np.array([0.5, 1.0, 3.3]), np.array([0, 0, 1]), 3).tolist()
    [1.0, 2.0, 1.0]
    >>> _counts(np.array([0.5, 0.7]), np.array([0, 0]), 2).tolist()
    [1.0, 1.0]
    """
    if weight is None:
        return np.ones(n_rows)
    least = np.full(int(y.max(initial=0)) + 1, np.inf)
    np.minimum.at(least, y, weight)
    for counts in (weight, weight / least[y]):
        if (np.abs(counts - np.rint(counts)) <= 1e-9 * counts).all():
            return np.rint(counts)
    return np.ones(n_rows)
