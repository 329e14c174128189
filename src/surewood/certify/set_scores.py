"""Conformity scores of labels: how well a label suits a row (theory.md §11.5).

``"threshold"``: the label's probability. ``"adaptive"``: one minus the sum of all larger probabilities and a
uniform fraction of the label's own, so that labels are taken from the most probable one on until the sum is
large enough. A larger score always means a better suited label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.tables import content_hashes

__all__ = [
    "SCORES",
    "UNKNOWN",
    "label_codes",
    "label_scores",
    "smallest_scores",
    "tie_breakers",
    "true_scores",
]

SCORES = ("threshold", "adaptive")
_ROWS_AT_ONCE = 1024  # they stay in the cache
_TIE_SALT = 0x5E75  # keys the uniform numbers of adaptive sets
UNKNOWN = -1.0  # score of a label that the model does not know: below every other one


def label_scores(probabilities: Floats, score: str, uniforms: Floats | None = None) -> Floats:
    """Score of every label of every row, shape (n_rows, n_classes).

    Parameters
    ----------
    probabilities : array of shape (n_rows, n_classes)
    score : {"threshold", "adaptive"}
    uniforms : array of shape (n_rows,)
        For ``"adaptive"``: a number in [0, 1) per row.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.5, 0.25, 0.25]])
    >>> label_scores(p, "adaptive", np.array([0.0])).tolist()
    [[1.0, 0.5, 0.25]]
    """
    if score == "threshold":
        return probabilities
    assert uniforms is not None
    scores = np.empty_like(probabilities)
    for start in range(0, len(probabilities), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        _adaptive(probabilities[rows], uniforms[rows, None], scores[rows])
    return scores


def _adaptive(probabilities: Floats, uniforms: Floats, out: Floats) -> None:
    """Adaptive scores of a block of rows, into `out`."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ordered = np.take_along_axis(probabilities, order, axis=1)
    before = np.cumsum(ordered, axis=1)
    before -= ordered
    np.put_along_axis(out, order, 1.0 - before - uniforms * ordered, axis=1)


def true_scores(
    probabilities: Floats, codes: NDArray[np.intp], score: str, uniforms: Floats | None = None
) -> Floats:
    """Score of each row's true label; -1 where the model does not know it (code -1).

    Examples
    --------
    >>> import numpy as np
    >>> true_scores(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1, -1]), "threshold").tolist()
    [0.5, -1.0]
    """
    found = np.full(codes.size, UNKNOWN)
    known = np.flatnonzero(codes >= 0)
    if score == "threshold":
        found[known] = probabilities[known, codes[known]]
        return found
    assert uniforms is not None
    for start in range(0, known.size, _ROWS_AT_ONCE):
        rows = known[start : start + _ROWS_AT_ONCE]
        scores = label_scores(probabilities[rows], score, uniforms[rows])
        found[rows] = scores[np.arange(rows.size), codes[rows]]
    return found


def tie_breakers(X: Any, score: str) -> Floats | None:
    """A number in [0, 1) for each row, keyed by its content; None where the score needs none."""
    return np.asarray(content_hashes(X, salt=_TIE_SALT) / 2.0**64) if score == "adaptive" else None


def label_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Positions of labels among the classes; -1 for those that are not.

    Examples
    --------
    >>> import numpy as np
    >>> label_codes(np.array(["b", "x"]), np.array(["a", "b"])).tolist()
    [1, -1]
    """
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)


def smallest_scores(scores: Floats, unit: NDArray[Any]) -> Floats:
    """Smallest score of each content.

    Examples
    --------
    >>> import numpy as np
    >>> smallest_scores(np.array([0.5, 0.2, 0.9]), np.array([3, 3, 7])).tolist()
    [0.2, 0.9]
    """
    if scores.size == 0:
        return scores
    _, position = np.unique(unit, return_inverse=True)
    smallest = np.full(int(position.max()) + 1, np.inf)
    np.minimum.at(smallest, position, scores)
    return smallest
