"""Margins of additive cascades: loss, weights, ratio (theory.md §4.3, §4.6, §4.7).

`margins` and `summed_margins` (4.2), `margin_loss` (4.3), `margin_weights` (4.4), `effective_sample_size`,
`margin_ratio` (4.6), `scatter_ratio` (4.8). The step size (4.5) is in `margin_step`, the stated theorem
(4.7), a HEURISTIC, in `margin_theorem`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats

from . import _arguments as check


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


def summed_margins(layer_margins: ArrayLike, alphas: ArrayLike) -> Floats:
    """Weighted sum of the layers' margins, a lower bound of the margin of the sum for alphas >= 0 (4.2).

    Examples
    --------
    >>> from surewood.bounds import summed_margins
    >>> summed_margins([[0.5, -0.5], [1.0, 0.5]], [0.5, 0.5]).tolist()
    [0.75, 0.0]
    """
    table = check.finite(layer_margins, "layer_margins", ndim=2)
    alpha = check.finite(alphas, "alphas", minimum=0.0, ndim=1)
    if alpha.size != table.shape[0]:
        raise ValueError(f"alphas must have one entry per layer ({table.shape[0]}), got {alpha.size}")
    return np.asarray(alpha @ table)


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
    own = None if weight is None else check.finite(weight, "weight", minimum=0.0, ndim=1)
    mean = float(np.average(values, weights=own))
    spread = math.sqrt(float(np.average((values - mean) ** 2, weights=own)))
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
