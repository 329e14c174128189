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
from surewood.tables import TrainingTable

_CLEAR = 0.25  # least square of the way from h to f, over that to the other copies, that shows a row's part


def copy_counts(inputs: TrainingTable) -> Floats:
    """How often each row of the merged table occurs, label included.

    Weight 2 is the row twice, so occurrences are read from the weights: they are counts where all are whole
    numbers, or whole multiples of the smallest weight of their class. Other weights say nothing of copies,
    and a table in which every row has copies (or weights that only scale) is taken to have none.
    """
    counts = _counts(inputs.weight, inputs.y, inputs.table.n_rows)
    return np.ones_like(counts) if (counts > 1.5).all() else counts


def copied_rows(content: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Rows whose content occurs more than once; none where every content does: such weights only scale.

    Examples
    --------
    >>> copied_rows(np.array([7, 3, 7, 5])).tolist(), copied_rows(np.array([1, 1])).tolist()
    ([0, 2], [])
    """
    if content is None:
        return np.empty(0, dtype=np.int64)
    group = np.unique(content, return_inverse=True)[1]
    rows = np.flatnonzero(np.bincount(group)[group] > 1)
    return rows if len(rows) < len(content) else rows[:0]


def labels_by_content(y: Codes, content: NDArray[np.int64], n_classes: int) -> Floats:
    """How often each class occurs among the rows with the same content, one line per row.

    Examples
    --------
    >>> labels_by_content(np.array([0, 1, 1]), np.array([7, 7, 5]), 2).tolist()
    [[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]
    """
    group = np.unique(content, return_inverse=True)[1]
    counts = np.zeros((int(group.max(initial=-1)) + 1, n_classes))
    np.add.at(counts, (group, y), 1.0)
    return np.asarray(counts[group])


def with_other_copies(
    held_out: Floats, y: Codes, counts: Floats, seen: Callable[[NDArray[np.int64]], Floats]
) -> Floats:
    """What models that saw the other copies of a row, but not the row itself, would predict for it.

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
    copies = counts[rows, None] * np.eye(held_out.shape[1])[y[rows]]
    result = held_out.copy()
    result[rows] = without_one_copy(held_out[rows], seen(rows), y[rows], copies, counts[rows])
    return result


def without_one_copy(held_out: Floats, seen: Floats, y: Codes, copies: Floats, counts: Floats) -> Floats:
    """Predictions for rows with copies as if one copy of each had been left out of the training table.

    This is leaving one row out: the next row may be a copy of a training row, and a model that learns labels
    by heart is judged by how often they are right again. The copies act as c votes with class frequencies f
    beside s votes of the held-out prediction h: the whole model predicts p = a f + (1 - a) h with the part
    a = c / (c + s), which is how far p lies on the way from h to f. With one copy less it is
    (c - 1) / (c - 1 + s) of the way to the frequencies of the others. Where the labels of copies differ and
    f is close to h, a row does not show its part: that of all rows together takes its place.

    Parameters
    ----------
    held_out, seen : ndarray of shape (n_rows, n_classes)
        Predictions by models that saw no copy (NaN: there is none, `seen` stands) and by the whole model.
    y : ndarray of shape (n_rows,)
    copies : ndarray of shape (n_rows, n_classes)
        How often each class occurs among the copies that the held-out models did not see, the row included.
    counts : ndarray of shape (n_rows,)
        How many rows of the table each row stands for.

    Examples
    --------
    A model that remembers says what the two others say, one that does not stays where it was:

    >>> half, y, copies = np.full((1, 2), 0.5), np.array([1]), np.array([[2.0, 1.0]])
    >>> without_one_copy(half, copies / 3, y, copies, np.ones(1)).tolist()
    [[1.0, 0.0]]
    >>> without_one_copy(half, half, y, copies, np.ones(1)).tolist()
    [[0.5, 0.5]]
    """
    total = copies.sum(axis=1)
    rest = (copies - np.eye(copies.shape[1])[y]) / (total - 1.0)[:, None]
    towards = copies / total[:, None] - held_out
    along, length = ((seen - held_out) * towards).sum(axis=1), (towards**2).sum(axis=1)
    judged = ~np.isnan(length)
    clear = judged & (length > 0.0) & (length >= _CLEAR * ((rest - held_out) ** 2).sum(axis=1))
    everywhere = float(counts[judged] @ length[judged])
    part = np.full(len(y), float(counts[judged] @ along[judged]) / everywhere if everywhere > 0.0 else 0.0)
    part = np.clip(np.divide(along, length, out=part, where=clear), 0.0, 1.0)
    left, others = (total - 1.0) * part, total * (1.0 - part)
    part = np.divide(left, left + others, out=np.zeros_like(left), where=left + others > 0.0)[:, None]
    return np.where(judged[:, None], part * rest + (1.0 - part) * held_out, seen)


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
