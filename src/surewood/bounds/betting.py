r"""Limits of the mean of a bounded quantity by betting (theory.md §11.3).

For a candidate mean :math:`u` the capital :math:`K_t(u)=\prod_{i\le t}(1+\lambda_i(u-Z_i))` with bets
:math:`\lambda_i\ge0` that depend on earlier values only is a non-negative supermartingale whenever
:math:`E Z\ge u`, so "E Z >= u" may be rejected as soon as it reaches :math:`1/\delta` (Ville). Any
predictable bets below :math:`1/(1-u)` are valid. Ours are recomputed from what is still to be won and the
rows that are left (STaR-Bets):

.. math:: \lambda_i=\min\Big\{\frac{x_i}{\sqrt{1+\frac43x_iT_{i-1}/S_{i-1}}},\ \frac{c}{1-u}\Big\},\qquad
          x_i=\sqrt{\frac{2\,(\log(1/\delta)-\log K_{i-1}(u))}{(n-i+1)\,S_{i-1}}},

with :math:`S` and :math:`T` the second moment of :math:`Z-u` and the positive part of its third. The root is
the bet that reaches the target at the smallest distance of :math:`u` from the mean if the logarithm is
expanded to the second order; the correction by :math:`T` is the third order, which matters for rare large
values.

The candidates are divided into cells fixed in advance. Within a cell the bets are those of the game against
its lower end, so the capital rises with :math:`u` and the limit is exact, not rounded to the grid: the true
mean, wherever it lies, is wrongly excluded only if the bets of its own cell win :math:`1/\delta` against it.

References: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting"; Voráček and
Orabona, "STaR-Bets: sequential target-recalculating bets for tighter confidence intervals".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats, Mask

from . import _arguments as check

_LARGEST_BET = 0.99  # c: a bet of everything would end the game at the first loss
_PRIOR_WEIGHT = 0.25  # times sqrt(n): rows that the moments of a two-valued variable count for
_ROUNDING = 1e-9  # added to the target, so that rounding of sums of logarithms can only widen the limit
_CELL_RATIO, _SMALLEST_CELL = 1.03, 1e-4
_MOST_BETS = 250  # bets change every n/250 rows where there are more rows than that
_CELLS_AT_ONCE, _VALUES_AT_ONCE = 64, 1 << 16


def betting_upper_limit(values: ArrayLike, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Upper limit of the mean of independent values in [0, 1] (§11.3).

    Parameters
    ----------
    values : array of shape (n,)
        In an order that does not depend on the values, such as the order in which they were drawn.
    delta, n_models : float and int
        As in :func:`clopper_pearson`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import betting_upper_limit
    >>> rng = np.random.default_rng(0)
    >>> round(betting_upper_limit(rng.beta(2, 18, size=500)), 3)
    0.106
    """
    z = check.unit(values, "values", ndim=1)
    n = check.count(z.size, "number of values", 1)
    target = math.log(check.count(n_models, "n_models", 1)) - math.log(check.confidence(delta)) + _ROUNDING
    cells = _cells()
    step = max(_CELLS_AT_ONCE, _VALUES_AT_ONCE // n)
    for stop in range(cells.size, 0, -step):
        chunk = cells[max(0, stop - step) : stop]
        kept = np.flatnonzero(~_play(z, chunk, target)[0])
        if kept.size:
            k = stop - chunk.size + int(kept[-1])
            end = float(cells[k + 1]) if k + 1 < cells.size else 1.0
            # the capital may peak before the last row: valid below the mean as well, but odd to read
            return max(_limit_within(z, float(cells[k]), end, target), float(z.mean()))
    raise AssertionError("the cell that begins at 0 cannot be rejected")


def betting_lower_limit(values: ArrayLike, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Lower limit of the mean of independent values in [0, 1], see :func:`betting_upper_limit` (§11.3).

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import betting_lower_limit
    >>> betting_lower_limit(np.ones(100)) > 0.95
    True
    """
    return 1.0 - betting_upper_limit(
        1.0 - check.unit(values, "values", ndim=1), delta=delta, n_models=n_models
    )


def auc_limit(scores: ArrayLike, is_positive: ArrayLike, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Lower limit of the area under the ROC curve: betting on disjoint blocks of rows (11.3c).

    Every row of the smaller class meets rows of the other class of its own; the fraction of them that are
    on the right side of it (ties count half) is a value in [0, 1] whose mean is the area.

    Parameters
    ----------
    scores : array of shape (n,)
        Higher for the positive class, in an order that does not depend on scores or labels.
    is_positive : bool array of shape (n,)
    delta, n_models : float and int
        As in :func:`clopper_pearson`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import auc_limit
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(1000) < 0.3
    >>> round(auc_limit(rng.normal(size=1000) + 2 * positive, positive), 3)
    0.917
    """
    s, positive = check.finite(scores, "scores", ndim=1), np.asarray(is_positive, dtype=bool)
    if s.shape != positive.shape:
        raise ValueError(f"scores and is_positive must have the same length, got {s.size}, {positive.size}")
    few, many = s[positive], s[~positive]
    if few.size > many.size:
        few, many = -many, -few  # the area is the same with the classes exchanged and the scores negated
    if few.size == 0:
        return 0.0
    block = np.arange(many.size) * few.size // many.size
    wins = (few[block] > many) + 0.5 * (few[block] == many)
    values = np.bincount(block, weights=wins) / np.bincount(block)
    return betting_lower_limit(values, delta=delta, n_models=n_models)


def calibration_limit(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    *,
    n_bins: int = 10,
    delta: float = 0.05,
    n_models: int = 1,
) -> float:
    """Upper limit of the expected calibration error by bins of equal width (11.3d).

    The error is the sum over the bins of ``|E (p - y) 1(p in bin)|``. In each bin it could have either sign;
    the limit is rejected only where the bets win against all combinations of signs, so delta is not divided.

    Parameters
    ----------
    probabilities : array of shape (n,)
        Predicted probability of an event, in an order that does not depend on the outcomes.
    outcomes : bool array of shape (n,)
        Whether the event happened.
    n_bins : int, default=10
    delta, n_models : float and int
        As in :func:`clopper_pearson`.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import calibration_limit
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> round(calibration_limit(p, rng.random(2000) < p), 2)
    0.05
    """
    p, y = check.unit(probabilities, "probabilities", ndim=1), np.asarray(outcomes, dtype=bool)
    if p.shape != y.shape:
        raise ValueError(f"probabilities and outcomes must have the same length, got {p.size}, {y.size}")
    n, n_bins = check.count(p.size, "number of probabilities", 1), check.count(n_bins, "n_bins", 1)
    target = math.log(check.count(n_models, "n_models", 1)) - math.log(check.confidence(delta)) + _ROUNDING
    gap = p - y
    in_bin = np.minimum((p * n_bins).astype(np.intp), n_bins - 1) == np.arange(n_bins)[:, None]
    observed = float(np.abs(in_bin @ gap).sum() / n)
    cells = _cells()
    for stop in range(cells.size, 0, -_CELLS_AT_ONCE):
        chunk = cells[max(0, stop - _CELLS_AT_ONCE) : stop]
        kept = np.flatnonzero(~_beats_all_signs(gap, in_bin.astype(np.float64), chunk, target))
        if kept.size:
            k = stop - chunk.size + int(kept[-1])
            return max(float(cells[k + 1]) if k + 1 < cells.size else 1.0, observed)
    raise AssertionError("the cell that begins at 0 cannot be rejected")


def _beats_all_signs(gap: Floats, in_bin: Floats, cells: Floats, target: float) -> Mask:
    """Whether the capital against each cell's lower end reached the target whatever the signs of the bins.

    The same bets are made for all signs, so the smallest capital is the sum of the bins' smaller ones.
    """
    n, (n_bins, _) = gap.size, in_bin.shape
    block = math.ceil(n / _MOST_BETS)
    weight = _PRIOR_WEIGHT * math.sqrt(n)
    squares = weight * 0.25
    plus, minus = np.zeros((n_bins, cells.size)), np.zeros((n_bins, cells.size))
    capital, reached = np.zeros(cells.size), np.zeros(cells.size, dtype=bool)
    for start in range(0, n, block):
        rows = gap[start : start + block, None]
        to_win = np.maximum(target - capital, 0.0)
        bet = np.sqrt(2.0 * to_win * (weight + start) / ((n - start) * squares))
        bet = np.minimum(bet, _LARGEST_BET / (1.0 - cells))
        bins = in_bin[:, start : start + block]
        plus += bins @ np.log1p(bet * (cells - rows))
        minus += bins @ np.log1p(bet * (cells + rows))
        capital = np.minimum(plus, minus).sum(axis=0)
        reached |= capital >= target
        if reached.all():
            break
        squares += float((rows**2).sum())
    return reached


def _cells() -> Floats:
    """Lower ends of the cells: 0, geometric steps up to 1/2, and the same steps mirrored below 1."""
    steps = int(math.log(0.5 / _SMALLEST_CELL) / math.log(_CELL_RATIO)) + 1
    low = _SMALLEST_CELL * _CELL_RATIO ** np.arange(steps)
    return np.concatenate(([0.0], low, [0.5], 1.0 - low[::-1]))


def _play(z: Floats, cells: Floats, target: float) -> tuple[Mask, Floats]:
    """Play against the lower end of each cell: whether ``exp(target)`` was ever reached, and the bets.

    Bets have one row per block of values and see a block only after it was bet on.
    """
    n = z.size
    block = math.ceil(n / _MOST_BETS)
    u = np.maximum(cells, 0.5 * _SMALLEST_CELL)  # the first cell has no variance at its lower end
    weight = _PRIOR_WEIGHT * math.sqrt(n)
    second, third = weight * u * (1.0 - u), weight * u * (1.0 - u) * (1.0 - 2.0 * u)
    most = _LARGEST_BET / (1.0 - cells)
    capital, reached, bets = np.zeros(cells.size), np.zeros(cells.size, dtype=bool), []
    for start in range(0, n, block):
        excess = z[start : start + block, None] - cells
        to_win = np.maximum(target - capital, 0.0)
        bet = np.sqrt(2.0 * to_win * (weight + start) / ((n - start) * second))
        bet /= np.sqrt(1.0 + 4.0 / 3.0 * bet * np.maximum(third, 0.0) / second)
        bets.append(np.minimum(bet, most))
        path = capital + np.cumsum(np.log1p(-bets[-1] * excess), axis=0)
        reached |= path.max(axis=0) >= target
        if reached.all():
            break
        capital = path[-1]
        square = excess**2
        second, third = second + square.sum(axis=0), third + (square * excess).sum(axis=0)
    return reached, np.array(bets)


def _limit_within(z: Floats, low: float, high: float, target: float) -> float:
    """Smallest rejected u of the cell [low, high); the capital rises with u at the bets of the cell."""
    _, by_block = _play(z, np.array([low]), target)
    bets = np.repeat(by_block[:, 0], math.ceil(z.size / _MOST_BETS))[: z.size]
    while True:
        u = 0.5 * (low + high)
        if not low < u < high or high - low < 1e-12:
            return high
        rejected = np.cumsum(np.log1p(bets * (u - z))).max() >= target
        low, high = (low, u) if rejected else (u, high)
