"""Limits of rates counted on a holdout (theory.md (6.1), §11.1, §11.7, §11.8).

For a classifier fixed in advance, the rows of a conditioning event (a class, a predicted class, a group) are
independent draws from the conditional law, whatever their number (11.1a). So each limit is the exact
binomial one, `clopper_pearson` from above or `clopper_pearson_lower` from below; combined quantities divide
delta among their parts. No row at all gives the limit that says nothing: 1 from above, 0 from below. At the
end: which of two models is better, and how many rows a claim needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import betainccinv, gammaln, logsumexp

from . import _arguments as check
from .betting import betting_upper_limit, calibration_limit

_LOG_SMALLEST = -36.0  # SciPy's inverse of the beta function gives NaN for smaller tails of few points

_TAIL_TERMS = 1 << 17  # terms of a binomial tail that are summed one by one


def clopper_pearson(errors: int, n: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Upper confidence limit of the risk from errors on `n` held-out points (6.1); 1 without a point.

    The risk may be conditional: false positives among the rows of other classes, errors in a group (§11.1).

    Parameters
    ----------
    errors, n : int
        Errors and points, none of which influenced the model.
    delta : float, default=0.05
        Probability that the limit fails; one-sided.
    n_models : int, default=1
        Number of models of which the best was taken on this very sample.

    Examples
    --------
    >>> from surewood.bounds import clopper_pearson
    >>> round(clopper_pearson(12, 400), 7), clopper_pearson(0, 0)
    (0.0481539, 1.0)
    """
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    return binomial_tail_inverse(errors, n, log_delta)


def binomial_tail_inverse(errors: int, n: int, log_delta: float) -> float:
    """Largest p with ``Pr[Bin(n, p) <= errors] >= exp(log_delta)``; 1 if all are errors or n = 0.

    Examples
    --------
    >>> from surewood.bounds.holdout import binomial_tail_inverse
    >>> round(binomial_tail_inverse(0, 100, -2000.0), 6)
    1.0
    """
    k, n = check.count(errors, "errors"), check.count(n, "n")
    if k > n:
        raise ValueError(f"errors must be <= n={n}, got {k}")
    if not log_delta < 0:
        raise ValueError(f"log_delta must be < 0, got {log_delta!r}")
    if k == n:
        return 1.0
    if k == 0:
        return -math.expm1(log_delta / n)
    if log_delta > _LOG_SMALLEST:
        return float(betainccinv(k + 1, n - k, math.exp(log_delta)))
    return _log_tail_bisection(k, n, log_delta)


def _log_tail_bisection(k: int, n: int, log_delta: float) -> float:
    """The same inversion for tails below the floating range; returns the upper end of the last interval.

    Above k/n the terms fall at least geometrically from i = k downwards, so only the last ones are summed and
    the rest is bounded by its geometric series: the result can only become larger.
    """
    i = np.arange(max(0, k + 1 - _TAIL_TERMS), k + 1)
    log_binomial = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)
    low, high = k / n, 1.0  # the tail at k/n is about 1/2, above any delta that comes here
    while True:
        p = 0.5 * (low + high)
        if not low < p < high:
            return high
        log_terms = log_binomial + i * math.log(p) + (n - i) * math.log1p(-p)
        tail = float(logsumexp(log_terms))
        if i[0] > 0:
            ratio = i[0] * (1.0 - p) / ((n - i[0] + 1) * p)
            tail = float(np.logaddexp(tail, log_terms[0] + math.log(ratio / (1.0 - ratio))))
        low, high = (p, high) if tail >= log_delta else (low, p)


