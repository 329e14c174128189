"""Margins of additive cascades: loss, weights, step size, theorem (theory.md §4).

`margins` (4.2), `margin_loss` (4.3), `margin_weights` (4.4), `effective_sample_size`,
`margin_ratio` (4.6), `scatter_ratio` (4.8). The exact step size of a new layer (4.5): `margin_step` minimizes
the convex, piecewise quadratic mean loss in O(m log m), `margin_of_sum_step` serves the option that takes
margins of the summed scores. The theorem stated for mdDF (4.7) is a HEURISTIC, its proof has gaps [D-32]:
`margin_theorem`, `margin_gap`, and the counts of hypotheses. The two lemmas behind it are sound:
`drawn_vote_tail`, `empirical_bernstein`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from surewood._arrays import Floats

from . import _arguments as check
from .statements import Status


def margins(scores: ArrayLike, y: ArrayLike) -> Floats:
    """Score of the true class minus the best other score (4.2).

    Parameters
    ----------
    scores : array of shape (m, n_classes)
    y : array of int, shape (m,)
        Class codes 0, ..., n_classes - 1.

    Examples
    --------
    >>> from surewood.bounds import margins
    >>> margins([[0.75, 0.25], [0.5, 0.5]], [0, 1]).tolist()
    [0.5, 0.0]
    """
    table = check.finite(scores, "scores", ndim=2)
    codes = check.counts(y, "y")
    m, n_classes = table.shape
    if n_classes < 2:
        raise ValueError(f"scores must have at least 2 columns, got {n_classes}")
    if codes.size != m:
        raise ValueError(f"y must have {m} entries, got {codes.size}")
    if codes.size and codes.max() >= n_classes:
        raise ValueError(f"y must be class codes below {n_classes}, got {codes.max()}")
    rows = np.arange(m)
    others = table.copy()
    others[rows, codes] = -np.inf
    return np.asarray(table[rows, codes] - others.max(axis=1))


def margin_loss(z: ArrayLike, *, theta: float = 0.7, mu_loss: float = 0.05) -> Floats:
    """Quadratic loss around the margin target: curvature ``1/theta^2`` below, ``mu/(1-theta)^2`` above (4.3).

    Parameters
    ----------
    z : array
        Margins.
    theta : float, default=0.7
        Target, in (0, 1).
    mu_loss : float, default=0.05
        Trade-off, in (0, 1].

    Examples
    --------
    >>> from surewood.bounds import margin_loss
    >>> margin_loss([-0.5, 0.35, 0.7, 1.0], theta=0.7, mu_loss=0.05).round(6).tolist()
    [2.938776, 0.25, 0.0, 0.05]
    """
    below, above = loss_curvatures(theta, mu_loss)
    gap = check.finite(z, "z") - theta
    return np.where(gap <= 0, below, above) * gap**2


def loss_curvatures(theta: float, mu_loss: float) -> tuple[float, float]:
    """Weights of the two branches of (4.3)."""
    theta = check.open_unit(theta, "theta")
    if check.positive(mu_loss, "mu_loss") > 1:
        raise ValueError(f"mu_loss must be in (0, 1], got {mu_loss!r}")
    return 1.0 / theta**2, mu_loss / (1.0 - theta) ** 2


def margin_weights(z: ArrayLike, *, theta: float = 0.7, mu_loss: float = 0.05) -> Floats:
    """Weights of the next layer, proportional to the loss, summing to 1; uniform if no loss is left (4.4).

    Examples
    --------
    >>> from surewood.bounds import margin_weights
    >>> margin_weights([0.35, 0.7, 0.35]).tolist(), margin_weights([0.7, 0.7]).tolist()
    ([0.5, 0.0, 0.5], [0.5, 0.5])
    """
    values = check.finite(z, "z", ndim=1)
    m = check.count(values.size, "number of margins", 1)
    loss = margin_loss(values, theta=theta, mu_loss=mu_loss)
    total = float(loss.sum())
    return np.full(m, 1.0 / m) if total <= 0 else loss / total


def effective_sample_size(weights: ArrayLike) -> float:
    """``1 / sum D^2`` of weights scaled to sum to 1 (§4.5).

    Examples
    --------
    >>> from surewood.bounds import effective_sample_size
    >>> effective_sample_size([1.0, 1.0, 0.0, 0.0])
    2.0
    """
    array = check.finite(weights, "weights", minimum=0.0, ndim=1)
    share = check.weights(array, check.count(array.size, "number of weights", 1), "weights")
    return float(1.0 / (share**2).sum())


def margin_ratio(z: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Standard deviation over mean of the margins, infinite for a mean <= 0 (4.6); a HEURISTIC diagnostic.

    Examples
    --------
    >>> from surewood.bounds import margin_ratio
    >>> margin_ratio([0.25, 0.75]), margin_ratio([-0.5, 0.5])
    (0.5, inf)
    """
    values = check.finite(z, "z", ndim=1)
    check.count(values.size, "number of margins", 1)
    weights = None if weight is None else check.finite(weight, "weight", minimum=0.0, ndim=1)
    mean = float(np.average(values, weights=weights))
    spread = math.sqrt(float(np.average((values - mean) ** 2, weights=weights)))
    return math.inf if mean <= 0 else spread / mean


