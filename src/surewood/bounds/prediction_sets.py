"""Thresholds of prediction sets (theory.md §11.5).

A set holds every label whose conformity score is at least q, a low order statistic of the holdout's scores of
true labels. `"marginal"`: coverage at least 1 - alpha over holdout and new row together. `"pac"`: with
probability 1 - delta over the holdout the coverage is at least 1 - alpha.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from . import _arguments as check


def marginal_rank(n: int, alpha: float) -> int:
    """Rank of the holdout score that gives marginal coverage, 0 where every label must be kept (§11.5).

    Examples
    --------
    >>> from surewood.bounds import marginal_rank
    >>> marginal_rank(99, 0.1), marginal_rank(5, 0.1)
    (10, 0)
    """
    return math.floor(check.open_unit(alpha, "alpha") * (check.count(n, "n") + 1))


def pac_rank(n: int, alpha: float, *, delta: float = 0.05) -> int:
    """Largest j with ``P(Bin(n, alpha) <= j - 1) <= delta``, 0 where there is none (§11.5).

    Examples
    --------
    >>> from surewood.bounds import pac_rank
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
