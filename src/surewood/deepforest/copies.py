"""Scores for the calibration of tables with copies.

Folds are dealt by content, so held-out scores speak of new contents. The calibration is chosen for rows as
they will come: when another copy of a content comes, the model has seen the others. What it would say of a
copy that it has not seen is worked out from three vectors of that row: the held-out one, the frequencies of
the classes among the other copies, and how far the whole model moved from the one towards the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Codes, Floats

#: How many copies weigh as much as everything else that a score is made of; tried in turn.
_STRENGTHS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


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


def scores_of_copies(seen: Floats, held_out: Floats, y: Codes, content: NDArray[np.int64]) -> Floats:
    """What models that saw all other copies of a row, but not the row itself, would say of it.

    Parameters
    ----------
    seen, held_out : ndarray of shape (n_rows, n_classes)
        Scores by the whole model, and by models that saw no copy.
    y, content : ndarray of shape (n_rows,)
        Every content has at least two rows.

    Examples
    --------
    >>> same = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> scores_of_copies(same, np.full((2, 2), 0.5), np.array([0, 0]), np.array([4, 4])).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    group = np.unique(content, return_inverse=True)[1]
    own = np.eye(seen.shape[1])[y]
    counts = np.zeros((int(group.max()) + 1, seen.shape[1]))
    np.add.at(counts, group, own)
    counts = counts[group]
    copies: Floats = counts.sum(axis=1, keepdims=True)

    def mixed(counts: Floats, copies: Floats, strength: float) -> Floats:
        return np.asarray((counts + strength * held_out) / (copies + strength))

    strength = min(_STRENGTHS, key=lambda one: float(((mixed(counts, copies, one) - seen) ** 2).sum()))
    return mixed(counts - own, copies - 1.0, strength)