def clopper_pearson_lower(successes: int, n: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Lower confidence limit of a probability from `successes` among `n` independent rows (6.1).

    Accuracy among all rows, recall among the rows of a class, precision among the rows predicted as it: each
    is such a probability (§11.1); 0 without a row.

    Examples
    --------
    >>> from surewood.bounds import clopper_pearson, clopper_pearson_lower
    >>> round(clopper_pearson_lower(388, 400), 7) == round(1 - clopper_pearson(12, 400), 7)
    True
    """
    n = check.count(n, "n")
    k = check.count(successes, "successes")
    if k > n:
        raise ValueError(f"successes must be <= n={n}, got {k}")
    return 1.0 - clopper_pearson(n - k, n, delta=delta, n_models=n_models)


def mcc_limit(tp: int, fn: int, fp: int, tn: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    r"""Lower limit of the Matthews correlation coefficient: its four rates at delta/4 each (11.1b).

    Parameters
    ----------
    tp, fn, fp, tn : int
        True positives, false negatives, false positives and true negatives.
    delta, n_models : float and int
        As in :func:`clopper_pearson`.

    Examples
    --------
    >>> from surewood.bounds import mcc_limit
    >>> round(mcc_limit(180, 20, 30, 770), 4)
    0.7699
    """
    counts = [(tp, fn), (tn, fp), (tp, fp), (tn, fn)]  # recall, specificity, precision, NPV
    rates = [clopper_pearson_lower(k, k + j, delta=delta / 4, n_models=n_models) for k, j in counts]
    return math.sqrt(math.prod(rates)) - math.sqrt(math.prod(1.0 - rate for rate in rates))


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
        clopper_pearson(discordant, n, delta=share),
        clopper_pearson_lower(discordant, n, delta=share),
    )
    high = 2.0 * clopper_pearson(first, discordant, delta=share) - 1.0
    low = 2.0 * clopper_pearson_lower(first, discordant, delta=share) - 1.0
    p_value = 1.0 if not discordant else float(stats.binomtest(first, discordant, 0.5).pvalue)
    return ErrorDifference(
        (first - second) / n,
        low * (least if low > 0 else most),
        high * (most if high > 0 else least),
        p_value,
    )


LOG_LOSS_FLOOR = 1e-3  # probabilities below count as this in the claim about the log-loss

_RATES_FROM_BELOW = ("accuracy", "recall", "specificity", "precision", "npv")

_RATES = ("error", "fpr", *_RATES_FROM_BELOW)

_CEILINGS = {"brier": 2.0, "log_loss": -math.log(LOG_LOSS_FLOOR), "cost": 1.0, "calibration": 1.0}

_FROM_BELOW = (*_RATES_FROM_BELOW, "auc", "mcc")

_MOST = 1 << 40

_MOST_BY_BETTING = 1 << 20  # where the limit has no formula, it is computed for each number tried

_NEIGHBOURS = 64  # counts of errors tried before the one found by bisection, where rounding is uneven


def rows_needed(
    expected: float,
    limit: float,
    *,
    delta: float = 0.05,
    quantity: str = "error",
    fraction: float = 1.0,
    n_models: int = 1,
    ceiling: float | None = None,
) -> int:
    """Smallest number of holdout rows whose guarantee reaches `limit` if the rate is as `expected` (§11.8).

    For rates the number is exact. For the other quantities it is found by computing the limit on a sample
    with the expected value and the largest variance that goes with it, so that fewer rows often suffice.

    Parameters
    ----------
    expected : float
        Value that will be observed, such as the error on earlier rows.
    limit : float
        What is to be guaranteed: below `expected` for accuracy, recall, specificity, precision, npv, auc and
        mcc, above it for the others.
    delta : float, default=0.05
    quantity : {"error", "fpr", "accuracy", "recall", "specificity", "precision", "npv", "brier", \
"log_loss", "cost", "calibration", "auc", "mcc"}
    fraction : float, default=1
        Fraction of all rows that count: those of the class for recall, of the other classes for specificity,
        of the group for its error. For ``"auc"`` and ``"mcc"`` the fraction of rows of the class, where 1
        stands for one half.
    n_models : int, default=1
        Number of models, or claims, that share delta.
    ceiling : float, optional
        For ``"cost"``: the largest cost minus the smallest, where `expected` and `limit` are above the
        smallest; 1 by default.

    Examples
    --------
    >>> from surewood.bounds import rows_needed
    >>> rows_needed(0.03, 0.05), rows_needed(0.95, 0.9, quantity="recall", fraction=0.1)
    (260, 760)
    >>> rows_needed(0.9, 0.85, quantity="auc", fraction=0.3)
    624
    """
    check.choice(quantity, "quantity", (*_RATES, *_CEILINGS, "auc", "mcc"))
    top = _CEILINGS.get(quantity, 1.0) if ceiling is None else check.positive(ceiling, "ceiling")
    value, goal = float(check.unit(expected / top, "expected")), float(check.unit(limit / top, "limit"))
    part = float(check.unit(fraction, "fraction"))
    if not part > 0:
        raise ValueError(f"fraction must be > 0, got {fraction!r}")
    from_below = quantity in _FROM_BELOW
    if not (goal < value if from_below else value < goal):
        side = "below" if from_below else "above"
        raise ValueError(f"limit must be {side} expected={expected:g}, got {limit:g}")
    share = check.confidence(delta) / check.count(n_models, "n_models", 1)
    positives = 0.5 if part == 1 else part
    if quantity == "mcc":
        return _by_trial(lambda n: _expected_mcc_limit(value, positives, n, share) >= goal)
    if quantity == "calibration":
        return math.ceil(_by_trial(lambda n: _expected_calibration_limit(value, n, share) <= goal) / part)
    if from_below:
        value, goal = 1.0 - value, 1.0 - goal
    if quantity in _RATES:
        return math.ceil(_smallest(value, goal, share) / part - 1e-9)
    n = _by_trial(lambda n: betting_upper_limit(_two_valued(value, n), delta=share) <= goal)
    return math.ceil(n / (min(positives, 1.0 - positives) if quantity == "auc" else part) - 1e-9)


def _two_valued(mean: float, n: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Zeros and evenly spread ones: the largest variance with this mean."""
    return np.diff(np.floor(mean * np.arange(n + 1) + 1e-9))


def _expected_calibration_limit(error: float, n: int, delta: float) -> float:
    """Limit for a constant probability of about 1/2, where outcomes vary most."""
    return calibration_limit(np.full(n, min(1.0, 0.5 + error)), _two_valued(0.5, n) > 0, delta=delta)


def _expected_mcc_limit(mcc: float, fraction: float, n: int, delta: float) -> float:
    """Limit for the counts that are expected where recall and specificity are equal."""
    low, high = 0.5, 1.0
    for _ in range(50):
        rate = 0.5 * (low + high)
        predicted = fraction * rate + (1.0 - fraction) * (1.0 - rate)
        spread = math.sqrt(fraction * (1.0 - fraction) * predicted * (1.0 - predicted))
        reaches = fraction * (1.0 - fraction) * (2.0 * rate - 1.0) >= mcc * spread
        low, high = (low, rate) if reaches else (rate, high)
    positives = round(fraction * n)
    hits, rejections = math.floor(high * positives), math.floor(high * (n - positives))
    return mcc_limit(hits, positives - hits, n - positives - rejections, rejections, delta=delta)


def _by_trial(suffices: Callable[[int], bool]) -> int:
    """A number of rows that suffices, at most half a percent above one that does not."""
    low, high = 1, 2
    while not suffices(high):
        low, high = high, 2 * high
        if high > _MOST_BY_BETTING:
            raise ValueError(f"limit must differ more from expected: {_MOST_BY_BETTING:,} rows would not do")
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


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
