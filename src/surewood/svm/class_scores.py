"""One score per class from pairwise decisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood import _core
from surewood._arrays import Floats

__all__ = ["class_scores", "class_votes", "vote_counts"]


def class_votes(decisions: Floats, n_classes: int) -> NDArray[np.int64]:
    """Pairs won by each class, shape (rows, n_classes); a decision of 0 is a vote for the second class."""
    votes = np.zeros((len(decisions), n_classes), dtype=np.int64)
    first, second = np.triu_indices(n_classes, 1)
    for pair, (a, b) in enumerate(zip(first, second)):
        ahead = decisions[:, pair] > 0
        votes[:, a] += ahead
        votes[:, b] += ~ahead
    return votes


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
    confidence = np.zeros((len(decisions), n_known))
    first, second = np.triu_indices(n_known, 1)
    for pair, (a, b) in enumerate(zip(first, second)):
        confidence[:, a] += decisions[:, pair]
        confidence[:, b] -= decisions[:, pair]
    squeezed = confidence / (3.0 * (np.abs(confidence) + 1.0))
    scores[:, classes] = class_votes(decisions, n_known) + squeezed
    return scores
