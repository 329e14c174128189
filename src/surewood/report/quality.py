"""How well a model predicts some rows: scores, confusion, calibration, and the rows it finds hardest.

All values are ESTIMATES; on training rows they are biased, with a note on the page.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, log_loss

from surewood.estimators.describing import take_rows
from surewood.report.plain import plain_dict, short
from surewood.report.table_facts import column_names

__all__ = ["Predictions", "calibration", "confusion", "hardest_rows", "predictions", "scores"]

MAX_CLASSES = 20  # of a confusion matrix; the rarest become one
N_BINS = 10
N_HARDEST = 12
N_VALUES = 6


class Predictions:
    """Labels as text, predictions and probabilities of the rows that are judged."""

    def __init__(self, model: Any, X: Any, y: Any, proba: NDArray[np.float64] | None = None) -> None:
        self.X = X
        self.classes = np.asarray(getattr(model, "classes_", np.unique(np.asarray(y))))
        self.y = np.asarray(y).ravel()
        self.proba = proba
        if proba is not None:
            self.predicted = self.classes[proba.argmax(axis=1)]
        else:
            self.predicted = np.asarray(model.predict(X)).ravel()
            if callable(getattr(model, "predict_proba", None)):
                self.proba = np.asarray(model.predict_proba(X), dtype=np.float64)
        place = {label: i for i, label in enumerate(self.classes.tolist())}
        self.codes = np.array([place.get(label, -1) for label in self.y.tolist()], dtype=np.int64)
        self.guesses = np.array([place.get(label, -1) for label in self.predicted.tolist()], dtype=np.int64)

    @property
    def right(self) -> NDArray[np.bool_]:
        return np.equal(self.codes, self.guesses)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def known(self) -> Rows:
        """The rows whose label the model was trained on."""
        at = np.flatnonzero(self.codes >= 0)
        if len(at) == self.n_rows:
            return Rows(self.X, self.y, self.codes)
        return Rows(take_rows(self.X, at), self.y[at], self.codes[at])


class Rows(NamedTuple):
    """Table, labels and class codes."""

    X: Any
    y: NDArray[Any]
    codes: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        return len(self.y)


def predictions(model: Any, X: Any, y: Any, proba: NDArray[np.float64] | None = None) -> Predictions:
    """Predict once, or use probabilities that are known already."""
    return Predictions(model, X, y, proba)


def scores(judged: Predictions, sample: str) -> dict[str, Any]:
    """Error, balanced accuracy, log-loss, Brier score, and the error of the majority-class baseline."""
    counts = np.unique(judged.y, return_counts=True)[1]
    values: dict[str, Any] = {
        "sample": sample,
        "n": judged.n_rows,
        "error": float(1.0 - judged.right.mean()),
        "majority_error": float(1.0 - counts.max() / counts.sum()),
        "balanced_accuracy": None,
        "log_loss": None,
        "brier": None,
    }
    known = judged.codes >= 0
    if len(counts) > 1 and known.all():
        values["balanced_accuracy"] = float(balanced_accuracy_score(judged.codes, judged.guesses))
    if judged.proba is not None and known.any() and len(judged.classes) > 1:
        proba, codes = judged.proba[known], judged.codes[known]
        values["log_loss"] = float(log_loss(codes, proba, labels=np.arange(len(judged.classes))))
        truth = np.zeros_like(proba)
        truth[np.arange(len(codes)), codes] = 1.0
        values["brier"] = float(((proba - truth) ** 2).sum(axis=1).mean())
    return plain_dict(values)


def confusion(judged: Predictions) -> dict[str, Any]:
    """Counts of (true, predicted); beyond 20 classes the rarest share one row and column."""
    n = len(judged.classes)
    names = [short(label, 28) for label in judged.classes.tolist()]
    codes, guesses = judged.codes.copy(), judged.guesses.copy()
    if n > MAX_CLASSES:
        kept = np.sort(
            np.argsort(-np.bincount(codes[codes >= 0], minlength=n), kind="stable")[: MAX_CLASSES - 1]
        )
        place = np.full(n + 1, len(kept))
        place[kept] = np.arange(len(kept))
        codes, guesses = place[codes], place[guesses]  # -1, a label not seen in training, is the last place
        names = [*(names[k] for k in kept), f"{n - len(kept)} other classes"]
    elif (codes < 0).any():
        names = [*names, "not seen in training"]
        codes = np.where(codes < 0, n, codes)
    matrix = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(matrix, (codes, guesses), 1)
    return {"labels": names, "matrix": matrix.tolist()}


def calibration(judged: Predictions) -> dict[str, Any] | None:
    """Predicted and observed probability in bins: of class 2 of two, else of the predicted class."""
    if judged.proba is None or len(judged.classes) < 2:
        return None
    if len(judged.classes) == 2:
        predicted, happened = judged.proba[:, 1], judged.codes == 1
        of = f"probability of {short(judged.classes[1], 28)}"
    else:
        predicted, happened = judged.proba.max(axis=1), judged.right
        of = "probability of the predicted class"
    place = np.minimum((predicted * N_BINS).astype(np.int64), N_BINS - 1)
    bins = []
    for k in range(N_BINS):
        here = place == k
        if here.any():
            n, share = int(here.sum()), float(happened[here].mean())
            low, high = _wilson(share, n)
            bins.append(
                {
                    "predicted": float(predicted[here].mean()),
                    "observed": share,
                    "low": low,
                    "high": high,
                    "rows": n,
                }
            )
    gap = sum(b["rows"] * abs(b["predicted"] - b["observed"]) for b in bins) / max(1, judged.n_rows)
    return plain_dict({"of": of, "bins": bins, "expected_calibration_error": gap})


def _wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Score interval of a fraction, 95 %."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def hardest_rows(model: Any, judged: Predictions) -> dict[str, Any] | None:
    """The rows whose true class got the smallest probability, with their most important values."""
    if judged.proba is None:
        return None
    known = np.flatnonzero(judged.codes >= 0)
    own = judged.proba[known, judged.codes[known]]
    chosen = known[np.argsort(own, kind="stable")[:N_HARDEST]]
    names = column_names(model, judged.X)
    weight = np.asarray(getattr(model, "feature_importances_", np.zeros(len(names))))
    weight = weight if len(weight) == len(names) else np.zeros(len(names))
    columns = np.sort(np.argsort(-weight, kind="stable")[:N_VALUES])
    labels = judged.X.index if isinstance(judged.X, pd.DataFrame) else None
    rows = []
    for i in chosen:
        rows.append(
            {
                "row": short(i if labels is None else labels[i], 20),
                "truth": str(judged.y[i]),
                "predicted": str(judged.predicted[i]),
                "probability_of_truth": judged.proba[i, judged.codes[i]],
                "probability_of_prediction": judged.proba[i, judged.guesses[i]],
                "values": [_cell(judged.X, int(i), int(j)) for j in columns],
            }
        )
    return plain_dict({"columns": [names[j] for j in columns], "rows": rows})


def _cell(X: Any, i: int, j: int) -> str:
    if hasattr(X, "iloc"):
        value = X.iloc[i, j]
    elif hasattr(X, "tocsr"):
        value = X.tocsr()[i, j]
    else:
        value = X[i, j] if hasattr(X, "shape") else X[i][j]
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return short(value, 30)
