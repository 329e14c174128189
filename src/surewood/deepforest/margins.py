"""The margin distribution: how a layer joins the additive score, and how the next layer is weighted.

**Step** (theory.md (4.1), (4.2), (4.5), [D-29]). :class:`AdditiveScore` is f_t with its margins; `first_step`
and `next_step` return a new one. The `mode` decides how a layer is added (in :func:`earlier_weight` alone):

* ``"simplex"``: f becomes (1 - β) f + β h, the α of the layers stay in the simplex;
* ``"literal"``: f + α h with α ≥ 0 as published;
* ``"capped"``: the same with α ≤ 1.

Margins are sums of layer margins (``"layer"``, the exact line search) or margins of the sum (``"of_sum"``).

**Reweighting** sends weight D to points with small margins. Where labels are noisy those points cannot be
classified, and a layer trained on them is worse than the first one. The rules are

========================  =======================================================================
``"literal"``             D ∝ loss, as published (4.4)
``"sample_size"``         D ∝ loss^τ, τ the largest in [0, 1] with 1 / ΣD² at least 0.8 m
``"none"``                D uniform
========================  =======================================================================
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.bounds import effective_sample_size, margin_loss, margin_of_sum_step, margin_step, margins


@dataclass(frozen=True)
class StepRule:
    """How a layer's weight is found."""

    mode: str = "simplex"
    margins: str = "layer"
    theta: float = 0.8
    mu_loss: float = 0.05


@dataclass(frozen=True)
class AdditiveScore:
    """f_t on some points, with the margins z_t that the loss sees."""

    #: Shape (m, n_classes).
    scores: Floats
    #: Shape (m,).
    z: Floats
    #: Weight of each layer in `scores`.
    alphas: tuple[float, ...]
    #: The last layer's step (β in simplex mode).
    step: float


def class_margins(vectors: Floats, y: Codes) -> Floats:
    """(4.2); with a single class every point has margin 1."""
    return np.ones(len(y)) if vectors.shape[1] < 2 else margins(vectors, y)


def first_step(vectors: Floats, y: Codes, rule: StepRule, weight: Floats | None) -> AdditiveScore:
    """The first layer: weight 1 in simplex mode, else the step from nothing."""
    gamma = class_margins(vectors, y)
    alpha = 1.0
    if rule.mode != "simplex":
        alpha = _step(np.zeros_like(vectors), vectors, np.zeros(len(y)), gamma, y, rule, weight)
        if alpha <= 0.0:
            warnings.warn(
                "the first layer's mean margin is not positive: its weight is set to 1.",
                UserWarning,
                stacklevel=2,
            )
            alpha = 1.0
    return AdditiveScore(alpha * vectors, alpha * gamma, (alpha,), alpha)


def next_step(
    before: AdditiveScore, vectors: Floats, y: Codes, rule: StepRule, weight: Floats | None
) -> AdditiveScore:
    """Add a layer."""
    gamma = class_margins(vectors, y)
    if rule.mode == "simplex":  # a step along h - f, at most 1
        step = _step(before.scores, vectors - before.scores, before.z, gamma - before.z, y, rule, weight)
    else:
        step = _step(before.scores, vectors, before.z, gamma, y, rule, weight)
    scores = add_layer(before.scores, vectors, step, rule.mode)
    z = class_margins(scores, y) if rule.margins == "of_sum" else add_layer(before.z, gamma, step, rule.mode)
    return AdditiveScore(scores, z, add_weight(before.alphas, step, rule.mode), step)


def earlier_weight(step: float, mode: str) -> float:
    """The factor of everything before a layer that is added with this step ([D-29])."""
    return 1.0 - step if mode == "simplex" else 1.0


def add_layer(scores: Floats, vectors: Floats, step: float, mode: str) -> Floats:
    """What :func:`next_step` does to the scores of other points."""
    return earlier_weight(step, mode) * scores + step * vectors


def add_weight(alphas: tuple[float, ...], step: float, mode: str) -> tuple[float, ...]:
    """Weights of all layers in the sum, once a layer with this step has been added.

    Examples
    --------
    >>> add_weight((1.0,), 0.25, "simplex"), add_weight((1.0,), 0.25, "literal")
    ((0.75, 0.25), (1.0, 0.25))
    """
    keep = earlier_weight(step, mode)
    return (*(keep * alpha for alpha in alphas), step)


def _step(
    scores: Floats,
    direction: Floats,
    z: Floats,
    margin_direction: Floats,
    y: Codes,
    rule: StepRule,
    weight: Floats | None,
) -> float:
    largest = math.inf if rule.mode == "literal" else 1.0
    if rule.margins == "layer" or scores.shape[1] < 2:
        return margin_step(
            z, margin_direction, theta=rule.theta, mu_loss=rule.mu_loss, alpha_max=largest, weight=weight
        )
    if math.isinf(largest):
        largest = _bracket(scores, direction, y, rule)
    return margin_of_sum_step(
        scores, direction, y, theta=rule.theta, mu_loss=rule.mu_loss, alpha_max=largest, weight=weight
    )


def _bracket(scores: Floats, direction: Floats, y: Codes, rule: StepRule) -> float:
    """A step to search below: where doubling stops lowering the loss."""
    upper, before = 1.0, math.inf
    for _ in range(60):
        here = margins(scores + upper * direction, y)
        value = float(margin_loss(here, theta=rule.theta, mu_loss=rule.mu_loss).mean())
        if value >= before:
            break
        upper, before = 2.0 * upper, value
    return upper


REWEIGHTING = ("literal", "sample_size", "none")
_LEAST_SAMPLE = 0.8  # effective sample size of "sample_size", as a fraction of the points


def layer_weights(
    z: Floats, rule: str, *, theta: float, mu_loss: float, weight: Floats | None = None
) -> Floats | None:
    """Weights of the next layer, mean 1, or None for equal ones.

    Parameters
    ----------
    z : ndarray of float64, shape (m,)
        Margins so far.
    rule : {"literal", "sample_size", "none"}
    theta, mu_loss : float
        Of the loss (4.3).
    weight : ndarray of float64, shape (m,), optional
        The points' own weights; they multiply.

    Examples
    --------
    >>> layer_weights(np.array([0.35, 0.7, 0.35]), "literal", theta=0.7, mu_loss=0.05).tolist()
    [1.5, 0.0, 1.5]
    >>> layer_weights(np.array([0.7, 0.7]), "literal", theta=0.7, mu_loss=0.05) is None
    True
    """
    loss = margin_loss(z, theta=theta, mu_loss=mu_loss)
    point_weight = np.ones(len(z)) if weight is None else weight
    if rule == "none" or float((point_weight * loss).sum()) <= 0.0:  # no loss left: uniform
        return weight
    if rule == "sample_size":
        loss = _power(loss, _largest_exponent(loss, point_weight))
    weights = point_weight * loss
    return np.asarray(weights / weights.mean())


def _largest_exponent(loss: Floats, point_weight: Floats) -> float:
    """Bisection: the effective sample size falls as the exponent grows."""
    least = _LEAST_SAMPLE * effective_sample_size(point_weight)
    if effective_sample_size(point_weight * loss) >= least:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        fits = effective_sample_size(point_weight * _power(loss, middle)) >= least
        low, high = (middle, high) if fits else (low, middle)
    return low


def _power(loss: Floats, exponent: float) -> Floats:
    return np.ones_like(loss) if exponent == 0.0 else loss**exponent
