"""Thresholds with a guarantee (theory.md §11.4) and prediction sets (§11.5).

At a threshold t a requirement selects n_t holdout rows (predicted positives, negatives, positives or
accepted rows) of which k_t fail; "violated at t" has the p-value ``P(Bin(n_t, r) <= k_t)``. Thresholds and
their order are fixed before the holdout, each is tested at level delta until the first one that cannot be
rejected, and the last rejected one is chosen: the probability of any false claim stays at delta without a
correction.

A prediction set holds every label whose conformity score is at least q, a low order statistic of the
holdout's scores of true labels. `"marginal"`: coverage at least 1 - alpha over holdout and new row together.
`"pac"`: with probability 1 - delta over the holdout the coverage is at least 1 - alpha.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from surewood._arrays import Floats

from . import _arguments as check

N_THRESHOLDS = 50


def threshold_grid(scores: ArrayLike, *, n_thresholds: int = N_THRESHOLDS) -> Floats:
    """Thresholds at equal steps of coverage of `scores`, strict to lax (§11.4).

    Parameters
    ----------
    scores : array of shape (n,)
        Out-of-bag or out-of-fold scores: nothing of the holdout may enter here. A row is selected where its
        score is at least the threshold.
    n_thresholds : int, default=50

    Examples
    --------
    >>> from surewood.bounds.thresholds import threshold_grid
    >>> threshold_grid([0.1, 0.2, 0.3, 0.4], n_thresholds=4).tolist()
    [0.4, 0.3, 0.2, 0.1]
    """
    values = np.sort(check.finite(scores, "scores", ndim=1))[::-1]
    n = check.count(values.size, "number of scores", 1)
    steps = np.arange(1, check.count(n_thresholds, "n_thresholds", 1) + 1) / n_thresholds
    ranks = np.maximum(np.ceil(steps * n - 1e-9).astype(np.int64), 1) - 1
    return np.asarray(np.unique(values[ranks])[::-1])


def first_threshold(coverage: ArrayLike, n: int, at_most: float, *, delta: float = 0.05) -> int | None:
    """Position of the strictest threshold expected to select enough of `n` holdout rows (§11.4).

    Enough means ``2 log(delta) / log(1 - at_most)`` rows, twice as many as a guarantee without any failure
    needs. None where even the laxest threshold selects fewer.

    Parameters
    ----------
    coverage : array of shape (n_thresholds,)
        Fraction of rows selected at each threshold, strict to lax, known before the holdout.
    n : int
        Size of the holdout.
    at_most : float
        Largest failure rate guaranteed.
    delta : float, default=0.05

    Examples
    --------
    >>> from surewood.bounds.thresholds import first_threshold
    >>> first_threshold([0.1, 0.2, 0.3], 1000, 0.05)
    1
    """
    fractions = check.unit(coverage, "coverage", ndim=1)
    needed = 2.0 * math.log(check.confidence(delta)) / math.log1p(-check.open_unit(at_most, "at_most"))
    enough = np.flatnonzero(fractions * check.count(n, "n", 1) >= needed)
    return int(enough[0]) if enough.size else None


def fixed_sequence_choice(
    failures: ArrayLike, sizes: ArrayLike, at_most: float, *, delta: float = 0.05, start: int = 0
) -> int | None:
    """Position of the last threshold, in the order given, at which the guarantee is proved (§11.4).

    Parameters
    ----------
    failures, sizes : array of int, shape (n_thresholds,)
        Holdout rows that fail and rows that the threshold selects, in an order fixed before the holdout.
    at_most : float
        Largest failure rate guaranteed.
    delta : float, default=0.05
    start : int, default=0
        Position of the first test, fixed before the holdout as well.

    Returns
    -------
    int or None
        None when the first test does not reject.

    Examples
    --------
    >>> from surewood.bounds import fixed_sequence_choice
    >>> fixed_sequence_choice([0, 1, 9, 9], [100, 200, 300, 900], 0.05)
    1
    """
    wrong, chosen = check.counts(failures, "failures"), check.counts(sizes, "sizes")
    check.same_length(failures=wrong, sizes=chosen)
    if np.any(wrong > chosen):
        raise ValueError("failures must be <= sizes")
    rate = check.open_unit(at_most, "at_most")
    rest = slice(check.count(start, "start"), None)
    proved = stats.binom.cdf(wrong[rest], chosen[rest], rate) <= check.confidence(delta)
    n_proved = proved.size if proved.all() else int(np.argmin(proved))
    return start + n_proved - 1 if n_proved else None


def marginal_rank(n: int, alpha: float) -> int:
    """Rank of the holdout score that gives marginal coverage, 0 where every label must be kept (§11.5).

    Examples
    --------
    >>> from surewood.bounds.thresholds import marginal_rank
    >>> marginal_rank(99, 0.1), marginal_rank(5, 0.1)
    (10, 0)
    """
    return math.floor(check.open_unit(alpha, "alpha") * (check.count(n, "n") + 1))


def pac_rank(n: int, alpha: float, *, delta: float = 0.05) -> int:
    """Largest j with ``P(Bin(n, alpha) <= j - 1) <= delta``, 0 where there is none (§11.5).

    Examples
    --------
    >>> from surewood.bounds.thresholds import pac_rank
    >>> pac_rank(100, 0.1), pac_rank(20, 0.1)
    (5, 0)
    """
    n, share = check.count(n, "n"), check.open_unit(alpha, "alpha")
    delta = check.confidence(delta)
    # start at the quantile and step back over its rounding
    rank = min(n, int(stats.binom.ppf(delta, n, share)) + 1) if n else 0
    while rank > 0 and stats.binom.cdf(rank - 1, n, share) > delta:
        rank -= 1
    return rank


def set_threshold(scores: ArrayLike, alpha: float, *, guarantee: str = "pac", delta: float = 0.05) -> float:
    """Smallest conformity score a label needs to be in the set; -inf where every label must be kept (§11.5).

    Parameters
    ----------
    scores : array of shape (n,)
        Conformity scores of the true labels on the holdout.
    alpha : float
        Largest probability of missing the true label.
    guarantee : {"pac", "marginal"}
    delta : float, default=0.05
        For ``"pac"``: probability that the coverage is smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import set_threshold
    >>> scores = np.arange(100) / 100
    >>> set_threshold(scores, 0.1), set_threshold(scores, 0.1, guarantee="marginal")
    (0.04, 0.09)
    """
    check.choice(guarantee, "guarantee", ("pac", "marginal"))
    values = check.finite(scores, "scores", ndim=1)
    n = values.size
    rank = pac_rank(n, alpha, delta=delta) if guarantee == "pac" else marginal_rank(n, alpha)
    return float(np.partition(values, rank - 1)[rank - 1]) if rank else -math.inf
