"""How well a model predicts some rows: scores beside the baseline's, each class, confusion, calibration.

All values are ESTIMATES; on training rows they are biased, with a note on the page.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score, log_loss

from surewood.certify.thresholded import ABSTAIN
from surewood.report.plain import middle, plain_dict
from surewood.report.predictions import Predictions

__all__ = ["area_under_curve", "calibration", "class_scores", "confusion", "scores"]

MAX_CLASSES = 100  # of a confusion matrix; the rarest become one
N_BINS = 10
UNSEEN = "not seen in training"


def scores(judged: Predictions, sample: str, y_train: Any = None) -> dict[str, Any]:
    """Error, AUC, log-loss and so on, beside those of the baseline that only knows how frequent classes are.

    With a rule that abstains, the error is that of the rows that are decided.
    """
    counts = np.unique(judged.y, return_counts=True)[1]
    decided = judged.decided | (judged.predicted.astype(str) != ABSTAIN)
    wrong = decided & ~judged.right
    values: dict[str, Any] = {
        "sample": sample,
        "n": judged.n_rows,
        "n_wrong": int(wrong.sum()),
        "decided": float(decided.mean()),
        "error": float(wrong.sum() / max(1, decided.sum())),
        "majority_error": float(1.0 - counts.max() / counts.sum()),
        "balanced_accuracy": None,
        "auc": None,
        "log_loss": None,
        "brier": None,
        "baseline": _baseline(judged, y_train),
    }
    known = judged.codes >= 0
    if len(counts) > 1 and known.all() and decided.all():
        values["balanced_accuracy"] = float(balanced_accuracy_score(judged.codes, judged.guesses))
    if judged.proba is not None and known.any() and len(judged.classes) > 1:
        proba, codes = judged.proba[known], judged.codes[known]
        values["log_loss"] = float(log_loss(codes, proba, labels=np.arange(len(judged.classes))))
        values["brier"] = _brier(proba, codes)
        areas = [area_under_curve(proba[:, k], codes == k) for k in range(len(judged.classes))]
        found = [area for area in areas if area is not None]
        values["auc"] = float(np.mean(found)) if found else None
    return plain_dict(values)


def _brier(proba: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    truth = np.zeros_like(proba)
    truth[np.arange(len(codes)), codes] = 1.0
    return float(((proba - truth) ** 2).sum(axis=1).mean())


def _baseline(judged: Predictions, y_train: Any) -> dict[str, Any]:
    """Scores of always predicting the frequencies of the classes in training."""
    known = judged.codes >= 0
    place = {label: i for i, label in enumerate(judged.classes.tolist())}
    labels = judged.y if y_train is None else np.asarray(y_train).ravel()
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(judged.classes)).astype(float)
    if not known.any() or counts.sum() == 0 or len(judged.classes) < 2:
        return {"error": None, "log_loss": None, "brier": None, "auc": None}
    share = np.tile(counts / counts.sum(), (int(known.sum()), 1))
    truth = judged.codes[known]
    return {
        "error": float(1.0 - np.unique(judged.y, return_counts=True)[1].max() / judged.n_rows),
        "log_loss": float(log_loss(truth, share, labels=np.arange(len(judged.classes)))),
        "brier": _brier(share, truth),
        "auc": 0.5,
    }


def area_under_curve(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> float | None:
    """Area under the ROC curve; None without both kinds of rows.

    Examples
    --------
    >>> area_under_curve(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return None
    ranks = rankdata(score)[positive].sum()
    return float((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def class_scores(judged: Predictions) -> list[dict[str, Any]]:
    """Rows, precision, recall, F1 and AUC of each class, in the model's order."""
    found = []
    for k, label in enumerate(judged.classes.tolist()):
        true, named = judged.codes == k, judged.guesses == k
        hits = int((true & named).sum())
        precision = hits / int(named.sum()) if named.any() else None
        recall = hits / int(true.sum()) if true.any() else None
        both = (precision or 0.0) + (recall or 0.0)
        area = None if judged.proba is None else area_under_curve(judged.proba[:, k], true)
        found.append(
            plain_dict(
                {
                    "label": str(label),
                    "rows": int(true.sum()),
                    "predicted": int(named.sum()),
                    "precision": precision,
                    "recall": recall,
                    "f1": None if recall is None else 2 * (precision or 0.0) * recall / both if both else 0.0,
                    "auc": area,
                }
            )
        )
    return found


def confusion(judged: Predictions) -> dict[str, Any]:
    """Counts of (true, predicted); beyond 100 classes the rarest share one row and column."""
    n = len(judged.classes)
    names = [str(label) for label in judged.classes.tolist()]
    codes, guesses = judged.codes.copy(), judged.guesses.copy()
    rows, columns = list(names), list(names)
    if n > MAX_CLASSES:
        kept = np.sort(
            np.argsort(-np.bincount(codes[codes >= 0], minlength=n), kind="stable")[: MAX_CLASSES - 1]
        )
        place = np.full(n, len(kept))
        place[kept] = np.arange(len(kept))
        codes, guesses = (np.where(one < 0, -1, place[one]) for one in (codes, guesses))
        rows = columns = [*(names[k] for k in kept), f"{n - len(kept)} other classes"]
    if (codes < 0).any():
        codes = np.where(codes < 0, len(rows), codes)
        rows = [*rows, UNSEEN]
    if (guesses < 0).any():
        guesses = np.where(guesses < 0, len(columns), guesses)
        columns = [*columns, "abstains"]
    matrix = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(matrix, (codes, guesses), 1)
    return {"labels": rows, "predicted_labels": columns, "matrix": matrix.tolist()}


def calibration(judged: Predictions, positive: int = 1) -> dict[str, Any] | None:
    """Predicted and observed probability in bins: of the positive class, else of the most probable one."""
    if judged.proba is None or len(judged.classes) < 2:
        return None
    if len(judged.classes) == 2:
        predicted, happened = judged.proba[:, positive], judged.codes == positive
        of = f"predicted probability of {middle(judged.classes[positive], 28)}"
    else:
        predicted, happened = judged.proba.max(axis=1), judged.codes == judged.proba.argmax(axis=1)
        of = "predicted probability of the most probable class"
    place = np.minimum((predicted * N_BINS).astype(np.int64), N_BINS - 1)
    bins = []
    for k in range(N_BINS):
        here = place == k
        if here.any():
            n, share = int(here.sum()), float(happened[here].mean())
            low, high = _wilson(share, n)
            own = {"predicted": float(predicted[here].mean()), "observed": share}
            bins.append({**own, "low": low, "high": high, "rows": n})
    gap = sum(b["rows"] * abs(b["predicted"] - b["observed"]) for b in bins) / max(1, judged.n_rows)
    return plain_dict({"of": of, "bins": bins, "expected_calibration_error": gap})


def _wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Score interval of a fraction, 95 %."""
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, float(center - half)), min(1.0, float(center + half))