def scatter_ratio(points: ArrayLike, labels: ArrayLike) -> float:
    """Intra-class over inter-class sum of squares (4.8); infinite when all class means coincide.

    Examples
    --------
    >>> from surewood.bounds import scatter_ratio
    >>> scatter_ratio([[0.0], [2.0], [10.0], [12.0]], ["a", "a", "b", "b"])
    0.04
    """
    table = check.finite(points, "points", ndim=2)
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    if codes.size != table.shape[0] or codes.size == 0:
        raise ValueError(f"labels must have one entry per point ({table.shape[0]}), got {codes.size}")
    size = np.bincount(codes)
    means = np.zeros((size.size, table.shape[1]))
    np.add.at(means, codes, table)
    means /= size[:, None]
    within = float(((table - means[codes]) ** 2).sum())
    between = float((size * ((means - table.mean(axis=0)) ** 2).sum(axis=1)).sum())
    return within / between if between > 0 else math.inf


_BRACKETING = 8  # evaluations of the derivative before sorting what is left

_NEGLIGIBLE = 1e-150  # the square of a smaller direction is 0 in double precision


def margin_step(
    z: ArrayLike,
    direction: ArrayLike,
    *,
    theta: float = 0.7,
    mu_loss: float = 0.05,
    alpha_max: float = math.inf,
    weight: ArrayLike | None = None,
) -> float:
    """Exact minimizer over [0, alpha_max] of the mean margin loss of ``z + alpha * direction`` (4.5).

    The derivative is piecewise linear and non-decreasing. A few evaluations bracket its zero; the breakpoints
    left in the bracket are sorted and slope and intercept accumulated over them, so the zero is found without
    tolerance or grid.

    Parameters
    ----------
    z : array of shape (m,)
        Margins so far (zeros before the first layer).
    direction : array of shape (m,)
        Margins of the new layer.
    theta, mu_loss : float
        See :func:`margin_loss`.
    alpha_max : float, default=inf
        Largest step.
    weight : array of shape (m,), optional
        Weights >= 0 of the points; the mean loss is then a weighted mean.

    Examples
    --------
    >>> from surewood.bounds import margin_step
    >>> round(margin_step([0, 0, 0], [0.8, 0.5, -0.2], theta=0.7, mu_loss=0.05), 7)
    0.827957
    """
    below, above = loss_curvatures(theta, mu_loss)
    if not alpha_max >= 0:
        raise ValueError(f"alpha_max must be >= 0, got {alpha_max!r}")
    z_values, g = _pair(z, direction)
    weights = _point_weights(weight, g.size)
    used = (np.abs(g) > _NEGLIGIBLE) & (weights > 0)
    if not used.all():
        z_values, g, weights = z_values[used], g[used], weights[used]
    line = _Derivative(theta - z_values, g, weights, below, above)
    slope, intercept = line.piece(0.0)
    if intercept <= 0:
        return 0.0
    low, high = _bracket(line, alpha_max)
    inside = np.flatnonzero((line.breakpoint > low) & (line.breakpoint <= high))
    order = inside[np.argsort(line.breakpoint[inside], kind="stable")]
    slope, intercept = line.piece(low)
    slopes = np.cumsum(np.concatenate(([slope], line.slope_change[order])))
    intercepts = np.cumsum(np.concatenate(([intercept], line.intercept_change[order])))
    reached = slopes[:-1] * line.breakpoint[order] - intercepts[:-1] >= 0
    crossed = int(reached.argmax()) if reached.any() else order.size
    slope, intercept = line.piece_after(low, order[:crossed])
    return float(min(max(intercept, 0.0) / slope, alpha_max)) if slope > 0 else float(alpha_max)


