"""Probabilities of training rows by models that did not see them: what may be looked at before the holdout.

Thresholds must be fixed before the holdout (theory.md §11.4). Out-of-bag or out-of-fold probabilities say
where they are useful; a model without them gets a fixed grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood._arrays import Floats
from surewood.bounds import threshold_grid
from surewood.estimators.calibration import held_out_probabilities

from .training_rows import inner_model

__all__ = ["fixed_grid", "grid_from_scores", "prior_probabilities"]

_SOURCES = ("oob_decision_function_", "held_out_scores_")
_FEWEST = 50  # scores from which quantiles are taken
_STEPS = 50
_LOGIT = 7.0  # a fixed grid reaches from 0.0009 to 0.9991


def prior_probabilities(model: Any, n_classes: int) -> Floats | None:
    """Out-of-bag or out-of-fold probabilities of the training rows; None for a model without."""
    inner = inner_model(model)
    for name in _SOURCES:
        found = getattr(inner, name, None)
        if found is None:
            continue
        scores = np.asarray(found, dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != n_classes:
            continue
        scores = held_out_probabilities(scores, getattr(inner, "calibrator_", None))
        scores = scores[np.isfinite(scores).all(axis=1)]
        if len(scores) >= _FEWEST and np.allclose(scores.sum(axis=1), 1.0, atol=1e-6):
            return np.asarray(scores)
    return None


def grid_from_scores(scores: Floats, *, by_score: bool) -> Floats:
    """Thresholds, strict to lax, at equal steps of coverage; the last one selects every row.

    Parameters
    ----------
    scores : array of shape (n,)
    by_score : bool
        Half of the thresholds at equal steps of the expected number of positive rows instead (each row
        counts with its probability), so that a rare class gets fine steps too.

    Examples
    --------
    >>> import numpy as np
    >>> grid_from_scores(np.array([0.1, 0.2, 0.9]), by_score=False).tolist()
    [0.9, 0.2, 0.1, 0.0]
    """
    if not by_score:
        return np.asarray(np.unique(np.r_[threshold_grid(scores, n_thresholds=_STEPS), 0.0])[::-1])
    plain = threshold_grid(scores, n_thresholds=_STEPS // 2)
    ordered = np.sort(scores)[::-1]
    mass = np.cumsum(ordered)
    goals = np.arange(1, _STEPS // 2 + 1) / (_STEPS // 2) * mass[-1]
    weighted = ordered[np.minimum(np.searchsorted(mass, goals * (1 - 1e-12)), ordered.size - 1)]
    return np.asarray(np.unique(np.r_[plain, weighted, 0.0])[::-1])


def fixed_grid(least: float) -> Floats:
    """Thresholds for a model without such scores: equal steps of the logit, strict to lax, then 0.

    Parameters
    ----------
    least : float
        Smallest possible score: 1/K for the largest of K probabilities.
    """
    lowest = np.log(least / (1.0 - least)) if 0.0 < least < 1.0 else -_LOGIT
    steps = np.linspace(_LOGIT, max(lowest, -_LOGIT), _STEPS - 1)
    return np.asarray(np.r_[1.0 / (1.0 + np.exp(-steps)), 0.0])
