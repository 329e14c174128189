"""The score that selects a cascade, in counts, and the bound that prunes its search (theory.md §3.7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats

from . import _arguments as check


def cascade_criterion_counts(
    correct: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, m: float, gamma_scale: float
) -> Floats:
    """``T_k = m_k- + min(4 gamma m a_k, m_k+)`` of every leaf (§3.7); exactly m_k where the leaf is inert.

    Parameters
    ----------
    correct, errors : array
        Counts, or sums of sample weights.
    complexity : array
        The bracket of (3.8), see :func:`cascade_complexity`.
    m : float
        Size (or total weight) of the whole sample.
    gamma_scale : float

    Examples
    --------
    >>> from surewood.bounds import cascade_criterion_counts
    >>> cascade_criterion_counts([380, 60], [20, 40], [1.5, 1.0], m=500, gamma_scale=0.02).tolist()
    [80.0, 80.0]
    """
    plus = check.finite(correct, "correct", minimum=0.0)
    minus = check.finite(errors, "errors", minimum=0.0)
    cost = check.finite(complexity, "complexity", minimum=0.0)
    scale = 4.0 * check.positive(gamma_scale, "gamma_scale") * check.positive(m, "m")
    return np.asarray(minus + np.minimum(scale * cost, plus))


def cascade_criterion(
    correct: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, gamma_scale: float
) -> float:
    """Selection score of a cascade (3.8); not a bound. Exactly 1 when no leaf is active.

    Examples
    --------
    >>> from surewood.bounds import cascade_complexity, cascade_criterion
    >>> a = cascade_complexity([246.041122, 60.445564], 500)
    >>> round(cascade_criterion([380, 60], [20, 40], a, gamma_scale=0.02), 6)
    0.316172
    """
    plus = np.atleast_1d(check.finite(correct, "correct", minimum=0.0))
    minus = np.atleast_1d(check.finite(errors, "errors", minimum=0.0))
    m = check.positive(float(plus.sum() + minus.sum()), "m")
    return float(cascade_criterion_counts(plus, minus, complexity, m=m, gamma_scale=gamma_scale).sum()) / m


def cascade_completion_bound(
    partial: ArrayLike,
    remaining: ArrayLike,
    path_complexity: ArrayLike,
    smallest_complexity: float,
    *,
    m: float,
    gamma_scale: float,
) -> Floats:
    """Lower bound of the score, in counts, of every completion of a cascade's prefix (3.9).

    Parameters
    ----------
    partial : float or array
        P, the sum of ``T_j`` over the leaves already fixed.
    remaining : float or array
        Number of points that go on, ``|S_k|``.
    path_complexity : float or array
        Q, the sum of the complexities of the splits so far.
    smallest_complexity : float
        Smallest leaf complexity over the degrees.
    m, gamma_scale : float
        As in :func:`cascade_criterion_counts`.

    Examples
    --------
    >>> from surewood.bounds import cascade_completion_bound
    >>> float(cascade_completion_bound(80.0, 100, 0.25, 0.5, m=500, gamma_scale=0.02))
    110.0
    """
    fixed = check.finite(partial, "partial", minimum=0.0)
    left = check.finite(remaining, "remaining", minimum=0.0)
    path = check.finite(path_complexity, "path_complexity", minimum=0.0)
    smallest = float(check.finite(smallest_complexity, "smallest_complexity", minimum=0.0))
    scale = 4.0 * check.positive(gamma_scale, "gamma_scale") * check.positive(m, "m")
    return np.asarray(fixed + np.minimum(left, scale * (path + smallest)))


def cascade_is_inert(smallest_complexity: float, gamma_scale: float) -> bool:
    """Whether every cascade scores exactly 1 and the tie rule decides alone: ``4 gamma a_min >= 1`` (§3.7).

    Examples
    --------
    >>> from surewood.bounds import cascade_is_inert
    >>> cascade_is_inert(0.35, 1.0), cascade_is_inert(0.35, 0.1)
    (True, False)
    """
    smallest = float(check.finite(smallest_complexity, "smallest_complexity", minimum=0.0))
    return 4.0 * check.positive(gamma_scale, "gamma_scale") * smallest >= 1.0
