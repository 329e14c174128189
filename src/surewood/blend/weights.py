"""Weights of a mixture of classifiers, from their held-out probabilities (theory.md §12.3).

The mixture that minimises held-out log-loss is a convex problem with a unique optimum. The answer lies
between that optimum and the *chances*: the probability of each member to be the best one, given the noise of
the held-out rows. With many rows that is the best member; with few it is a mean of those that may be. The
answer is as far from the chances as the held-out gain exceeds its standard error, and at least half-way. By
convexity a point half-way loses at most the mean of what both ends lose, and the better end is not known
where rows are few.

Held-out rows on which a member is never wrong where the others are right do not say that it never will be. So
the optimum and the gain are those with one more row per member, which this member alone gets wrong ([D-45]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Codes, Floats

SMALLEST_WEIGHT = 0.02  # members below are dropped
LEAST_MOVE = 0.5  # part of the way from the chances to the optimal mixture, at least
_DRAWS = 2000  # of mean losses, to count which member is best
_FLOOR = 1e-15  # probabilities are not taken to be smaller than this
_STEPS = 2000
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class MixtureWeights:
    """Weights of the members and why they are what they are."""

    #: Not negative, summing to 1; 0 for a dropped member.
    weights: Floats
    #: Held-out log-loss of each member alone (ESTIMATE).
    log_loss: Floats
    #: Probability of each member to be the best one.
    chances: Floats
    #: The weights with the smallest log-loss on the held-out rows and one failure of each member.
    optimal: Floats
    #: Gain in log-loss of the optimal mixture over that of the chances, and its standard error.
    gain: float
    standard_error: float


def mixture_weights(
    probabilities: Sequence[ArrayLike] | Floats, y: Codes, sample_weight: Floats | None = None
) -> MixtureWeights:
    """Weights of the members of a mixture.

    Parameters
    ----------
    probabilities : array of shape (n_members, n_rows, n_classes)
        Probabilities of rows that the member did not train on.
    y : ndarray of int, shape (n_rows,)
        Class codes.
    sample_weight : ndarray of shape (n_rows,), optional

    Returns
    -------
    MixtureWeights

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> good = np.where(y == 1, 0.8, 0.2)
    >>> members = [np.column_stack([1 - p, p]) for p in (good, np.full(500, 0.5))]
    >>> mixture_weights(members, y).weights.round(2)
    array([1., 0.])
    """
    of_truth = np.stack(
        [np.asarray(p, dtype=np.float64)[np.arange(len(y)), y] for p in probabilities], axis=1
    )
    of_truth = np.maximum(of_truth, _FLOOR)
    mass = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    share = mass / mass.sum()
    loss = -(share @ np.log(of_truth))
    chances = chances_of_being_best(-np.log(of_truth), share)
    of_truth, mass = with_failures(of_truth, mass, np.shape(probabilities[0])[1])
    mass = mass / mass.sum()
    optimal = optimal_mixture(of_truth, mass)
    gains = np.log(of_truth @ optimal) - np.log(of_truth @ chances)
    gain = float(mass @ gains)
    error = float(np.sqrt(np.square(mass * (gains - gain)).sum()))
    moved = max(LEAST_MOVE, 1.0 - error / gain) if gain > 0 else LEAST_MOVE
    weights = (1.0 - moved) * chances + moved * optimal
    return MixtureWeights(_without_small(weights), loss, chances, optimal, gain, error)


def with_failures(of_truth: Floats, weight: Floats, n_classes: int) -> tuple[Floats, Floats]:
    """The rows and, for each member, one more that it alone gets wrong (the rule of succession).

    There the member gives the true class 1 / ((n + 1) K), as if one of n + 1 rows had any of the K classes,
    and the others are certain and right. It counts as one row, whatever the unit of the weights.

    Examples
    --------
    >>> truth, weight = with_failures(np.full((9, 2), 0.8), np.ones(9), n_classes=2)
    >>> truth[9:].round(2).tolist(), weight[9:].tolist()
    ([[0.05, 1.0], [1.0, 0.05]], [1.0, 1.0])
    """
    n_members, total = of_truth.shape[1], float(weight.sum())
    n_rows = max(total, float(len(weight)))  # weights may be counts, or shares that sum to 1
    failures = np.ones((n_members, n_members))
    np.fill_diagonal(failures, 1.0 / ((n_rows + 1.0) * n_classes))
    return np.vstack([of_truth, failures]), np.append(weight, np.full(n_members, total / n_rows))


def chances_of_being_best(losses: Floats, mass: Floats) -> Floats:
    """Probability of each member to have the smallest mean loss.

    Mean losses are taken to be normal with the covariance that the rows show; draws are always the same.

    Examples
    --------
    >>> losses = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0]])
    >>> chances_of_being_best(losses, np.array([0.5, 0.5])).round(1).tolist()
    [0.5, 0.5, 0.0]
    """
    mean = mass @ losses
    spread = mass[:, None] * (losses - mean)
    values, vectors = np.linalg.eigh(spread.T @ spread)
    normal = np.random.default_rng(0).standard_normal((_DRAWS, len(mean)))
    drawn = mean + (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.bincount(drawn.argmin(axis=1), minlength=len(mean)) / _DRAWS


def optimal_mixture(of_truth: Floats, mass: Floats) -> Floats:
    """Weights on the simplex that maximise the mean log of the mixture, by multiplicative steps.

    Each step keeps the weights on the simplex and never lowers the mean (it is one of the EM algorithm); the
    step ends where no member's slope exceeds 1, which is the optimum's own condition.
    """
    weights = np.full(of_truth.shape[1], 1.0 / of_truth.shape[1])
    for _ in range(_STEPS):
        slope = (mass / (of_truth @ weights)) @ of_truth
        weights = weights * slope
        weights /= weights.sum()
        if slope.max() <= 1.0 + _TOLERANCE:
            break
    return weights


def _without_small(weights: Floats) -> Floats:
    kept = np.where(weights < SMALLEST_WEIGHT, 0.0, weights)
    return np.asarray(kept / kept.sum())
