r"""Limits of the mean of a bounded quantity by betting (theory.md §11.3).

For a candidate mean :math:`u` the capital :math:`K_t(u)=\prod_{i\le t}(1+\lambda_i(u-Z_i))` with bets
:math:`\lambda_i\ge0` that depend on earlier values only is a non-negative supermartingale whenever
:math:`E Z\ge u`, so "E Z >= u" may be rejected as soon as it reaches :math:`1/\delta` (Ville). Any
predictable bets below :math:`1/(1-u)` are valid; ours are

.. math:: \lambda_i=\min\Big\{s\,\frac{u-p_*}{u(1-u)}\sqrt{\frac{u(1-u)}{\hat\sigma^2_{i-1}}},\
          \frac{\max\{c,\,1-p_*/u\}}{1-u}\Big\},\qquad n\,\mathrm{kl}(p_*\|u)=\log(1/\delta),

the bet that is best at sample size :math:`n` for a two-valued variable, raised where the running variance
(shrunk towards :math:`u(1-u)` as if by :math:`\sqrt n` earlier values) is smaller than that of a two-valued
variable. With a prior variance of 1/4 and :math:`c=1/2` throughout, rare errors among 100 rows gave limits
27 % wider than Bentkus's; with these they are at most 5 % wider than the best of Hoeffding, empirical
Bernstein and Bentkus on Bernoulli and beta samples of 100 to 10,000.

The candidates are divided into cells fixed in advance. Within a cell the bets are those of its lower end, so
the capital rises with :math:`u` and the limit is exact, not rounded to the grid: the true mean, wherever it
lies, is wrongly excluded only if the bets of its own cell win :math:`1/\delta` against it.

Reference: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats

from . import _arguments as check

_STRETCH = 1.1  # s: stopping at the best moment favours slightly larger bets
_LARGEST_BET = 0.6  # c: largest fraction of the capital at stake where a two-valued variable would risk less
_NEARLY_ALL = 0.999  # a bet of everything would end the game at the first loss
_CELL_RATIO, _SMALLEST_CELL = 1.1, 1e-4
_CELLS_AT_ONCE, _ROWS_AT_ONCE, _VALUES_AT_ONCE = 8, 4096, 1 << 16


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
    0.108
    """
    z = check.unit(values, "values", ndim=1)
    n = check.count(z.size, "number of values", 1)
    target = math.log(check.count(n_models, "n_models", 1)) - math.log(check.confidence(delta))
    cells = _cells()
    step = max(_CELLS_AT_ONCE, _VALUES_AT_ONCE // n)
    for stop in range(cells.size, 0, -step):
        some = cells[max(0, stop - step) : stop]
        kept = np.flatnonzero(~_rejected(z, some, target))
        if kept.size:
            position = stop - some.size + int(kept[-1])
            end = float(cells[position + 1]) if position + 1 < cells.size else 1.0
            return _limit_within(z, float(cells[position]), end, target, n)
    return 0.0


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


def _cells() -> Floats:
    """Lower ends of the cells: 0, geometric steps up to 1/2, and the same steps mirrored below 1."""
    steps = int(math.log(0.5 / _SMALLEST_CELL) / math.log(_CELL_RATIO)) + 1
    low = _SMALLEST_CELL * _CELL_RATIO ** np.arange(steps)
    return np.concatenate(([0.0], low, [0.5], 1.0 - low[::-1]))


def _two_valued_target(u: Floats, rate: float) -> Floats:
    """The p < u with ``kl(p||u) = rate``, 0 where even p = 0 is nearer than that."""
    low, high = np.zeros_like(u), u.copy()
    for _ in range(50):
        p = 0.5 * (low + high)
        kl = p * np.log(p / u) + (1.0 - p) * np.log((1.0 - p) / (1.0 - u))
        low, high = np.where(kl > rate, p, low), np.where(kl > rate, high, p)
    return np.where(-np.log1p(-u) <= rate, 0.0, low)


class _Bets:
    """Bets of several cells, row block by row block; they see each value only after it was bet on."""

    def __init__(self, cells: Floats, n: int, target: float) -> None:
        u = np.maximum(cells, 0.5 * _SMALLEST_CELL)  # the first cell has no variance at its lower end
        p = _two_valued_target(u, target / n)
        fraction = 1.0 - p / u
        self.prior_mean, self.prior_variance = u, u * (1.0 - u)
        self.base = _STRETCH * fraction / (1.0 - u)
        self.most = np.minimum(np.maximum(_LARGEST_BET, fraction), _NEARLY_ALL) / (1.0 - cells)
        self.weight = math.sqrt(n)
        self.seen, self.total, self.squares = 0, 0.0, np.zeros_like(u)

    def on(self, block: Floats) -> Floats:
        """Bets on the next values, one row per value and one column per cell."""
        rows = np.arange(self.seen, self.seen + block.size)[:, None]
        totals = self.total + np.cumsum(block)[:, None]
        mean = (self.weight * self.prior_mean + totals) / (rows + 1 + self.weight)
        squares = self.squares + np.cumsum((block[:, None] - mean) ** 2, axis=0)
        before = np.vstack([self.squares, squares[:-1]])
        variance = (self.weight * self.prior_variance + before) / (rows + self.weight)
        self.seen, self.total, self.squares = self.seen + block.size, float(totals[-1, 0]), squares[-1]
        return np.asarray(np.minimum(self.base * np.sqrt(self.prior_variance / variance), self.most))


def _rejected(z: Floats, cells: Floats, target: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether the capital against each cell's lower end ever reaches ``exp(target)``."""
    bets, capital = _Bets(cells, z.size, target), np.zeros(cells.size)
    rejected = np.zeros(cells.size, dtype=bool)
    for start in range(0, z.size, _ROWS_AT_ONCE):
        block = z[start : start + _ROWS_AT_ONCE]
        path = capital + np.cumsum(np.log1p(bets.on(block) * (cells - block[:, None])), axis=0)
        rejected |= path.max(axis=0) >= target
        capital = path[-1]
        if rejected.all():
            break
    return rejected


def _limit_within(z: Floats, low: float, high: float, target: float, n: int) -> float:
    """Smallest rejected u of a cell, from above; the capital rises with u as the bets do not change."""
    bets = _Bets(np.array([low]), n, target).on(z)[:, 0]
    while True:
        u = 0.5 * (low + high)
        if not low < u < high or high - low < 1e-12:
            return high
        rejected = np.cumsum(np.log1p(bets * (u - z))).max() >= target
        low, high = (low, u) if rejected else (u, high)
