"""The exact step size of a new layer (theory.md (4.5)) and its normalisations ([D-29]).

`margin_step` minimises the convex, piecewise quadratic mean loss in O(m log m); `simplex_step` mixes old and
new instead; `margin_of_sum_step` serves the option that takes margins of the summed scores;
`effective_alphas` unrolls mixing weights.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from surewood._arrays import Floats

from . import _arguments as check
from .margin import loss_curvatures, margin_loss, margins

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
    """Exact minimiser over [0, alpha_max] of the mean margin loss of ``z + alpha * direction`` (4.5).

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
    own = _point_weights(weight, g.size)
    used = (np.abs(g) > _NEGLIGIBLE) & (own > 0)
    if not used.all():
        z_values, g, own = z_values[used], g[used], own[used]
    line = _Derivative(theta - z_values, g, own, below, above)
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

    def __init__(self, gap: Floats, g: Floats, own: Floats, below: float, above: float) -> None:
        # left branch just right of 0: below the target, or on it and moving down
        left = (gap > 0) | ((gap == 0) & (g < 0))
        self.weight = own * np.where(left, below, above)
        self.gap, self.g = gap, g
        with np.errstate(over="ignore"):  # a breakpoint at infinity is never reached
            self.breakpoint = gap / g
        self.breakpoint[self.breakpoint <= 0] = np.inf
        self.other = own * (below + above) - self.weight
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


def simplex_step(
    z: ArrayLike, layer_margins: ArrayLike, *, theta: float = 0.7, mu_loss: float = 0.05
) -> float:
    """Mixing weight beta in [0, 1] for ``(1 - beta) z + beta * layer_margins``, the default of [D-29].

    Examples
    --------
    >>> from surewood.bounds import simplex_step
    >>> simplex_step([0.1, 0.2], [0.6, 0.5])
    1.0
    """
    z_values, new = _pair(z, layer_margins)
    return margin_step(z_values, new - z_values, theta=theta, mu_loss=mu_loss, alpha_max=1.0)


def step_objective(
    alpha: float, z: ArrayLike, direction: ArrayLike, *, theta: float = 0.7, mu_loss: float = 0.05
) -> float:
    """Mean loss after a step, the function minimised in (4.5).

    Examples
    --------
    >>> from surewood.bounds import step_objective
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

    own = _point_weights(weight, old.shape[0])

    def objective(alpha: float) -> float:
        loss = margin_loss(margins(old + alpha * new, y), theta=theta, mu_loss=mu_loss)
        return float(np.average(loss, weights=own))

    inner = minimize_scalar(objective, bounds=(0.0, upper), method="bounded", options={"xatol": 1e-10}).x
    return float(min((0.0, float(inner), upper), key=objective))


def effective_alphas(betas: ArrayLike) -> Floats:
    """Weights of the layers after mixing: ``beta_l * prod_{t>l} (1 - beta_t)`` ([D-29]).

    Examples
    --------
    >>> from surewood.bounds import effective_alphas
    >>> effective_alphas([1.0, 0.5, 0.25]).tolist()
    [0.375, 0.375, 0.25]
    """
    beta = check.unit(betas, "betas", ndim=1)
    kept = np.concatenate((np.cumprod((1.0 - beta)[::-1])[::-1][1:], [1.0]))[: beta.size]
    return beta * kept


def _pair(z: ArrayLike, direction: ArrayLike) -> tuple[Floats, Floats]:
    z_values, g = check.finite(z, "z", ndim=1), check.finite(direction, "direction", ndim=1)
    check.same_length(z=z_values, direction=g)
    return z_values, g


def _point_weights(weight: ArrayLike | None, m: int) -> Floats:
    if weight is None:
        return np.ones(m)
    own = check.finite(weight, "weight", minimum=0.0, ndim=1)
    if own.size != m:
        raise ValueError(f"weight must have one entry per point ({m}), got {own.size}")
    return own
