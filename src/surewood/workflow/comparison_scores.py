"""Scores of compared classifiers, fold by fold, and the test of ours against the best of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surewood.bounds import corrected_paired_t_test
from surewood.workflow.splits import Split

LEVEL = 0.05
#: What a comparison may be decided by: short name, and name for readers.
METRICS = {"error": "error", "auc": "AUC", "log_loss": "log-loss"}


@dataclass(frozen=True)
class Scores:
    """Scores of a classifier, one value per fold."""

    name: str
    title: str
    ours: bool
    #: Per fold; `predict_seconds` are for 1,000 rows.
    errors: tuple[float, ...]
    log_losses: tuple[float, ...]
    fit_seconds: tuple[float, ...]
    predict_seconds: tuple[float, ...]
    #: Areas under the ROC curve, mean over classes; empty where not measured.
    aucs: tuple[float, ...] = ()
    #: Whether it is the majority-class baseline, which nothing is tested against.
    floor: bool = False
    #: Mean of the metric minus that of the best baseline; None for baselines.
    difference: float | None = None
    p_value: float | None = None

    @property
    def error(self) -> float:
        """Mean error over the folds."""
        return float(np.mean(self.errors))

    def losses(self, metric: str) -> tuple[float, ...]:
        """The metric per fold, as something to make small."""
        if metric == "auc":
            return tuple(1.0 - area for area in self.aucs)
        return self.errors if metric == "error" else self.log_losses

    @property
    def verdict(self) -> str:
        """Result of the test against the best baseline: better, worse, no difference shown, or nothing."""
        if self.p_value is None or self.difference is None:
            return ""
        if self.p_value >= LEVEL:
            return "no difference shown"
        return "better" if self.difference < 0 else "worse"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        who = {"name": self.name, "title": self.title, "ours": self.ours, "floor": self.floor}
        return {
            **who,
            "error": self.error,
            "error_deviation": float(np.std(self.errors, ddof=1)),
            "log_loss": float(np.mean(self.log_losses)),
            "auc": float(np.mean(self.aucs)) if self.aucs else None,
            "fit_seconds": float(np.mean(self.fit_seconds)),
            "predict_seconds_per_1000_rows": float(np.mean(self.predict_seconds)),
            "errors": list(self.errors),
            "log_losses": list(self.log_losses),
            "aucs": list(self.aucs),
            "fit_times": list(self.fit_seconds),
            "difference_to_best_baseline": self.difference,
            "p_value": self.p_value,
            "verdict": self.verdict,
        }


def judge_against_best_baseline(
    scores: Sequence[Scores], splits: Sequence[Split], metric: str = "error"
) -> tuple[list[Scores], str]:
    """The scores with adjusted p-values of ours, and the name of the best baseline."""
    mean = {one.name: float(np.mean(one.losses(metric))) for one in scores}
    best = min((one for one in scores if not one.ours and not one.floor), key=lambda one: mean[one.name])
    n_train = round(float(np.mean([len(train) for train, _ in splits])))
    n_test = round(float(np.mean([len(held) for _, held in splits])))
    p_values = {}
    for one in scores:
        if one.ours:
            one_sided = corrected_paired_t_test(
                one.losses(metric), best.losses(metric), n_train=n_train, n_test=n_test
            )
            p_values[one.name] = 2 * min(one_sided.p_value, 1 - one_sided.p_value)
    adjusted = dict(zip(p_values, holm(list(p_values.values()))))
    judged = [
        replace(one, difference=mean[one.name] - mean[best.name], p_value=adjusted[one.name])
        if one.ours
        else one
        for one in scores
    ]
    return judged, best.name


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's method.

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
