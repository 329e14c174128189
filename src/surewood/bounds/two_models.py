"""Two models on one holdout (theory.md §11.7): which is better, and by how much."""

from __future__ import annotations

from typing import NamedTuple

from scipy import stats

from . import _arguments as check
from .rates import clopper_pearson_lower, error_limit


class ErrorDifference(NamedTuple):
    """Error of the first model minus error of the second: observed, with two-sided limits; exact p-value.

    Examples
    --------
    >>> from surewood.bounds import error_difference
    >>> result = error_difference(only_first_wrong=12, only_second_wrong=40, n=1000)
    >>> round(result.difference, 3), result.upper < 0  # the first model errs less often
    (-0.028, True)
    """

    difference: float
    lower: float
    upper: float
    p_value: float


def error_difference(
    only_first_wrong: int, only_second_wrong: int, n: int, *, delta: float = 0.05, n_models: int = 1
) -> ErrorDifference:
    """Limits of the difference in error from the rows where exactly one model is wrong (§11.7).

    The difference is ``D (2q - 1)`` with D the probability that exactly one is wrong and q that it is then
    the first. Each of the four exact limits (D and q from both sides) gets delta/4. The p-value is that of
    the two-sided sign test.

    Parameters
    ----------
    only_first_wrong, only_second_wrong, n : int
        Holdout rows where exactly one model is wrong, and all of them.
    delta : float, default=0.05
    n_models : int, default=1
        Number of pairs compared on this holdout.

    Examples
    --------
    >>> from surewood.bounds import error_difference
    >>> result = error_difference(40, 12, 1000)
    >>> round(result.difference, 3), result.lower > 0, result.p_value < 0.001
    (0.028, True, True)
    """
    first, second = check.count(only_first_wrong, "only_first_wrong"), only_second_wrong
    discordant = first + check.count(second, "only_second_wrong")
    n = check.count(n, "n", 1)
    if discordant > n:
        raise ValueError(f"rows where one model is wrong must be at most n={n}, got {discordant}")
    share = check.confidence(delta) / check.count(n_models, "n_models", 1) / 4.0
    most, least = (
        error_limit(discordant, n, delta=share),
        clopper_pearson_lower(discordant, n, delta=share),
    )
    high = 2.0 * error_limit(first, discordant, delta=share) - 1.0
    low = 2.0 * clopper_pearson_lower(first, discordant, delta=share) - 1.0
    p_value = 1.0 if not discordant else float(stats.binomtest(first, discordant, 0.5).pvalue)
    return ErrorDifference(
        (first - second) / n,
        low * (least if low > 0 else most),
        high * (most if high > 0 else least),
        p_value,
    )
