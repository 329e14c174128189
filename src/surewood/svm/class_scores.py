"""Scores of classes from pairwise decisions.

`class_votes` and `class_scores` are what `decision_function` shows; `coupled_scores` are sums of pairwise log
probabilities, which calibrate better; `agree_with` makes probabilities agree with the votes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

__all__ = ["agree_with", "class_scores", "class_votes", "coupled_scores", "fit_slope", "own_margins"]

FloatArray = NDArray[np.float64]


def class_votes(decisions: FloatArray, n_classes: int) -> NDArray[np.int64]:
    """Pairs won by each class, shape (rows, n_classes); a decision of 0 is a vote for the second class."""
    votes = np.zeros((len(decisions), n_classes), dtype=np.int64)
    first, second = np.triu_indices(n_classes, 1)
    for pair, (a, b) in enumerate(zip(first, second)):
        ahead = decisions[:, pair] > 0
        votes[:, a] += ahead
        votes[:, b] += ~ahead
    return votes


def class_scores(decisions: FloatArray, classes: NDArray[np.int32], n_total: int) -> FloatArray:
    """One score a class: votes, and sums of decision values squeezed below half a vote (as in scikit-learn).

    `classes` are the codes that the machine knows; the others of the `n_total` classes get a score below all.

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


def coupled_scores(
    decisions: FloatArray, classes: NDArray[np.int32], n_total: int, slope: float
) -> FloatArray:
    """Mean over the pairs of a class of log P(class beats the other) = −log(1 + e^(−slope · decision))."""
    n_known = len(classes)
    known = np.zeros((len(decisions), n_known))
    first, second = np.triu_indices(n_known, 1)
    for pair, (a, b) in enumerate(zip(first, second)):
        known[:, a] -= np.logaddexp(0.0, -slope * decisions[:, pair])
        known[:, b] -= np.logaddexp(0.0, slope * decisions[:, pair])
    known /= max(n_known - 1, 1)
    scores = np.repeat(known.min(axis=1, keepdims=True) - 1.0, n_total, axis=1)
    scores[:, classes] = known
    return scores


def own_margins(decisions: FloatArray, place: NDArray[np.intp], n_known: int) -> FloatArray:
    """Decisions of the pairs of each row's own class (`place` among the known ones), positive when won."""
    first, second = np.triu_indices(n_known, 1)
    mine = (first == place[:, None]) | (second == place[:, None])
    signed = np.where(first == place[:, None], decisions, -decisions)
    margins: FloatArray = signed[mine].reshape(len(decisions), n_known - 1)
    return margins


def fit_slope(margins: FloatArray, weight: FloatArray) -> float:
    """Slope of the logistic curve that explains held-out pairwise margins best (rows: points, all pairs)."""
    if not margins.size:
        return 1.0
    unit = float(np.abs(margins).max()) or 1.0
    share = weight[:, None] / (weight.sum() * margins.shape[1])

    def loss(log_slope: float) -> float:
        return float((share * np.logaddexp(0.0, -np.exp(log_slope) * margins)).sum())

    # The logarithm stays where e^(slope * margin) means something.
    found = minimize_scalar(loss, bounds=(-3.0 - np.log(unit), 3.0), method="bounded")
    return float(np.exp(found.x))


def agree_with(proba: FloatArray, winners: NDArray[np.int32]) -> FloatArray:
    """Exchange probabilities where the largest is not the winner's, so that ``argmax`` gives the winner.

    Votes may tie, and then the lowest class wins whatever the scores say (theory.md [D-04]).
    """
    rows = np.arange(len(proba))
    best = proba.argmax(axis=1)
    wrong = np.flatnonzero(best != winners)
    if len(wrong):
        proba = proba.copy()
        top, own = proba[wrong, best[wrong]], proba[wrong, winners[wrong]]
        proba[wrong, best[wrong]] = own
        proba[wrong, winners[wrong]] = top
        # Equal probabilities cannot be exchanged: the winner gets a hair more.
        tied = proba.argmax(axis=1) != winners
        proba[rows[tied], winners[tied]] *= 1.0 + 1e-9
        proba /= proba.sum(axis=1, keepdims=True)
    return proba
