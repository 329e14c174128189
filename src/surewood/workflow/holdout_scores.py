"""What later commands need of the holdout: `predict --sets` and the shift alarm of `monitor`.

A few numbers per counted holdout row, kept among the facts of a model file: the scores of its true class, the
class, and its largest probability. Of a large holdout a random part is kept; it is a holdout as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.certify import PredictionSets
from surewood.certify.conditions import holdout_conditions
from surewood.certify.counting import count_rows
from surewood.certify.set_scores import UNKNOWN, label_codes, smallest_scores, tie_breakers, true_scores
from surewood.certify.training_rows import TrainingRows
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import LabelledTable
from surewood.workflow.training import Trained

SCORES = "holdout_scores"
_MOST = 20_000
CHOICES = {"guarantee": ("pac", "marginal"), "by": (None, "class"), "score": ("threshold", "adaptive")}


def holdout_scores(trained: Trained, table: LabelledTable) -> dict[str, Any] | None:
    """Scores of the holdout, per counted row or content; None without independent rows held out."""
    independent = table.holdout_groups is None and table.holdout_times is None
    if trained.holdout is None or table.holdout is None or not independent:
        return None
    X, p = trained.holdout.X, trained.holdout.probabilities
    training = TrainingRows(trained.estimator)
    counted = count_rows(X, len(p), training, copies=table.sampling.copies)
    rows, unit = counted.rows, counted.unit
    codes = label_codes(table.holdout[1].to_numpy(), np.asarray(trained.estimator.classes_))
    truth = true_scores(p, codes, "threshold")[rows]
    adaptive = true_scores(p, codes, "adaptive", tie_breakers(X, "adaptive"))[rows]
    # a content with several rows counts once, by its smallest score
    order = np.lexsort((truth, unit))
    first = order[np.r_[True, np.diff(unit[order]) != 0]] if order.size else order
    kept = np.sort(np.random.default_rng(0).permutation(first)[:_MOST])
    part = np.flatnonzero(np.isin(unit, unit[kept]))
    cells, place = np.unique(np.stack([unit[part], codes[rows][part]]), axis=1, return_inverse=True)
    return {
        "truth": truth[kept].tolist(),
        "largest": p.max(axis=1)[rows][kept].tolist(),
        "sets": {
            "unit": cells[0].tolist(),
            "code": cells[1].tolist(),
            "threshold": smallest_scores(truth[part], place.ravel()).tolist(),
            "adaptive": smallest_scores(adaptive[part], place.ravel()).tolist(),
        },
        "about": {
            "population": counted.population,
            "unit_name": counted.unit_name,
            "conditions": [[one.text, one.source] for one in holdout_conditions(counted, training)],
        },
    }


def kept_scores(facts: Mapping[str, Any], of: str, needed_for: str) -> NDArray[np.float64]:
    """Scores of a saved model's holdout.

    Parameters
    ----------
    facts : mapping
    of : {"truth", "largest"}
    needed_for : str
        For the error where there are none.
    """
    found = facts.get(SCORES)
    if not found or not found[of]:
        raise WorkflowError(
            f"{needed_for} needs the holdout of the fit, which this model file does not have."
        )
    return np.asarray(found[of], dtype=np.float64)


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
        raise WorkflowError(f"sets={coverage:g} is not a coverage; write for example 0.95.")
    for name, value in (("guarantee", guarantee), ("by", by), ("score", score)):
        if value not in CHOICES[name]:
            words = ", ".join(word for word in CHOICES[name] if word)
            raise WorkflowError(f"sets_{name}={value}: choose among {words}.")
    truth = kept_scores(facts, "truth", f"sets={coverage:g}")
    kept = facts[SCORES].get("sets")
    if kept is None:  # a file of an earlier version
        if by is not None or score != "threshold":
            raise WorkflowError("this model file has no scores for sets_by and sets_score; fit it again.")
        kept = {"threshold": truth, "code": np.where(truth > UNKNOWN, 0, -1), "unit": np.arange(truth.size)}
    scores = np.asarray(kept[score], dtype=np.float64)
    sets = PredictionSets(model, 1.0 - coverage, guarantee, by, score).fit_scores(
        scores, np.asarray(kept["code"]), np.asarray(kept["unit"]), **facts[SCORES].get("about", {})
    )
    if (sets.thresholds_ == -np.inf).all():
        raise WorkflowError(
            f"sets={coverage:g}: {truth.size:,} holdout rows are too few, every set would hold every label."
        )
    if not sets.guarantees_:
        raise WorkflowError(
            f"sets={coverage:g} cannot be kept: {int((truth <= UNKNOWN).sum()):,} of {truth.size:,} holdout "
            "rows have a class that the model does not know."
        )
    return sets
