"""What else the holdout can guarantee: errors where the model may abstain, and sets of labels.

Each list shares one delta of its own, beside the certificate's: the statements of a list hold together.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from surewood.certify import NoThresholdError, PredictionSets, find_threshold
from surewood.report.model_step import last_step
from surewood.report.plain import plain_dict
from surewood.report.predictions import Predictions

__all__ = ["abstention_facts", "set_facts"]

LEVELS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)
MOST_LEVELS = 6
COVERAGES = (0.8, 0.9, 0.95, 0.99)
LEAST_ROWS, MOST_ROWS = 50, 50_000


def abstention_facts(
    model: Any, judged: Predictions, limit: float | None, delta: float
) -> dict[str, Any] | None:
    """How many rows could be decided with a guaranteed error, for levels below the guaranteed error.

    Which levels are shown depends on the holdout, so each has its part of delta as if all of them were.
    """
    if limit is None or not _can(judged):
        return None
    levels = [level for level in LEVELS if level < 0.95 * limit][:MOST_LEVELS]
    fixed, rows = _with_known_probabilities(model, judged)
    found = []
    for level in levels:
        try:
            rule = find_threshold(
                fixed, judged.X[:rows], judged.y[:rows], accepted_error=level, delta=delta / len(LEVELS)
            )
        except NoThresholdError:
            break  # a smaller error is harder still
        found.append({"error": level, "threshold": rule.threshold, "decided": rule.coverage.fraction})
    return plain_dict({"delta": delta, "levels": found, "without": limit}) if found else None


def set_facts(model: Any, judged: Predictions, delta: float) -> dict[str, Any] | None:
    """Sizes of sets of labels that have the true one with a guaranteed frequency."""
    if not _can(judged):
        return None
    assert judged.proba is not None
    fixed, rows = _with_known_probabilities(model, judged)
    found = []
    for coverage in COVERAGES:
        sets = PredictionSets(fixed, alpha=1.0 - coverage, delta=delta / len(COVERAGES))
        sets.fit(judged.X[:rows], judged.y[:rows])
        threshold = float(sets.thresholds_[0])
        if not np.isfinite(threshold) or not sets.guarantees_:
            break
        sizes = (judged.proba >= threshold).sum(axis=1)
        own = {"mean_size": float(sizes.mean()), "single": float((sizes == 1).mean())}
        found.append({"coverage": coverage, "threshold": threshold, **own})
    return plain_dict({"delta": delta, "levels": found}) if found else None


def _can(judged: Predictions) -> bool:
    return judged.proba is not None and judged.n_rows >= LEAST_ROWS and len(judged.classes) > 1


def _with_known_probabilities(model: Any, judged: Predictions) -> tuple[Any, int]:
    """The model with the probabilities that are known already, and how many of the rows are used."""
    rows = min(judged.n_rows, MOST_ROWS)
    assert judged.proba is not None
    proba = judged.proba[:rows]
    fixed = copy.copy(last_step(model))
    fixed.predict_proba = lambda X: proba
    return fixed, rows