class _Derivative:
    """phi'(x) = (2/m)(a x - b), with slope a and intercept b that change where a sample crosses the target.

    Attributes
    ----------
    breakpoint : ndarray
        Step at which each sample changes branch, infinite if it never does.
    slope_change, intercept_change : ndarray
        What a and b gain there.
    """

    def __init__(self, gap: Floats, g: Floats, weights: Floats, below: float, above: float) -> None:
        # left branch just right of 0: below the target, or on it and moving down
        left = (gap > 0) | ((gap == 0) & (g < 0))
        self.weight = weights * np.where(left, below, above)
        self.gap, self.g = gap, g
        with np.errstate(over="ignore"):  # a breakpoint at infinity is never reached
            self.breakpoint = gap / g
        self.breakpoint[self.breakpoint <= 0] = np.inf
        self.other = weights * (below + above) - self.weight
        change = (self.other - self.weight) * g
        self.slope_change, self.intercept_change = change * g, change * gap
        weighted = self.weight * g
        self.start = float(weighted @ g), float(weighted @ gap)

    def piece(self, x: float) -> tuple[float, float]:
        """Slope and intercept just right of x."""
        crossed = (self.breakpoint <= x).astype(np.float64)
        return self.start[0] + float(crossed @ self.slope_change), self.start[1] + float(
            crossed @ self.intercept_change
        )

    def piece_after(self, x: float, more: NDArray[np.intp]) -> tuple[float, float]:
        """The same after more crossings, summed afresh: running sums lose digits when large terms cancel."""
        weight = np.where(self.breakpoint <= x, self.other, self.weight)
        weight[more] = self.other[more]
        weighted = weight * self.g
        return float(weighted @ self.g), float(weighted @ self.gap)


def _bracket(line: _Derivative, alpha_max: float) -> tuple[float, float]:
    """Interval that holds the zero of the derivative, narrow, so that few breakpoints need sorting.

    Newton steps from the left until one overshoots, then the secant and the midpoint in turn.
    """
    low, high = 0.0, float(alpha_max)
    slope, intercept = line.piece(0.0)
    value_low, value_high = -intercept, math.nan
    for turn in range(_BRACKETING):
        if math.isnan(value_high):
            x = low - value_low / slope if slope > 0 else high
        elif turn % 2:
            x = 0.5 * (low + high)
        else:
            x = low - value_low * (high - low) / (value_high - value_low)
        if not low < x < high:
            break
        slope, intercept = line.piece(x)
        value = slope * x - intercept
        if value >= 0:
            high, value_high = x, value
        else:
            low, value_low = x, value
    return low, high


def step_objective(
    alpha: float, z: ArrayLike, direction: ArrayLike, *, theta: float = 0.7, mu_loss: float = 0.05
) -> float:
    """Mean loss after a step, the function minimized in (4.5).

    Examples
    --------
    >>> from surewood.bounds.margin import step_objective
    >>> round(step_objective(0.827957, [0, 0, 0], [0.8, 0.5, -0.2]), 6)
    0.566308
    """
    z_values, g = _pair(z, direction)
    check.count(g.size, "number of margins", 1)
    return float(margin_loss(z_values + alpha * g, theta=theta, mu_loss=mu_loss).mean())


