"""What every threshold would do: ROC, precision and recall, and lift, with the point that was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood.report.model_step import last_step
from surewood.report.plain import plain_dict
from surewood.report.predictions import Predictions
from surewood.report.quality import area_under_curve

__all__ = ["curves", "positive_class"]

MAX_CLASSES = 10  # whose curves are kept: those with most rows
MAX_POINTS = 90  # of a curve


def positive_class(model: Any, judged: Predictions, y_train: Any) -> int:
    """The class that a page calls positive: that of the decision rule, else the rarer of two in training."""
    rule = last_step(model, with_rule=True)
    named = getattr(rule, "positive", None)
    if named is not None:
        found = np.flatnonzero(judged.classes == named)
        if found.size:
            return int(found[0])
    if len(judged.classes) != 2:
        return 0
    second = float(np.mean(np.asarray(y_train).ravel() == judged.classes[1]))
    return 1 if second <= 0.5 else 0


def curves(model: Any, judged: Predictions, positive: int) -> dict[str, Any] | None:
    """Curves of the positive class of two, else of the ten classes with most rows, one against the rest."""
    if judged.proba is None or len(judged.classes) < 2:
        return None
    if len(judged.classes) == 2:
        chosen = [positive]
    else:
        rows = np.bincount(judged.codes[judged.codes >= 0], minlength=len(judged.classes))
        chosen = np.argsort(-rows, kind="stable")[:MAX_CLASSES].tolist()
    found = [_of_class(judged, k) for k in chosen]
    kept = [one for one in found if one is not None]
    if not kept:
        return None
    rule = last_step(model, with_rule=True)
    threshold = getattr(rule, "threshold", None)
    if threshold is None and len(judged.classes) == 2:
        threshold = 0.5
    return plain_dict({"threshold": threshold, "classes": kept})


def _of_class(judged: Predictions, k: int) -> dict[str, Any] | None:
    """All curves of one class against the rest; None where the rows are all of one kind."""
    assert judged.proba is not None
    score, true = judged.proba[:, k], judged.codes == k
    area = area_under_curve(score, true)
    if area is None:
        return None
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.r_[np.diff(score[order]) != 0, True])
    hits = np.cumsum(true[order])[ends].astype(float)
    named = (ends + 1).astype(float)
    n_true, n = float(true.sum()), float(len(true))
    fpr, tpr = np.r_[0.0, (named - hits) / (n - n_true)], np.r_[0.0, hits / n_true]
    precision, recall = hits / named, hits / n_true
    average = float(np.sum(np.diff(np.r_[0.0, recall]) * precision))
    wide, narrow = _thinned(len(tpr)), _thinned(len(recall))
    return {
        "label": str(judged.classes[k]),
        "rate": n_true / n,
        "auc": area,
        "average_precision": average,
        "roc": {"fpr": fpr[wide], "tpr": tpr[wide]},
        "precision_recall": {"recall": recall[narrow], "precision": precision[narrow]},
        "lift": {"fraction": (named / n)[narrow], "lift": (precision * n / n_true)[narrow]},
        "chosen": _chosen(judged.guesses == k, true),
    }


def _thinned(n: int) -> NDArray[np.int64]:
    """Positions of at most 90 points of a curve, both ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(np.int64))


def _chosen(named: NDArray[np.bool_], true: NDArray[np.bool_]) -> dict[str, Any]:
    """Where the model's decisions are on the curves."""
    hits = float((named & true).sum())
    return {
        "fpr": float((named & ~true).sum()) / float((~true).sum()),
        "recall": hits / float(true.sum()),
        "precision": hits / float(named.sum()) if named.any() else None,
        "fraction": float(named.mean()),
    }
