"""Bounds for leaves with real values, whose margins count (theory.md (2.10), §3.3).

`real_composite_bound` assembles (2.10) like (2.2); `real_cascade_bound` is (3.5) with the knapsack of §3.3,
or (2.10) with the constant 4. Why both hold: the ensemble bound behind Theorem 1 is uniform over the weights
:math:`\\alpha`, so thresholds :math:`\\theta_k=\\rho/\\alpha_k` may be chosen on the data as long as the
weights sum to at most 1; points with a margin below :math:`\\theta_k` are its margin errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats

from . import _arguments as check
from . import cascade, composite
from .real_leaves import real_leaf_term, real_leaf_terms, smallest_margins, switched_on_leaves
from .risk_bound import RiskBound, confidence_term


def real_composite_bound(
    margins: Sequence[ArrayLike],
    complexity: ArrayLike,
    *,
    n_classes: int,
    n_families: int,
    rho_inverse: float,
    delta: float = 0.05,
) -> RiskBound:
    """Bound for leaves with values in [0, 1] that sum to 1 over classes, rho fixed in advance (2.10).

    An extension of Theorem 1 by the same proof. The part `l_term` is what the budget on thresholds costs.

    Parameters
    ----------
    margins : sequence of arrays
        Margin of the training points of each leaf: score of the true class minus the best other, in [-1, 1].
    complexity : array of shape (n_leaves,)
        Bounds of the leaves' complexities for real values, such as :func:`product_rademacher` with
        ``values="binary_unit"``; the half root of one-hot leaves is not valid here.
    n_classes, n_families : int
        See :func:`composite_ensemble_term`; count the zero function as a family unless one contains it (any
        with a split does).
    rho_inverse, delta
        1/rho, and the probability that the bound fails.

    Examples
    --------
    >>> from surewood.bounds import real_composite_bound
    >>> leaves = [[0.5] * 900_000 + [0.01] * 10_000, [1.0] * 90_000]
    >>> bound = real_composite_bound(leaves, [1e-4, 1e-4], n_classes=2, n_families=6, rho_inverse=3)
    >>> round(bound.leaf_terms, 6), bound.l_term
    (0.0148, 0.0)
    """
    leaves, m = _leaf_margins(margins)
    c, charge = composite.leaf_charge(complexity, n_classes)
    inverse = check.inverse_rho(rho_inverse)[0]
    ensemble = composite.ensemble_terms(np.array([inverse]), m, n_families, c)
    return _threshold_bound(leaves, charge, m, inverse, float(ensemble[0]), delta, 2.0)


def real_cascade_bound(
    margins: Sequence[ArrayLike],
    complexity: ArrayLike,
    *,
    n_families: int,
    rho_inverse: float,
    delta: float = 0.05,
    thresholds: str = "smallest",
) -> RiskBound:
    """Bound for leaves with values in [-1, 1] and a rho fixed in advance (3.5), with the knapsack of §3.3.

    Parameters
    ----------
    margins : sequence of arrays
        ``y h_k(x)`` in [-1, 1] of the training points of each leaf.
    complexity : array of shape (n_leaves,)
        Bounds of the leaves' complexities, products counted with factor 2 (§1.3).
    n_families, rho_inverse, delta
        See :func:`cascade_theorem` and :meth:`LeafTheorem.at`.
    thresholds : {"smallest", "any"}
        ``smallest``: the smallest positive margin of each leaf, as printed; at most 20 active leaves.
        ``any``: the best threshold of each leaf, (2.10) with the constant 4.

    Examples
    --------
    >>> from surewood.bounds import real_cascade_bound
    >>> bound = real_cascade_bound([[0.5] * 900, [1.0] * 100], [0.01, 0.01], n_families=1, rho_inverse=3)
    >>> round(bound.leaf_terms, 6), bound.l_term
    (0.12, 0.0)
    """
    check.choice(thresholds, "thresholds", ("smallest", "any"))
    leaves, m = _leaf_margins(margins)
    charge = cascade.leaf_charge(complexity)
    _one_a_leaf(charge, leaves)
    inverse = check.inverse_rho(rho_inverse)[0]
    ensemble = float(cascade.ensemble_terms(np.array([inverse]), m, n_families, "theorem")[0])
    if thresholds == "any":
        return _threshold_bound(leaves, charge, m, inverse, ensemble, delta, 4.0)
    plus = np.array([np.count_nonzero(leaf > 0) for leaf in leaves]) / m
    smallest = smallest_margins(leaves)
    with np.errstate(divide="ignore", over="ignore"):  # theory.md [D-21]: 4 r_k / 0 is infinite
        weight = 1.0 / smallest
        scaled = np.where(smallest > 0, charge, np.inf) / np.where(smallest > 0, smallest, 1.0)
    gain = np.maximum(plus - scaled, 0.0)
    chosen = switched_on_leaves(gain, weight, inverse)
    return RiskBound(
        training_error=_training_error(leaves, m),
        leaf_terms=float(np.minimum(scaled, plus).sum()),
        l_term=float(gain[~chosen].sum()),
        ensemble_term=ensemble,
        confidence=confidence_term(m, check.confidence(delta), 4.0),
        rho_inverse=inverse,
        delta=delta,
    )


def _threshold_bound(
    leaves: list[Floats], charge: Floats, m: int, inverse: float, ensemble: float, delta: float, factor: float
) -> RiskBound:
    # theory.md (2.10): each leaf at its best threshold, then what the common budget 1/rho takes back
    _one_a_leaf(charge, leaves)
    free = sum(real_leaf_term(leaf, m, float(cost)).term for leaf, cost in zip(leaves, charge))
    shared = real_leaf_terms(leaves, m, charge, rho_inverse=inverse).total
    wrong = _training_error(leaves, m)
    return RiskBound(
        training_error=wrong,
        leaf_terms=max(0.0, free - wrong),
        l_term=max(0.0, shared - free),
        ensemble_term=ensemble,
        confidence=confidence_term(m, check.confidence(delta), factor),
        rho_inverse=inverse,
        delta=delta,
    )


def _training_error(leaves: list[Floats], m: int) -> float:
    return sum(int(np.count_nonzero(leaf <= 0)) for leaf in leaves) / m


def _leaf_margins(margins: Sequence[ArrayLike]) -> tuple[list[Floats], int]:
    leaves = [check.finite(leaf, "margins", minimum=-1.0, ndim=1) for leaf in margins]
    if any(leaf.size and leaf.max() > 1 for leaf in leaves):
        raise ValueError("margins must be in [-1, 1]")
    return leaves, check.count(sum(leaf.size for leaf in leaves), "number of margins", 1)


def _one_a_leaf(charge: Floats, leaves: list[Floats]) -> None:
    if charge.size != len(leaves):
        raise ValueError(f"complexity must have one entry per leaf ({len(leaves)}), got {charge.size}")
