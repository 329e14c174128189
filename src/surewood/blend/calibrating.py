"""The one calibration of a mixture: only where held-out rows show that it helps (theory.md §12.3).

The members are calibrated already, on the same rows, and so were the weights chosen. Another calibration is
fitted to what is left, so it must show a cross-validated gain in log-loss beyond its standard errors.

Held-out rows without an error say that sharper probabilities are better, and nothing of what they will cost.
So one more row counts, of a class that was not predicted ([D-46]).
"""

from __future__ import annotations

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.estimators.calibration import FOLDS, STEPS, ScoreCalibrator
from surewood.parallel.progress import stage

STANDARD_ERRORS = 2.0  # by which a calibration must be better than none
_ENOUGH_FOR_ISOTONIC = 1000
_MOST_ROWS = 3000  # on which calibrations are compared
_MOST_SCORES = 200_000  # rows times classes, the same
_SMALLEST = 1e-12


def calibrate_mixture(
    method: str | None, mixed: Floats, y: Codes, weight: Floats, n_jobs: int | None, verbose: int
) -> ScoreCalibrator | None:
    """A calibrator fitted on held-out probabilities; None where `method` is None or none is worth it.

    `method` "auto" compares; any other is fitted whatever it gains.
    """
    if method is None:
        return None
    with stage(verbose, "calibrating", 1) as advance:
        if method == "auto":
            found = best_step(mixed, y, weight)
            if found is None:
                advance(1)
                return None
            method = found
        return ScoreCalibrator(method).fit(mixed, y, weight, advance, n_jobs)


def best_step(mixed: Floats, y: Codes, weight: Floats) -> str | None:
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
    steps = STEPS if len(y) >= _ENOUGH_FOR_ISOTONIC else STEPS[:-1]
    failed = _most_probable_other(mixed, y)
    none = _log_of(mixed, y), _log_of(mixed, failed)
    found = _cross_validated(steps, mixed, y, weight, failed)
    gains = {step: gain_with_failure(found[step] - none, weight) for step in steps}
    best = max(steps, key=lambda step: gains[step][0])
    gain, error = gains[best]
    return best if gain > STANDARD_ERRORS * error else None


def gain_with_failure(gains: Floats, weight: Floats) -> tuple[float, float]:
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
    return gain, float(np.sqrt(np.square(mass * (every - gain)).sum()))


def _most_probable_other(mixed: Floats, y: Codes) -> Codes:
    """The most probable class of every row but its own."""
    others = mixed.copy()
    others[np.arange(len(y)), y] = -1.0
    return np.asarray(others.argmax(axis=1), dtype=y.dtype)


def _cross_validated(
    steps: tuple[str, ...], mixed: Floats, y: Codes, weight: Floats, failed: Codes
) -> dict[str, Floats]:
    """Log of the probabilities of `y` and of `failed` after each step, calibrated without a row's fold."""
    fold, out = np.arange(len(y)) % FOLDS, {step: np.empty((2, len(y))) for step in steps}
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
