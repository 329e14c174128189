"""Several classifiers on the same folds: errors, log-losses, times, and tests against the best peer.

The best peer is the one of smallest mean error. Each of our families is tested against it by the paired
t-test over folds, two-sided, with the variance corrected for overlapping training parts (Nadeau and Bengio),
p-values adjusted for the number of families by Holm's rule. The best peer was picked on the same folds, which
favours the peers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedStratifiedKFold

from surewood.bounds import corrected_paired_t_test
from surewood.parallel.progress import stage

LEVEL = 0.05
Split = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass
class Entrant:
    """A classifier in the comparison; `make` takes the number of training rows and of classes."""

    name: str
    title: str
    ours: bool
    make: Callable[[int, int], Any]
    errors: list[float] = field(default_factory=list)
    log_losses: list[float] = field(default_factory=list)
    fit_seconds: list[float] = field(default_factory=list)
    predict_seconds: list[float] = field(default_factory=list)
    p_value: float | None = None
    difference: float | None = None

    @property
    def error(self) -> float:
        return float(np.mean(self.errors))

    @property
    def verdict(self) -> str:
        """What the test says about ours beside the best peer."""
        if self.p_value is None or self.difference is None:
            return ""
        if self.p_value >= LEVEL:
            return "no difference shown"
        return "better" if self.difference < 0 else "worse"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "ours": self.ours,
            "error": self.error,
            "error_deviation": float(np.std(self.errors, ddof=1)),
            "log_loss": float(np.mean(self.log_losses)),
            "fit_seconds": float(np.mean(self.fit_seconds)),
            "predict_seconds_per_1000_rows": float(np.mean(self.predict_seconds)),
            "errors": self.errors,
            "log_losses": self.log_losses,
            "difference_to_best_peer": self.difference,
            "p_value": self.p_value,
            "verdict": self.verdict,
        }


def make_splits(y: pd.Series, n_folds: int, n_repeats: int, seed: int) -> list[Split]:
    """Stratified folds, the same for all."""
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


def run_comparison(
    entrants: Sequence[Entrant], X: pd.DataFrame, y: pd.Series, splits: Sequence[Split], verbose: int
) -> None:
    """Fit every entrant on every split; fold by fold, so that all meet the same state of the machine."""
    classes = np.unique(y)
    with stage(verbose, "comparing", len(entrants) * len(splits)) as advance:
        for train, held in splits:
            for entrant in entrants:
                _run_one(entrant, X, y, classes, train, held)
                advance(1)


def _run_one(
    entrant: Entrant,
    X: pd.DataFrame,
    y: pd.Series,
    classes: NDArray[Any],
    train: NDArray[np.int64],
    held: NDArray[np.int64],
) -> None:
    model = entrant.make(len(train), len(classes))
    started = time.perf_counter()
    model.fit(X.iloc[train], y.iloc[train])
    fitted = time.perf_counter()
    found = model.predict_proba(X.iloc[held])
    answered = time.perf_counter()
    proba = np.zeros((len(held), len(classes)))
    proba[:, np.searchsorted(classes, model.classes_)] = found
    truth = y.iloc[held].to_numpy()
    entrant.errors.append(float(np.mean(classes[proba.argmax(axis=1)] != truth)))
    entrant.log_losses.append(float(log_loss(truth, proba, labels=classes)))
    entrant.fit_seconds.append(fitted - started)
    entrant.predict_seconds.append((answered - fitted) * 1000 / len(held))


def judge_against_best_peer(entrants: Sequence[Entrant], splits: Sequence[Split]) -> Entrant:
    """Give each of ours its adjusted p-value; returns the best peer."""
    best = min((entrant for entrant in entrants if not entrant.ours), key=lambda entrant: entrant.error)
    n_train = round(float(np.mean([len(train) for train, _ in splits])))
    n_test = round(float(np.mean([len(held) for _, held in splits])))
    ours = [entrant for entrant in entrants if entrant.ours]
    for entrant in ours:
        one_sided = corrected_paired_t_test(entrant.errors, best.errors, n_train=n_train, n_test=n_test)
        entrant.difference = entrant.error - best.error
        entrant.p_value = 2 * min(one_sided.p_value, 1 - one_sided.p_value)
    for entrant, adjusted in zip(ours, holm([entrant.p_value or 0.0 for entrant in ours])):
        entrant.p_value = adjusted
    return best


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's rule.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, k in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[k]))
        adjusted[k] = largest
    return adjusted
