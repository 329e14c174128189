"""What later commands need of the holdout: sets of `predict` (§11.5), the shift alarm of `monitor`.

It is a few numbers per counted row, kept among the facts of the model file: scores of the true class, the
class, the largest probability. Of a large holdout a random part is kept; it is a holdout as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surewood.base.counted_rows import AS_THEY_COME, NoRowsCountError
from surewood.certify import PredictionSets
from surewood.certify.model_parts import counted_rows
from surewood.certify.prediction_sets import UNKNOWN, label_codes, tie_breakers, true_scores
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import LabelledTable
from surewood.workflow.training import Trained

SCORES = "holdout_scores"
_MOST = 20_000
CHOICES = {"guarantee": ("pac", "marginal"), "by": (None, "class"), "score": ("threshold", "adaptive")}


def holdout_scores(trained: Trained, table: LabelledTable) -> dict[str, Any] | None:
    """Scores of the counted holdout rows; None without independent rows held out."""
    if trained.holdout is None or table.holdout is None or table.sampling.columns:
        return None
    X, p = trained.holdout.X, trained.holdout.probabilities
    try:
        counted = counted_rows(trained.estimator, X, copies=table.sampling.copies)
    except NoRowsCountError:
        return None
    rows = np.sort(np.random.default_rng(0).permutation(counted.rows)[:_MOST])
    labels = table.holdout.y.to_numpy()[rows]
    codes = label_codes(labels, np.asarray(trained.estimator.classes_))
    ties = tie_breakers(X, "adaptive")
    assert ties is not None
    return {
        # batches to watch have rows as they come
        "largest": p.max(axis=1)[rows].tolist() if counted.population in AS_THEY_COME else [],
        "code": codes.tolist(),
        "threshold": true_scores(p[rows], codes, "threshold").tolist(),
        "adaptive": true_scores(p[rows], codes, "adaptive", ties[rows]).tolist(),
        "unknown": sorted({str(label) for label in labels[codes < 0].tolist()}),
        "population": counted.population,
        "conditions": [[one.text, one.source] for one in counted.conditions()],
    }


def kept_sets(
    model: Any,
    facts: Mapping[str, Any],
    coverage: float,
    guarantee: str = "pac",
    by: str | None = None,
    score: str = "threshold",
) -> PredictionSets:
    """Prediction sets of a saved model, found on the scores of its holdout (§11.5)."""
    if not 0 < coverage < 1:
        raise WorkflowError(f"coverage={coverage:g} is not a coverage; write for example 0.95.")
    for name, value in (("guarantee", guarantee), ("by", by), ("score", score)):
        if value not in CHOICES[name]:
            words = ", ".join(word for word in CHOICES[name] if word)
            raise WorkflowError(f"sets_{name}={value}: choose among {words}.")
    kept = facts.get(SCORES)
    if not kept or not kept[score]:
        raise WorkflowError(
            f"coverage={coverage:g} needs the holdout of the fit, which this model file does not have."
        )
    scores = np.asarray(kept[score], dtype=np.float64)
    sets = PredictionSets(model, 1.0 - coverage, guarantee, by, score).fit_scores(
        scores,
        np.asarray(kept["code"]),
        unknown=kept["unknown"],
        population=kept["population"],
        conditions=kept["conditions"],
    )
    if (sets.thresholds_ == -np.inf).all():
        raise WorkflowError(
            f"coverage={coverage:g}: {scores.size:,} holdout rows are too few, every set would hold every "
            "label."
        )
    if not sets.guarantees_:
        raise WorkflowError(
            f"coverage={coverage:g} cannot be kept: {int((scores <= UNKNOWN).sum()):,} of {scores.size:,} "
            "holdout rows have a class that the model does not know."
        )
    return sets
