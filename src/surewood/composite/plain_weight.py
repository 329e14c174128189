"""The weight of the plain trees in the vote, from the votes of the fitted trees (theory.md §12.3).

The error of held-out votes is what a user sees, but it is noisy: it decides only up to its standard error.
Among the weights that it cannot tell from the best one, the smallest log-loss of the calibrated votes
decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.composite.votes import blend
from surewood.estimators.calibration import ScoreCalibrator

WEIGHTS = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9)  # that the plain trees may get
_LOSS_ROWS = 3000  # on which log-losses are compared: they are smooth


def choose_plain_weight(
    composite: Floats, plain: Floats, y: NDArray[np.int32], sample_weight: Floats | None = None
) -> float:
    """The weight of the plain trees.

    Parameters
    ----------
    composite, plain : ndarray of shape (n_rows, n_classes)
        Votes of both kinds of trees; rows with NaN in either do not count.
    y : ndarray of int32
        Class codes.
    sample_weight : ndarray, optional

    Examples
    --------
    >>> y = np.arange(200, dtype=np.int32) % 2
    >>> right, even = np.eye(2)[y], np.full((200, 2), 0.5)
    >>> choose_plain_weight(right, even, y), choose_plain_weight(1 - right, right, y)
    (0.0, 0.9)
    """
    known = np.flatnonzero(~np.isnan(composite).any(axis=1) & ~np.isnan(plain).any(axis=1))
    if not len(known):
        return 0.5
    composite, plain, y = composite[known], plain[known], y[known]
    mass = np.ones(len(y)) if sample_weight is None else sample_weight[known]
    mass = mass / mass.sum()
    wrong = np.array([blend(composite, plain, w).argmax(axis=1) != y for w in WEIGHTS], dtype=np.float64)
    errors = wrong @ mass
    difference = wrong - wrong[errors.argmin()]
    excess = difference @ mass
    standard_error = np.sqrt((np.square(difference - excess[:, None]) * np.square(mass)).sum(axis=1))
    alike = np.flatnonzero(excess <= standard_error)
    if len(alike) == 1:
        return WEIGHTS[int(alike[0])]
    some = np.linspace(0, len(y) - 1, min(len(y), _LOSS_ROWS)).astype(np.int64)
    votes = [blend(composite[some], plain[some], WEIGHTS[k]) for k in alike]
    losses = [_calibrated_log_loss(v, y[some], mass[some]) for v in votes]
    return WEIGHTS[int(alike[int(np.argmin(losses))])]


def _calibrated_log_loss(votes: Floats, y: NDArray[np.int32], mass: Floats) -> float:
    """Log-loss after one temperature for all classes."""
    weight = mass / mass.mean()  # the calibration's own penalty is worth one row
    proba = ScoreCalibrator("temperature").fit(votes, y, weight).transform(votes)
    return float(-(mass @ np.log(proba[np.arange(len(y)), y])))
