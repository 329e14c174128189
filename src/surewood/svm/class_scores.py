"""One score per class from pairwise decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import Floats

__all__ = ["class_scores", "class_votes", "sums_of_pairs", "vote_counts"]


def sums_of_pairs(
    n_classes: int, start: NDArray[Any], values: Callable[[slice], tuple[NDArray[Any], NDArray[Any]]]
) -> NDArray[Any]:
    """Add to `start`, shape (rows, n_classes), what every pair of classes gives to its two classes.

    `values` is asked for the pairs of one class with all later ones, as a slice of the columns of
    ``triu_indices``, and answers what the first and what the second class of each gets. Numbers are added one
    by one, in the order of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> decisions = np.array([[1.0, 2.0, 4.0]])  # pairs (0, 1), (0, 2), (1, 2)
    >>> sums_of_pairs(3, np.zeros((1, 3)), lambda own: (decisions[:, own], -decisions[:, own]))
    array([[ 3.,  3., -6.]])
    """
    first = 0
    for a in range(n_classes - 1):
        own = slice(first, first + n_classes - 1 - a)
        gained, given = values(own)
        start[:, a] = np.cumsum(np.column_stack([start[:, a], gained]), axis=1, dtype=start.dtype)[:, -1]
        start[:, a + 1 :] += given
        first = own.stop
    return start


def class_votes(decisions: Floats, n_classes: int) -> NDArray[np.int64]:
    """Pairs won by each class, shape (rows, n_classes); a decision of 0 is a vote for the second class."""
    return sums_of_pairs(
        n_classes,
        np.zeros((len(decisions), n_classes), dtype=np.int64),
        lambda own: (decisions[:, own] > 0, ~(decisions[:, own] > 0)),
    )


def vote_counts(codes: NDArray[np.int32], n_classes: int) -> Floats:
    """How many entries of each row are class c, shape (rows, n_classes); entries below 0 do not vote.

    Examples
    --------
    >>> import numpy as np
    >>> vote_counts(np.array([[0, 1, 1], [-1, 2, -1]], dtype=np.int32), 3)
    array([[1., 2., 0.],
           [0., 0., 1.]])
    """
    counts = np.zeros((len(codes), n_classes))
    _core.count_votes(np.ascontiguousarray(codes, dtype=np.int32), counts)
    return counts


def class_scores(decisions: Floats, classes: NDArray[np.int32], n_total: int) -> Floats:
    """One score per class: votes, and sums of decisions squeezed below half a vote (as in scikit-learn).

    `classes` are the codes that the SVM knows; the others of the `n_total` classes get a score below all.

    Examples
    --------
    >>> import numpy as np
    >>> class_scores(np.array([[2.0]]), np.array([0, 1]), 2).round(3)
    array([[ 1.222, -0.222]])
    """
    n_known = len(classes)
    scores = np.full((len(decisions), n_total), -1.0)
    if n_known == 1:
        scores[:, classes[0]] = 1.0
        return scores
    confidence = sums_of_pairs(
        n_known, np.zeros((len(decisions), n_known)), lambda own: (decisions[:, own], -decisions[:, own])
    )
    squeezed = confidence / (3.0 * (np.abs(confidence) + 1.0))
    scores[:, classes] = class_votes(decisions, n_known) + squeezed
    return scores
