"""Weights and calibration of a mixture, from the held-out probabilities of its members (theory.md §12.3).

The mixture that minimizes held-out log-loss is a convex problem with a unique optimum. Few rows do not tell
members apart, and a member that is never wrong on them is not always right. So every member has one more row,
which it alone predicts (the rule of succession, [D-45]).

The members are calibrated already, on the same rows, and so were the weights chosen. The calibration of the
mixture is fitted to what is left, so it must show a cross-validated gain in log-loss beyond its standard
errors.

Held-out rows without an error say that sharper probabilities are better, and nothing of what they will cost.
So one more row counts, of a class that was not predicted ([D-46]).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Codes, Floats, Ints
from surewood.base.calibration import FOLDS, STEPS, ScoreCalibrator
from surewood.parallel.progress import stage

SMALLEST_WEIGHT = 0.1  # members below are dropped: they would cost time at every prediction
_FLOOR = 1e-15  # probabilities are not taken to be smaller than this
_STEPS = 2000
_TOLERANCE = 1e-10


def mixture_weights(
    probabilities: ArrayLike, y: Codes, sample_weight: Floats | None = None, groups: Ints | None = None
) -> Floats:
    """Weights of the members of a mixture.

    Parameters
    ----------
    probabilities : array of shape (n_members, n_rows, n_classes)
        Probabilities of rows that the member did not train on.
    y : ndarray of int, shape (n_rows,)
        Class codes.
    sample_weight : ndarray of shape (n_rows,), optional
    groups : ndarray of int, shape (n_rows,), optional
        Group of each row. The row that each member has then counts as a mean group.

    Returns
    -------
    ndarray of shape (n_members,)
        Not negative, summing to 1; 0 for a dropped member.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> good = np.where(y == 1, 0.8, 0.2)
    >>> members = [np.column_stack([1 - p, p]) for p in (good, np.full(500, 0.5))]
    >>> mixture_weights(members, y).round(2)
    array([1., 0.])
    """
    scores = np.asarray(probabilities, dtype=np.float64)
    of_truth = np.maximum(scores[:, np.arange(len(y)), y].T, _FLOOR)
    mass = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    of_truth, mass = with_a_row_each(of_truth, mass, groups)
    weights = optimal_mixture(of_truth, mass / mass.sum())
    kept = np.where(weights < SMALLEST_WEIGHT, 0.0, weights)
    return np.asarray(kept / kept.sum())


def with_a_row_each(of_truth: Floats, weight: Floats, groups: Ints | None = None) -> tuple[Floats, Floats]:
    """The rows and, for each member, one more that it alone predicts.

    It counts as one row, whatever the unit of the weights, or as a mean group.

    Examples
    --------
    >>> truth, weight = with_a_row_each(np.full((9, 2), 0.8), np.ones(9))
    >>> truth[9:].tolist(), weight[9:].tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0])
    """
    n_members, total = of_truth.shape[1], float(weight.sum())
    # Weights may be counts, or shares that sum to 1.
    n_rows = max(total, float(len(weight))) if groups is None else len(np.unique(groups))
    return np.vstack([of_truth, np.eye(n_members)]), np.append(weight, np.full(n_members, total / n_rows))


def _by_group(values: Floats, groups: Ints | None) -> Floats:
    """Sums over the rows of each group; rows beyond `groups` are groups of their own.

    Examples
    --------
    >>> _by_group(np.array([1.0, 2.0, 4.0, 8.0]), np.array([5, 3, 5])).tolist()
    [2.0, 5.0, 8.0]
    """
    if groups is None:
        return values
    number = np.unique(groups, return_inverse=True)[1]
    number = np.append(number, number.max(initial=-1) + 1 + np.arange(len(values) - len(groups)))
    sums = np.zeros((int(number.max()) + 1, *values.shape[1:]))
    np.add.at(sums, number, values)
    return sums


def optimal_mixture(of_truth: Floats, mass: Floats) -> Floats:
    """Weights on the simplex that maximize the mean log of the mixture, by multiplicative steps.

    Each step keeps the weights on the simplex and never lowers the mean (it is one of the EM algorithm); the
    step ends where no member's slope exceeds 1, which is the optimum's own condition.
    """
    weights = np.full(of_truth.shape[1], 1.0 / of_truth.shape[1])
    for _ in range(_STEPS):
        slope = (mass / (of_truth @ weights)) @ of_truth
        weights = weights * slope
        weights /= weights.sum()
        if slope.max() <= 1.0 + _TOLERANCE:
            break
    return weights


STANDARD_ERRORS = 2.0  # by which a calibration must be better than none
_ENOUGH_FOR_ISOTONIC = 1000
_MOST_ROWS = 3000  # on which calibrations are compared
_MOST_SCORES = 200_000  # rows times classes, the same
_SMALLEST = 1e-12


def calibrate_mixture(
    method: str | None,
    mixed: Floats,
    y: Codes,
    weight: Floats,
    verbose: int,
    groups: Ints | None = None,
) -> ScoreCalibrator | None:
    """A calibrator fitted on held-out probabilities; None where `method` is None or none is worth it.

    `method` "auto" compares; any other is fitted whatever it gains.
    """
    if method is None:
        return None
    with stage(verbose, "calibrating", 1) as advance:
        step = best_step(mixed, y, weight, groups) if method == "auto" else method
        calibrator = None if step is None else ScoreCalibrator(step).fit(mixed, y, weight)
        advance(1)
        return calibrator


def best_step(mixed: Floats, y: Codes, weight: Floats, groups: Ints | None = None) -> str | None:
    """The calibration with the smallest cross-validated log-loss where it is clearly better than none.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.01, 0.99, 800)
    >>> y = (rng.random(800) < p).astype(np.int32)
    >>> right = np.column_stack([1 - p, p])
    >>> print(best_step(right, y, np.ones(800)))
    None
    >>> timid = 0.5 + 0.2 * (right - 0.5)
    >>> print(best_step(timid, y, np.ones(800)) is not None)
    True
    """
    most = min(_MOST_ROWS, max(1, _MOST_SCORES // mixed.shape[1]))
    some = np.linspace(0, len(y) - 1, min(len(y), most)).astype(np.int64)
    mixed, y, weight = mixed[some], y[some], weight[some]
    groups = None if groups is None else groups[some]
    steps = STEPS if len(y) >= _ENOUGH_FOR_ISOTONIC else STEPS[:-1]
    failed = _most_probable_other(mixed, y)
    none = _log_of(mixed, y), _log_of(mixed, failed)
    fold = (np.arange(len(y)) if groups is None else groups) % FOLDS
    found = _cross_validated(steps, mixed, y, weight, failed, fold)
    gains = {step: gain_with_failure(found[step] - none, weight, groups) for step in steps}
    best = max(steps, key=lambda step: gains[step][0])
    gain, error = gains[best]
    return best if gain > STANDARD_ERRORS * error else None


def gain_with_failure(gains: Floats, weight: Floats, groups: Ints | None = None) -> tuple[float, float]:
    """Mean gain in log-loss and its standard error, with one row more that is not of the expected class.

    `gains` has two rows: the gain for every held-out row as it is, and the gain if its class were another.
    The mean of the latter is the gain of the additional row, which counts as one row, whatever the unit of
    the weights.

    Examples
    --------
    >>> sharper = np.array([[0.05] * 99, [-2.0] * 99])
    >>> [round(number, 3) for number in gain_with_failure(sharper, np.ones(99))]
    [0.03, 0.02]
    """
    n_rows = max(float(weight.sum()), float(len(weight)))
    mass = np.append(weight / weight.sum() * n_rows, 1.0) / (n_rows + 1.0)
    every = np.append(gains[0], np.average(gains[1], weights=weight))
    gain = float(mass @ every)
    return gain, float(np.sqrt(np.square(_by_group(mass * (every - gain), groups)).sum()))


def _most_probable_other(mixed: Floats, y: Codes) -> Codes:
    """The most probable class of every row but its own."""
    others = mixed.copy()
    others[np.arange(len(y)), y] = -1.0
    return np.asarray(others.argmax(axis=1), dtype=y.dtype)


def _cross_validated(
    steps: tuple[str, ...], mixed: Floats, y: Codes, weight: Floats, failed: Codes, fold: Ints
) -> dict[str, Floats]:
    """Log of the probabilities of `y` and of `failed` after each step, calibrated without a row's fold."""
    out = {step: np.empty((2, len(y))) for step in steps}
    for k in range(FOLDS):
        train, held = fold != k, fold == k
        part = ScoreCalibrator(steps[-1])
        part._fit_steps(mixed[train], y[train], weight[train], steps[-1])
        for step in steps:
            after = part._after(mixed[held], step)
            out[step][:, held] = _log_of(after, y[held]), _log_of(after, failed[held])
    return out


def _log_of(probabilities: Floats, y: Codes) -> Floats:
    return np.asarray(np.log(np.maximum(probabilities[np.arange(len(y)), y], _SMALLEST)))
