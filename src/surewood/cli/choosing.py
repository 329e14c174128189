"""``--model auto``: the family by out-of-fold scores on the training rows.

Rule: the family with the smallest out-of-fold error is the leader. Families whose error is larger by less
than one standard error of the paired difference count as equal to it; among these the smallest log-loss
wins. The holdout takes no part, and the certificate is corrected for the families compared.
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
from sklearn.model_selection import StratifiedKFold

from surewood.cli.families import Family, RunSettings
from surewood.parallel.progress import stage

FOLDS = 3
MOST_ROWS = 2000  # rows that the comparison looks at: a few seconds a family


@dataclass(frozen=True)
class Score:
    """Out-of-fold scores of a family; `gap` is its error minus the leader's, `noise` its standard error."""

    family: Family
    error: float
    log_loss: float
    seconds: float
    gap: float = 0.0
    noise: float = 0.0

    @property
    def is_equal(self) -> bool:
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
        equal = [score.family.name for score in self.scores if score.is_equal]
        if len(equal) == 1:
            return f"{chosen.family.name} has the smallest out-of-fold error, by more than a standard error"
        among = f"{', '.join(equal[:-1])} and {equal[-1]}"
        if chosen is leader:
            return f"{among} err equally often within noise; {chosen.family.name} has the smallest log-loss"
        return f"{among} err equally often within noise; {chosen.family.name} has the smaller log-loss"

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


def choose_family(families: list[Family], settings: RunSettings, X: pd.DataFrame, y: pd.Series) -> Choice:
    """Cross-validate each family on the same folds and apply the rule."""
    rows = comparison_rows(y, MOST_ROWS, settings.seed)
    X, y = X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True)
    n_folds = min(FOLDS, int(y.value_counts().min()))
    splits = list(StratifiedKFold(max(n_folds, 2), shuffle=True, random_state=settings.seed).split(X, y))
    answers, classes = [], np.unique(y)
    with stage(settings.verbose, "choosing the family", len(families) * len(splits)) as advance:
        for family in families:
            started = time.perf_counter()
            proba = np.zeros((len(y), len(classes)))
            for train, held in splits:
                model = settings.estimator(family, len(train), len(classes), strict=False)
                model.fit(X.iloc[train], y.iloc[train])
                columns = np.searchsorted(classes, model.classes_)
                proba[np.ix_(held, columns)] = model.predict_proba(X.iloc[held])
                advance(1)
            answers.append((family, proba, time.perf_counter() - started))
    return _apply_rule(answers, classes, y, len(splits))


def comparison_rows(y: pd.Series, most: int, seed: int) -> NDArray[np.int64]:
    """All rows, or a stratified sample of them with at least two of every class."""
    n = len(y)
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    codes = pd.factorize(y)[0]
    taken = []
    for code in range(codes.max() + 1):
        own = rng.permutation(np.flatnonzero(codes == code))
        taken.append(own[: max(2, round(most * len(own) / n))])
    return np.sort(np.concatenate(taken))


def _apply_rule(
    answers: list[tuple[Family, NDArray[Any], float]], classes: NDArray[Any], y: pd.Series, n_folds: int
) -> Choice:
    truth = y.to_numpy()
    wrong = [classes[proba.argmax(axis=1)] != truth for _, proba, _ in answers]
    leader = int(np.argmin([own.mean() for own in wrong]))
    scores = []
    for (family, proba, seconds), own in zip(answers, wrong):
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
    chosen = min((score for score in scores if score.is_equal), key=lambda score: score.log_loss)
    return Choice(chosen.family, tuple(scores), len(truth), n_folds)
