"""Plain trees beside the composite ones, and their weight in the vote.

They have no depth limit, see a bootstrap sample and keep class frequencies at the leaves. Their weight is
chosen on votes of the fitted trees (theory.md §12.3). The error of held-out votes is what a user sees, but it
is noisy: it decides only up to its standard error. Among the weights that it cannot tell from the best one,
the smallest log-loss of the calibrated votes decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base.calibration import ScoreCalibrator
from surewood.composite.data import CompositeData, SolverOptions
from surewood.composite.trees import blend
from surewood.parallel.progress import stage
from surewood.trees.growing import Grown, TreeParams, grow_forest, out_of_bag

WEIGHTS = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9)  # that the plain trees may get
_LOSS_ROWS = 3000  # on which log-losses are compared: they are smooth


def grow_plain(
    data: CompositeData,
    max_features: int,
    n_trees: int,
    seed: int,
    options: SolverOptions,
    rows: NDArray[Any] | None = None,
) -> Grown:
    """Plain trees on all rows, or on some."""
    params = TreeParams(criterion="gini", max_features=max_features, sampling="bootstrap")
    return grow_forest(
        data.matrix, data.y, data.n_classes, params, n_trees=n_trees, seed=seed,
        weight=data.weight, rows=rows, groups=data.inputs.groups, n_jobs=options.n_jobs,
        verbose=options.verbose,
    )  # fmt: skip


def plain_out_of_bag(grown: Grown, data: CompositeData, options: SolverOptions) -> Floats:
    """Mean class vectors of the plain trees that did not see a row; NaN where all did."""
    with stage(options.verbose, "out-of-bag votes of plain trees", len(grown.bag.rows)) as advance:
        sums, votes = out_of_bag(grown.forest, grown.bag, data.matrix, options.n_jobs, advance=advance)
    mean = np.full((data.n_rows, data.n_classes), np.nan)
    judged = votes > 0
    mean[grown.bag.rows[judged]] = sums[judged] / votes[judged, None]
    return mean


def choose_plain_weight(
    composite: Floats, plain: Floats, y: NDArray[np.int32], sample_weight: Floats | None = None
) -> float:
    """The weight of the plain trees.

    Parameters
    ----------
    composite, plain : ndarray of shape (n_rows, n_classes)
        Votes of both kinds of trees; rows with NaN in either do not count.
    y : ndarray of int32
        Class codes.
    sample_weight : ndarray, optional

    Examples
    --------
    >>> y = np.arange(200, dtype=np.int32) % 2
    >>> right, even = np.eye(2)[y], np.full((200, 2), 0.5)
    >>> choose_plain_weight(right, even, y), choose_plain_weight(1 - right, right, y)
    (0.0, 0.9)
    """
    judged = np.flatnonzero(~np.isnan(composite).any(axis=1) & ~np.isnan(plain).any(axis=1))
    if not len(judged):
        return 0.5
    composite, plain, y = composite[judged], plain[judged], y[judged]
    weight = np.ones(len(y)) if sample_weight is None else sample_weight[judged]
    mass = weight / weight.sum()
    wrong = np.array([blend(composite, plain, w).argmax(axis=1) != y for w in WEIGHTS], dtype=np.float64)
    errors = wrong @ weight  # counts are summed exactly: equal numbers of errors tie on every processor
    difference = wrong - wrong[errors.argmin()]
    excess = difference @ mass
    standard_error = np.sqrt((np.square(difference - excess[:, None]) * np.square(mass)).sum(axis=1))
    alike = np.flatnonzero(excess <= standard_error)
    if len(alike) == 1:
        return WEIGHTS[int(alike[0])]
    some = np.linspace(0, len(y) - 1, min(len(y), _LOSS_ROWS)).astype(np.int64)
    votes = [blend(composite[some], plain[some], WEIGHTS[k]) for k in alike]
    losses = [_calibrated_log_loss(v, y[some], mass[some]) for v in votes]
    return WEIGHTS[int(alike[int(np.argmin(losses))])]


def _calibrated_log_loss(votes: Floats, y: NDArray[np.int32], mass: Floats) -> float:
    """Log-loss after one temperature for all classes."""
    weight = mass / mass.mean()  # the calibration's own penalty is worth one row
    proba = ScoreCalibrator("temperature").fit(votes, y, weight).transform(votes)
    return float(-(mass @ np.log(proba[np.arange(len(y)), y])))
