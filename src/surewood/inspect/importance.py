"""How much each column matters: the rise of a loss when a column is shuffled, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from surewood._arrays import Counts, Floats
from surewood.base.base import class_codes
from surewood.base.contributions import Groups, OpenedRows, group_positions
from surewood.base.folds import draw_seed
from surewood.inspect.explaining import open_rows, unwrap

_ROWS_AT_ONCE = 50_000
_CELLS_AT_ONCE = 50_000_000
_LEAST_PROBABILITY = 1e-15


def _log_loss(p: Floats, codes: Counts) -> Floats:
    return np.asarray(-np.log(np.maximum(p[np.arange(len(p)), codes], _LEAST_PROBABILITY)))


def _brier(p: Floats, codes: Counts) -> Floats:
    return np.asarray(((p - np.eye(p.shape[1])[codes]) ** 2).sum(axis=1))


def _error(p: Floats, codes: Counts) -> Floats:
    return np.asarray(p.argmax(axis=1) != codes, dtype=np.float64)


#: Loss of each row by the name of the metric.
METRICS: dict[str, Callable[[Floats, Counts], Floats]] = {
    "log_loss": _log_loss,
    "brier": _brier,
    "error": _error,
}


@dataclass(frozen=True)
class Importances:
    """How much worse a model predicts when a column is shuffled (ESTIMATE).

    Attributes
    ----------
    columns : list of str
    mean : ndarray, shape (n_columns,)
        Mean increase of the metric.
    low, high : ndarray, shape (n_columns,)
        Ends of confidence intervals, each at level `confidence`, over the draw of the rows.
    metric : str
    baseline : float
        The metric with no column shuffled.
    confidence : float
        Level of each interval.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BinnedForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> found = permutation_importances(model, X[1::2], y[1::2])
    >>> found.frame()["column"].iloc[0] in ("petal length (cm)", "petal width (cm)")
    True
    """

    columns: list[str]
    mean: Floats
    low: Floats
    high: Floats
    metric: str
    baseline: float
    confidence: float

    def frame(self) -> pd.DataFrame:
        """One row per column, the most important first."""
        table = pd.DataFrame(
            {"column": self.columns, "importance": self.mean, "low": self.low, "high": self.high}
        )
        return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        shown = self.frame().to_string(index=False, max_rows=20, float_format=lambda value: f"{value:.4f}")
        return (
            f"Increase of {self.metric}, {self.baseline:.4f} as it is, when a column is shuffled, with "
            f"{100 * self.confidence:g} % intervals\n{shown}"
        )


def permutation_importances(
    model: Any,
    X: Any,
    y: Any,
    n_repeats: int = 5,
    metric: str = "log_loss",
    *,
    groups: Groups = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Importances:
    """How much worse a model predicts rows when one column is shuffled, with intervals (ESTIMATE).

    Parameters
    ----------
    model : fitted classifier
        One of ours, a saved model, or any other with ``predict_proba``.
    X, y : table and labels
        Rows that were held out from the fit: on training rows, columns that the model only overfits look
        important, too.
    n_repeats : int, default=5
        Shuffles per column.
    metric : {"log_loss", "brier", "error"}, default="log_loss"
    groups : dict of str to list of str, optional
        Columns that are shuffled together, by the name of the group.
    confidence : float, default=0.95
        Level of each interval.
    random_state : int, RandomState or None, default=0
        Seed of the shuffles.

    Returns
    -------
    Importances
        A mean and an interval per column or group.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    >>> permutation_importances(model, X[1::2], y[1::2]).mean.argmax() in (2, 3)
    True
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}.")
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be >= 1, got {n_repeats}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}.")
    unwrapped = unwrap(model, X, groups=groups)
    opened = open_rows(unwrapped)
    codes = class_codes(opened.classes, y)
    if len(codes) != opened.n_rows:
        raise ValueError(f"X has {opened.n_rows} rows and y has {len(codes)} labels.")
    names, positions = group_positions(opened.pool.columns, unwrapped.groups)
    before, after = _losses(opened, positions, codes, METRICS[metric], n_repeats, draw_seed(random_state))
    rise, n = after.mean(axis=1) - before, opened.n_rows
    mean, half = rise.mean(axis=1), np.zeros(len(names))
    if n > 1:
        half = stats.t.ppf((1 + confidence) / 2, n - 1) * rise.std(axis=1, ddof=1) / np.sqrt(n)
    return Importances(names, mean, mean - half, mean + half, metric, float(before.mean()), confidence)


def _losses(
    opened: OpenedRows,
    positions: list[list[int]],
    codes: Counts,
    loss: Callable[[Floats, Counts], Floats],
    n_repeats: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Loss of each row as it is, and by group and repeat; cells that shuffling leaves equal cost nothing."""
    n, rng, cells = opened.n_rows, np.random.default_rng(seed), opened.pool.codes()
    same = np.tile(np.arange(n)[:, None], (1, cells.shape[1]))
    before = loss(opened.predict_mixed(same), codes)
    after = np.tile(before, (len(positions), n_repeats, 1))
    jobs = [(g, r, rng.permutation(n)) for g in range(len(positions)) for r in range(n_repeats)]
    at_once = max(1, min(_ROWS_AT_ONCE, _CELLS_AT_ONCE // max(cells.shape[1], 1)) // max(n, 1))
    for begin in range(0, len(jobs), at_once):
        part = jobs[begin : begin + at_once]
        rows = [
            np.flatnonzero((cells[order][:, positions[g]] != cells[:, positions[g]]).any(axis=1))
            for g, _, order in part
        ]
        start = np.cumsum([0, *map(len, rows)])
        at = same[np.concatenate(rows)]
        for k, (g, _, order) in enumerate(part):
            at[start[k] : start[k + 1], positions[g]] = order[rows[k]][:, None]
        if len(at):
            p = opened.predict_mixed(at)
            for k, (g, r, _) in enumerate(part):
                after[g, r, rows[k]] = loss(p[start[k] : start[k + 1]], codes[rows[k]])
    return before, after
