"""``model="auto"``: choice of the family by out-of-fold scores on a sample of the training rows.

Rule: the family with the smallest out-of-fold error is the leader. Families whose error exceeds it
by at most one standard error of the paired difference are tied with it; among the tied ones the smallest
log-loss wins. The holdout is not used; guarantees from the training sample are corrected for the number of
families compared, those from the holdout need no correction.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from surewood.parallel.progress import stage
from surewood.workflow.families import Family, FitSettings
from surewood.workflow.holdout import stratified_rows
from surewood.workflow.splits import make_splits

FOLDS = 3
MAX_ROWS = 2000  # rows of the comparison: a few seconds per family


@dataclass(frozen=True)
class Score:
    """Out-of-fold scores of a family; `gap`: error minus the leader's, `noise`: standard error of the gap."""

    family: Family
    error: float
    log_loss: float
    seconds: float
    gap: float = 0.0
    noise: float = 0.0

    @property
    def is_tied(self) -> bool:
        return self.gap <= self.noise


@dataclass(frozen=True)
class Choice:
    """The chosen family and the scores it was chosen by."""

    family: Family
    scores: tuple[Score, ...]
    n_rows: int
    n_folds: int

    @property
    def why(self) -> str:
        """The rule as it worked here, in one sentence."""
        leader = min(self.scores, key=lambda score: score.error)
        chosen = next(score for score in self.scores if score.family is self.family)
        tied = [score.family.name for score in self.scores if score.is_tied]
        if len(tied) == 1:
            return f"{chosen.family.name} has the smallest out-of-fold error, by more than one standard error"
        among = f"{', '.join(tied[:-1])} and {tied[-1]}"
        if chosen is leader:
            return (
                f"{among} are tied within one standard error; {chosen.family.name} has the smallest log-loss"
            )
        return f"{among} are tied within one standard error; {chosen.family.name} has the smaller log-loss"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "chosen": self.family.name,
            "why": self.why,
            "rows": self.n_rows,
            "folds": self.n_folds,
            "scores": [
                {
                    "family": score.family.name,
                    "error": score.error,
                    "log_loss": score.log_loss,
                    "seconds": score.seconds,
                    "gap": score.gap,
                    "standard_error_of_gap": score.noise,
                }
                for score in self.scores
            ],
        }


def choose_family(
    families: list[Family],
    settings: FitSettings,
    X: pd.DataFrame,
    y: pd.Series,
    weight: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
) -> Choice:
    """Cross-validate each family on the same folds and choose one.

    Parameters
    ----------
    families : list of Family
    settings : FitSettings
    X, y : frame and series
        Training rows, prepared for the estimators; at most 2,000 of them are used.
    weight : ndarray, optional
        Weights of the rows in training; errors count rows.
    groups : ndarray, optional
        Group of each row; groups stay whole in the folds.

    Returns
    -------
    Choice
    """
    rows = stratified_rows(y, MAX_ROWS, settings.random_state)
    X, y = X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True)
    n_folds = max(2, min(FOLDS, int(y.value_counts().min())))
    splits = make_splits(y, n_folds, 1, settings.random_state, None if groups is None else groups[rows])
    results, classes = [], np.unique(y)
    with stage(settings.verbose, "choosing the family", len(families) * len(splits)) as advance:
        for family in families:
            started = time.perf_counter()
            proba = np.zeros((len(y), len(classes)))
            for train, held in splits:
                model = settings.estimator(family, len(train), len(classes), strict=False)
                weighted = {} if weight is None else {"sample_weight": weight[rows][train]}
                model.fit(X.iloc[train], y.iloc[train], **weighted)
                columns = np.searchsorted(classes, model.classes_)
                proba[np.ix_(held, columns)] = model.predict_proba(X.iloc[held])
                advance(1)
            results.append((family, proba, time.perf_counter() - started))
    return _apply_rule(results, classes, y, len(splits))


def _apply_rule(
    results: list[tuple[Family, NDArray[Any], float]], classes: NDArray[Any], y: pd.Series, n_folds: int
) -> Choice:
    truth = y.to_numpy()
    wrong = [classes[proba.argmax(axis=1)] != truth for _, proba, _ in results]
    leader = int(np.argmin([own.mean() for own in wrong]))
    scores = []
    for (family, proba, seconds), own in zip(results, wrong):
        difference = own.astype(float) - wrong[leader]
        scores.append(
            Score(
                family,
                float(own.mean()),
                float(log_loss(truth, proba, labels=classes)),
                seconds,
                float(difference.mean()),
                float(difference.std(ddof=1)) / math.sqrt(len(truth)),
            )
        )
    chosen = min((score for score in scores if score.is_tied), key=lambda score: score.log_loss)
    return Choice(chosen.family, tuple(scores), len(truth), n_folds)
