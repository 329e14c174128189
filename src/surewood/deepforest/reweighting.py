"""Weights of the next layer: the literal rule (4.4) and remedies for noisy labels.

Reweighting sends weight to points with small margins. Where labels are noisy those points cannot be
classified, and a layer trained on them is worse than the first one. A :class:`WeightRule` is one of

========================  =======================================================================
``"literal"``             D ∝ loss, as published (4.4)
``"tempered"``            D ∝ loss^strength
``"sample_size"``         D ∝ loss^τ, τ the largest in [0, 1] with 1 / ΣD² at least strength · m
``"below_target"``        D ∝ loss of points below the target, all others like the target's rim
``"mixed"``               D = (1 - strength) · literal + strength · uniform
``"none"``                D uniform
========================  =======================================================================

and ``"chosen"`` (in `margin_growth`) takes the best τ of "tempered" by held-out accuracy at the second layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surewood._arrays import Floats
from surewood.bounds import effective_sample_size, margin_loss

#: Default strength of each rule.
STRENGTHS = {
    "literal": 1.0,
    "tempered": 0.5,
    "sample_size": 0.8,
    "below_target": 1.0,
    "mixed": 0.5,
    "none": 0.0,
    "chosen": 1.0,
}
#: Exponents that "chosen" tries.
CHOICES = (0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class WeightRule:
    """A rule of the table above and its strength."""

    kind: str = "literal"
    strength: float = 1.0


def layer_weights(
    z: Floats, rule: WeightRule, *, theta: float, mu_loss: float, weight: Floats | None = None
) -> Floats | None:
    """Weights of the next layer, mean 1, or None for equal ones.

    Parameters
    ----------
    z : ndarray of float64, shape (m,)
        Margins so far.
    rule : WeightRule
    theta, mu_loss : float
        Of the loss (4.3).
    weight : ndarray of float64, shape (m,), optional
        The points' own weights; they multiply.

    Examples
    --------
    >>> layer_weights(np.array([0.35, 0.7, 0.35]), WeightRule(), theta=0.7, mu_loss=0.05).tolist()
    [1.5, 0.0, 1.5]
    >>> layer_weights(np.array([0.7, 0.7]), WeightRule(), theta=0.7, mu_loss=0.05) is None
    True
    """
    loss = margin_loss(z, theta=theta, mu_loss=mu_loss)
    if rule.kind == "below_target":
        loss = np.where(z < theta, loss, 0.0)
    own = np.ones(len(z)) if weight is None else weight
    if rule.kind == "none" or float((own * loss).sum()) <= 0.0:  # no loss left: uniform
        return weight
    if rule.kind == "sample_size":
        exponent = _largest_exponent(loss, own, rule.strength)
        return _mean_one(own * _power(loss, exponent))
    if rule.kind == "mixed":
        literal = _mean_one(own * loss)
        return np.asarray((1.0 - rule.strength) * literal + rule.strength * own / own.mean())
    if rule.kind in ("tempered", "chosen"):
        return _mean_one(own * _power(loss, rule.strength))
    return _mean_one(own * loss)


def _largest_exponent(loss: Floats, own: Floats, fraction: float) -> float:
    """Bisection: the effective sample size falls as the exponent grows."""
    least = fraction * effective_sample_size(own)
    if effective_sample_size(own * loss) >= least:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        fits = effective_sample_size(own * _power(loss, middle)) >= least
        low, high = (middle, high) if fits else (low, middle)
    return low


def _power(loss: Floats, exponent: float) -> Floats:
    return np.ones_like(loss) if exponent == 0.0 else loss**exponent


def _mean_one(weight: Floats) -> Floats:
    return np.asarray(weight / weight.mean())
