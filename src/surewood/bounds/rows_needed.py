"""How many holdout rows a guarantee needs (theory.md §11.8)."""

from __future__ import annotations

import math

from . import _arguments as check
from .certificates import clopper_pearson

_FROM_BELOW = ("accuracy", "recall", "precision")
_QUANTITIES = ("error", "fpr", *_FROM_BELOW)
_MOST = 1 << 40
_NEIGHBOURS = 64  # counts of errors tried before the one found by bisection, where rounding is uneven


def rows_needed(
    expected: float,
    limit: float,
    *,
    delta: float = 0.05,
    quantity: str = "error",
    fraction: float = 1.0,
    n_models: int = 1,
) -> int:
    """Smallest number of holdout rows whose guarantee reaches `limit` if the rate is as `expected` (§11.8).

    Parameters
    ----------
    expected : float
        Rate that will be observed, such as the error on earlier rows.
    limit : float
        What is to be guaranteed: above `expected` for ``"error"`` and ``"fpr"``, below it for the others.
    delta : float, default=0.05
    quantity : {"error", "fpr", "accuracy", "recall", "precision"}
    fraction : float, default=1
        Fraction of all rows that count: those of the class for recall, of the group for its error.
    n_models : int, default=1
        Number of models, or claims, that share delta.

    Examples
    --------
    >>> from surewood.bounds import rows_needed
    >>> rows_needed(0.03, 0.05), rows_needed(0.95, 0.9, quantity="recall", fraction=0.1)
    (260, 760)
    """
    check.choice(quantity, "quantity", _QUANTITIES)
    rate, goal = float(check.unit(expected, "expected")), float(check.unit(limit, "limit"))
    if quantity in _FROM_BELOW:
        rate, goal = 1.0 - rate, 1.0 - goal
    part = float(check.unit(fraction, "fraction"))
    if not part > 0:
        raise ValueError(f"fraction must be > 0, got {fraction!r}")
    if not rate < goal:
        side = "below" if quantity in _FROM_BELOW else "above"
        raise ValueError(f"limit must be {side} expected={expected:g}, got {limit:g}")
    share = check.confidence(delta) / check.count(n_models, "n_models", 1)
    return math.ceil(_smallest(rate, goal, share) / part - 1e-9)


def _smallest(rate: float, goal: float, delta: float) -> int:
    """Smallest n with CP+(floor(rate n), n, delta) <= goal.

    For a number of errors k the limit falls with n, and n errors are k up to some last n; the first k whose
    last n is good enough is found by bisection, then the n by another.
    """

    def fits(k: int, n: int) -> bool:
        return k < n and clopper_pearson(k, n, delta=delta) <= goal

    def last(k: int) -> int:
        n = math.ceil((k + 1) / rate) - 1 if rate > 0 else _MOST
        return n + 1 if math.floor(rate * (n + 1)) == k else n

    low, high = -1, 1
    while not fits(high, last(high)) and high < _MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle, last(middle)) else (middle, high)
    best = min((k for k in range(max(0, high - _NEIGHBOURS), high + 1) if fits(k, last(k))), default=-1)
    if best < 0:
        raise ValueError(f"limit must differ more from expected: {_MOST:,} rows would not do")
    lower, upper = math.ceil(best / rate - 1e-9) - 1 if best else 0, last(best)
    while upper - lower > 1:
        middle = (lower + upper) // 2
        lower, upper = (lower, middle) if fits(best, middle) else (middle, upper)
    return upper