def margin_of_sum_step(
    scores: ArrayLike,
    layer_scores: ArrayLike,
    y: ArrayLike,
    *,
    theta: float = 0.7,
    mu_loss: float = 0.05,
    alpha_max: float = 1.0,
    weight: ArrayLike | None = None,
) -> float:
    """Step for margins of the summed scores, by a bounded scalar search (§4.3, option ``margin_of_sum``).

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import margin_of_sum_step
    >>> round(margin_of_sum_step(np.zeros((2, 2)), [[0.9, 0.1], [0.2, 0.8]], [0, 1], alpha_max=2.0), 3)
    1.072
    """
    old, new = check.finite(scores, "scores", ndim=2), check.finite(layer_scores, "layer_scores", ndim=2)
    if old.shape != new.shape:
        raise ValueError(f"layer_scores must have the shape of scores {old.shape}, got {new.shape}")
    upper = check.positive(alpha_max, "alpha_max")

    weights = _point_weights(weight, old.shape[0])

    def objective(alpha: float) -> float:
        loss = margin_loss(margins(old + alpha * new, y), theta=theta, mu_loss=mu_loss)
        return float(np.average(loss, weights=weights))

    inner = minimize_scalar(objective, bounds=(0.0, upper), method="bounded", options={"xatol": 1e-10}).x
    return float(min((0.0, float(inner), upper), key=objective))


def _pair(z: ArrayLike, direction: ArrayLike) -> tuple[Floats, Floats]:
    z_values, g = check.finite(z, "z", ndim=1), check.finite(direction, "direction", ndim=1)
    check.same_length(z=z_values, direction=g)
    return z_values, g


def _point_weights(weight: ArrayLike | None, m: int) -> Floats:
    if weight is None:
        return np.ones(m)
    weights = check.finite(weight, "weight", minimum=0.0, ndim=1)
    if weights.size != m:
        raise ValueError(f"weight must have one entry per point ({m}), got {weights.size}")
    return weights


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
    >>> from surewood.bounds.margin import log_tree_count
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


def drawn_vote_tail(margin: ArrayLike, epsilon: float, n_draws: int) -> Any:
    """Probability that a vote of drawn members is better than the whole vote by `epsilon`, at most (§4.6).

    `n_draws` members are drawn by their weights, with replacement; on a point of this `margin` of the whole
    vote their mean margin exceeds ``margin + epsilon`` with at most this probability (Bernstein: a member's
    margin is in [-1, 1] and has a variance of at most 1 - margin²). The first lemma behind (4.7).

    Examples
    --------
    >>> from surewood.bounds import drawn_vote_tail
    >>> round(drawn_vote_tail(0.8, 0.2, 100), 4)
    0.0174
    """
    z = check.finite(margin, "margin", minimum=-1.0)
    if (z > 1).any():
        raise ValueError("margin must be in [-1, 1]")
    gap, n = check.positive(epsilon, "epsilon"), check.count(n_draws, "n_draws", 1)
    value = np.exp(-n * gap**2 / (2.0 - 2.0 * z**2 + 4.0 * gap / 3.0))
    return float(value) if np.ndim(margin) == 0 else value


def empirical_bernstein(values: ArrayLike, *, delta: float = 0.05) -> float:
    """Upper limit of a mean from independent values in [0, 1], by their own variance (§4.6).

    ``mean + sqrt(2 V log(2/delta) / m) + 7 log(2/delta) / (3 (m - 1))`` with the sample variance V: it fails
    with probability `delta` at most (Maurer and Pontil). The second lemma behind (4.7).

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds import empirical_bernstein
    >>> round(empirical_bernstein(np.repeat([0.0, 1.0], [950, 50])), 4)
    0.0773
    """
    sample = check.unit(values, "values", ndim=1)
    m = check.count(sample.size, "number of values", 2)
    tail = math.log(2.0 / check.confidence(delta))
    limit = sample.mean() + math.sqrt(2.0 * sample.var(ddof=1) * tail / m) + 7.0 * tail / (3.0 * (m - 1))
    return float(min(1.0, limit))


def margin_theorem(z: ArrayLike, log_count: float, *, delta: float = 0.05) -> MarginTheorem:
    """Smallest value over the threshold r of the stated theorem (4.7), capped at 1.

    Parameters
    ----------
    z : array of shape (m,)
        Margins of the normalized vote, in [-1, 1].
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
