"""The margin theorem stated for mdDF (theory.md (4.7)): HEURISTIC, its proof has gaps ([D-32]).

`margin_theorem` evaluates it, `margin_gap` is the simplified gap of the paper's introduction,
`log_tree_count` and `log_forest_count` count hypotheses, `log_mixture_count` combines them over layers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from . import _arguments as check
from .margin import margin_ratio
from .status import Status


class MarginTheorem(NamedTuple):
    """Value of (4.7), never a guarantee, and the margin threshold that attains it.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import margin_theorem
    >>> result = margin_theorem(np.full(1_000_000, 0.9), log_count=7.0)
    >>> round(result.value, 4), str(result.status)
    (0.0003, 'HEURISTIC')
    """

    value: float
    threshold: float
    status: Status = Status.HEURISTIC


def log_tree_count(max_depth: int, n_inputs: int, m: int, n_classes: int) -> float:
    """Log-count of trees with N = min(2^D - 1, m - 1) splits: ``N log(4 n m) + (N+1) log s`` (§4.6).

    Examples
    --------
    >>> from surewood.bounds import log_tree_count
    >>> round(log_tree_count(2, 10, 100, 2), 6)
    27.654738
    """
    m = check.count(m, "m", 1)
    depth = min(check.count(max_depth, "max_depth"), m.bit_length())  # deeper trees have m - 1 splits too
    questions = min(2**depth - 1, m - 1)
    per_question = math.log(4 * check.count(n_inputs, "n_inputs", 1) * m)
    per_leaf = math.log(check.count(n_classes, "n_classes", 2))
    return float(questions * per_question + (questions + 1) * per_leaf)


def log_forest_count(n_trees: int, max_depth: int, n_inputs: int, m: int, n_classes: int) -> float:
    """Log-count of averages of `n_trees` trees: that of one tree times their number (§4.6).

    Examples
    --------
    >>> from surewood.bounds import log_forest_count
    >>> round(log_forest_count(400, 2, 10, 100, 2))
    11062
    """
    return check.count(n_trees, "n_trees", 1) * log_tree_count(max_depth, n_inputs, m, n_classes)


def log_mixture_count(alphas: ArrayLike, log_counts: ArrayLike) -> float:
    """``log sum_t alpha_t |H_t|`` without overflow (§4.6).

    Examples
    --------
    >>> from surewood.bounds import log_mixture_count
    >>> log_mixture_count([0.5, 0.5], [1e6, 1e6])
    1000000.0
    """
    alpha = check.finite(alphas, "alphas", minimum=0.0, ndim=1)
    counts = check.finite(log_counts, "log_counts", ndim=1)
    if alpha.size != counts.size or not alpha.sum() > 0:
        raise ValueError("alphas must have a positive sum and one entry for each of log_counts")
    return float(logsumexp(counts, b=alpha))


def margin_theorem(z: ArrayLike, log_count: float, *, delta: float = 0.05) -> MarginTheorem:
    """Smallest value over the threshold r of the stated theorem (4.7), capped at 1.

    Parameters
    ----------
    z : array of shape (m,)
        Margins of the normalised vote, in [-1, 1].
    log_count : float
        ``log sum_t alpha_t |H_t|``, see :func:`log_mixture_count`.
    delta : float, default=0.05

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import margin_theorem
    >>> result = margin_theorem(np.full(1_000_000, 0.9), np.log(1000.0))
    >>> round(result.value, 4), str(result.status)
    (0.0003, 'HEURISTIC')
    """
    values = np.sort(check.finite(z, "z", minimum=-1.0, ndim=1))
    m = check.count(values.size, "number of margins", 1)
    if values[-1] > 1:
        raise ValueError("z must be in [-1, 1]")
    log_two_count = math.log(2) + float(check.finite(log_count, "log_count"))
    if log_two_count < 0:
        raise ValueError(f"log_count must be >= -log 2, got {log_count!r}")
    observed = values[(values > 1e-100) & (values < 1)]  # the square of a smaller threshold may vanish
    r = np.unique(np.concatenate((np.arange(1, 1000) / 1000.0, observed)))
    mu = math.log(m) * log_two_count / r**2 + math.log(2.0 / check.confidence(delta))
    d = 2.0 / (1.0 - float(values.mean()) ** 2 + r / 9.0)
    below = np.searchsorted(values, r, side="left") / m
    ratio = margin_ratio(values)
    total = below + m**-d + 3.0 * np.sqrt(mu) / m**1.5 + 7.0 * mu / (3.0 * m) + ratio * np.sqrt(3.0 * mu / m)
    best = int(np.argmin(total))
    return MarginTheorem(float(min(1.0, total[best])), float(r[best]))


def margin_gap(ratio: float, threshold: float, m: int, log_count: float) -> float:
    """Simplified gap of the paper's introduction, HEURISTIC (§4.6).

    ``u + ratio sqrt(u)`` with ``u = log|H| log m / (r^2 m)``.

    Examples
    --------
    >>> from surewood.bounds import margin_gap
    >>> round(margin_gap(0.5, 0.5, 10_000, 10.0), 6)
    0.132812
    """
    if not ratio >= 0:
        raise ValueError(f"ratio must be >= 0, got {ratio!r}")
    r, m = check.open_unit(threshold, "threshold"), check.count(m, "m", 1)
    u = float(check.finite(log_count, "log_count", minimum=0.0)) * math.log(m) / (r**2 * m)
    return u + ratio * math.sqrt(u) if u > 0 else 0.0
