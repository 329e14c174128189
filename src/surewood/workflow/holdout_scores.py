"""What later commands need of the holdout: `predict --sets` and the shift alarm of `monitor`.

Two numbers per counted holdout row, kept among the facts of a model file: the probability of its true class
and its largest probability. Of a large holdout a random part is kept; it is a holdout as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.bounds import pac_rank, set_threshold
from surewood.certify.counting import count_rows
from surewood.certify.set_scores import UNKNOWN, true_scores
from surewood.certify.training_rows import TrainingRows
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import LabelledTable
from surewood.workflow.training import Trained

SCORES = "holdout_scores"
_MOST = 20_000
_DELTA = 0.05


def holdout_scores(trained: Trained, table: LabelledTable) -> dict[str, list[float]] | None:
    """Scores of the holdout, one pair per counted row or content; None without independent rows held out."""
    independent = table.holdout_groups is None and table.holdout_times is None
    if trained.holdout is None or table.holdout is None or not independent:
        return None
    X, p = trained.holdout.X, trained.holdout.probabilities
    counted = count_rows(X, len(p), TrainingRows(trained.estimator), copies=table.sampling.copies)
    place = {label: k for k, label in enumerate(np.asarray(trained.estimator.classes_).tolist())}
    codes = np.array([place.get(label, -1) for label in table.holdout[1].tolist()], dtype=np.intp)
    truth, largest = true_scores(p, codes, "threshold")[counted.rows], p.max(axis=1)[counted.rows]
    # a content with several rows counts once, by its smallest score
    order = np.lexsort((truth, counted.unit))
    first = order[np.r_[True, np.diff(counted.unit[order]) != 0]] if order.size else order
    kept = np.sort(np.random.default_rng(0).permutation(first)[:_MOST])
    return {"truth": truth[kept].tolist(), "largest": largest[kept].tolist()}


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


def set_limit(facts: Mapping[str, Any], coverage: float) -> float:
    """Smallest probability of a label in a set; with probability 0.95 the coverage is kept (§11.5)."""
    if not 0 < coverage < 1:
        raise WorkflowError(f"sets={coverage:g} is not a coverage; write for example 0.95.")
    scores = kept_scores(facts, "truth", f"sets={coverage:g}")
    if pac_rank(scores.size, 1.0 - coverage, delta=_DELTA) == 0:
        raise WorkflowError(
            f"sets={coverage:g}: {scores.size:,} holdout rows are too few, every set would hold every label."
        )
    limit = set_threshold(scores, 1.0 - coverage, delta=_DELTA)
    if limit <= UNKNOWN:
        unknown = int((scores <= UNKNOWN).sum())
        raise WorkflowError(
            f"sets={coverage:g} cannot be kept: {unknown:,} of {scores.size:,} holdout rows have a class "
            "that the model does not know."
        )
    return limit
