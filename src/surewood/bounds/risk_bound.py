"""A risk bound with its parts, and the closed minimum over leaves both papers share (theory.md §2.2).

`LeafTheorem` is Theorem 1 of either paper before rho and delta are known; its forms give `RiskBound`s.
`RiskBound` keeps training error, leaf terms, L-term, ensemble term and confidence apart. `leaf_terms`,
`active_leaves` and `l_term` work on fractions of the sample and on `charge`, the constant times the
complexity: 8 c r_k for composite trees, 4 r_k for cascades.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Floats, Mask

from . import _arguments as check


@dataclass(frozen=True)
class RiskBound:
    """The parts of a bound on the risk; `total` is their sum and `value` is capped at 1.

    Examples
    --------
    >>> from surewood.bounds import RiskBound
    >>> bound = RiskBound(0.1, 0.2, 0.0, 0.25, 0.05, rho_inverse=2.0, delta=0.05)
    >>> round(bound.value, 12)
    0.6
    """

    training_error: float
    leaf_terms: float
    l_term: float
    ensemble_term: float
    confidence: float
    rho_inverse: float
    delta: float
    proved: bool = True

    @property
    def total(self) -> float:
        """Sum of the parts, above 1 when the bound says nothing."""
        parts = (self.training_error, self.leaf_terms, self.l_term, self.ensemble_term, self.confidence)
        return math.fsum(parts)

    @property
    def value(self) -> float:
        """The bound, at most 1."""
        return min(1.0, self.total)

    def decomposition(self) -> dict[str, float]:
        """Return the parts by name, in the order of the formula."""
        return {
            "training error": self.training_error,
            "leaf terms": self.leaf_terms,
            "L-term": self.l_term,
            "C": self.ensemble_term,
            "confidence": self.confidence,
        }


def active_leaves(correct: ArrayLike, charge: ArrayLike) -> Mask:
    """Leaves whose complexity side is the smaller one, ``correct > charge`` strictly (the set K of §2.2).

    Examples
    --------
    >>> from surewood.bounds.risk_bound import active_leaves
    >>> active_leaves([0.30, 0.05], [0.10, 0.09]).tolist()
    [True, False]
    """
    plus, cost = _leaf_arrays(correct, charge)
    return np.asarray(plus > cost)


def leaf_terms(correct: ArrayLike, charge: ArrayLike) -> Floats:
    """``min(charge_k, m_k+/m)`` of every leaf.

    Examples
    --------
    >>> from surewood.bounds.risk_bound import leaf_terms
    >>> leaf_terms([0.30, 0.05], [0.10, 0.09]).tolist()
    [0.1, 0.05]
    """
    plus, cost = _leaf_arrays(correct, charge)
    return np.minimum(plus, cost)


def l_term(correct: ArrayLike, charge: ArrayLike, *, rho_inverse: float) -> float:
    """Cost of the active leaves that do not fit into the weight 1: the smallest excesses summed (2.3).

    Parameters
    ----------
    correct : array of shape (n_leaves,)
        Correctly classified fraction of the whole sample at each leaf, ``m_k+/m``.
    charge : array of shape (n_leaves,)
        Constant times complexity of each leaf.
    rho_inverse : float
        1/rho, preferably an integer.

    Examples
    --------
    >>> from surewood.bounds import l_term
    >>> round(l_term([.30, .25, .20, .05], [.10, .15, .18, .09], rho_inverse=2), 12)
    0.02
    """
    _, kept = check.inverse_rho(rho_inverse)
    excess = _sorted_excess(correct, charge)
    return float(excess[: max(0, excess.size - kept)].sum())


def _leaf_arrays(correct: ArrayLike, charge: ArrayLike) -> tuple[Floats, Floats]:
    plus = np.atleast_1d(check.unit(correct, "correct"))
    cost = np.atleast_1d(np.asarray(charge, dtype=np.float64))
    if np.isnan(cost).any() or (cost.size and cost.min() < 0):
        raise ValueError("charge must be >= 0 and not NaN")
    check.same_length(correct=plus, charge=cost)
    return plus, cost


def _sorted_excess(correct: ArrayLike, charge: ArrayLike) -> Floats:
    plus, cost = _leaf_arrays(correct, charge)
    active = plus > cost
    return np.sort(plus[active] - cost[active])


@dataclass(frozen=True)
class LeafTheorem:
    """Theorem 1 of either paper, (2.2) or (3.2), with everything filled in but rho and delta.

    Made by :func:`composite_theorem` and :func:`cascade_theorem`; the methods fill in the rest.

    Examples
    --------
    >>> from surewood.bounds import composite_theorem
    >>> leaves = [600_000, 390_000], [5_000, 5_000], [1e-4, 1e-4]
    >>> theorem = composite_theorem(*leaves, n_classes=2, n_families=4)
    >>> round(theorem.at(rho_inverse=2).value, 4), theorem.uniform(max_rho_inverse=4).rho_inverse
    (0.0333, 2.0)
    """

    #: Size of the sample.
    m: int
    training_error: float
    #: Correct fraction of the sample, per leaf.
    correct: Floats
    #: Constant times complexity, per leaf.
    charge: Floats
    #: The term C for an array of values of 1/rho.
    ensemble_terms: Callable[[Floats], Floats]
    #: 2 or 4, inside the root of the confidence term.
    confidence_factor: float
    #: False where a printed formula is evaluated that the theorem does not give.
    proved: bool = True

    def at(self, *, rho_inverse: float, delta: float = 0.05) -> RiskBound:
        """The bound at a rho fixed in advance, which fails with probability `delta` at most.

        Examples
        --------
        >>> from surewood.bounds import cascade_theorem
        >>> theorem = cascade_theorem([600_000, 390_000], [5_000, 5_000], [1e-3, 1e-3], n_families=4)
        >>> round(theorem.at(rho_inverse=2).value, 4)
        0.0406
        """
        inverse, kept = check.inverse_rho(rho_inverse)
        excess = _sorted_excess(self.correct, self.charge)
        return self._bound(
            float(excess[: max(0, excess.size - kept)].sum()),
            float(self.ensemble_terms(np.array([inverse]))[0]),
            confidence_term(self.m, check.confidence(delta), self.confidence_factor),
            inverse,
            delta,
        )

    def uniform(self, *, max_rho_inverse: int, delta: float = 0.05) -> RiskBound:
        """Smallest of the bounds at rho = 1/j, j = 1..J, each at delta/(j(j+1)) (2.6, [D-07]).

        J = `max_rho_inverse` is fixed in advance: the largest number of leaves that the tree may have. Beyond
        the number of active leaves the L-term stays 0 and only the other terms grow (until the bound is above
        1 anyway), so larger j need not be tried.
        """
        largest, delta = check.count(max_rho_inverse, "max_rho_inverse", 1), check.confidence(delta)
        excess = _sorted_excess(self.correct, self.charge)
        j = np.arange(1, min(largest, max(1, excess.size)) + 1)
        running = np.concatenate(([0.0], np.cumsum(excess)))
        l_terms = running[np.maximum(0, excess.size - j)]
        ensemble = self.ensemble_terms(j.astype(np.float64))
        log_split = np.log(self.confidence_factor * j * (j + 1.0))
        confidence = np.sqrt((log_split - math.log(delta)) / (2.0 * self.m))
        best = int(np.argmin(l_terms + ensemble + confidence))
        return self._bound(
            float(l_terms[best]), float(ensemble[best]), float(confidence[best]), float(j[best]), delta
        )

    def simple(self, *, delta: float = 0.05) -> RiskBound:
        """The simple forms (2.5) and (3.4), with the price of choosing rho on the data (§2.4).

        rho is the largest 2^-k at which the L-term vanishes (at least half of ``1/|K|``).

        Each k >= 1 fails with probability (delta/2)/k^2 at most, together below delta; splitting the root
        leaves sqrt(log k / m) beside the confidence term at delta/2.
        """
        n_active = int(active_leaves(self.correct, self.charge).sum())
        k = max(1, (max(n_active, 1) - 1).bit_length())
        bound = self.at(rho_inverse=2**k, delta=check.confidence(delta) / 2.0)
        return replace(bound, confidence=bound.confidence + math.sqrt(math.log(k) / self.m), delta=delta)

    def _bound(
        self, l_part: float, ensemble: float, confidence: float, rho_inverse: float, delta: float
    ) -> RiskBound:
        return RiskBound(
            training_error=float(self.training_error),
            leaf_terms=float(leaf_terms(self.correct, self.charge).sum()),
            l_term=l_part,
            ensemble_term=ensemble,
            confidence=confidence,
            rho_inverse=rho_inverse,
            delta=delta,
            proved=self.proved,
        )


def confidence_term(m: int, delta: float, factor: float) -> float:
    """``sqrt(log(factor/delta) / (2m))``."""
    return math.sqrt((math.log(factor) - math.log(delta)) / (2.0 * m))


def leaf_fractions(correct: ArrayLike, errors: ArrayLike) -> tuple[int, float, Floats]:
    """Sample size, training error and correct fractions from integer counts over leaves."""
    plus, minus = check.counts(correct, "correct"), check.counts(errors, "errors")
    check.same_length(correct=plus, errors=minus)
    if plus.size == 0:
        raise ValueError("correct must have at least one leaf")
    m = check.count(int(plus.sum() + minus.sum()), "m", 1)
    return m, int(minus.sum()) / m, plus / m
