"""What the first few trees of a block tell: how good it will be, and how many trees it needs.

Blocks and layers are compared by held-out Brier loss after calibration with one exponent
(:func:`calibrated`): forests differ in how far their vectors are from 0 and 1, which the calibration of the
finished model removes. Unlike the log-loss it is finite where ten trees agree on a wrong class.

The class vector of a block is a mean over trees. Two halves of the trees differ only because each is finite,
so their difference measures the variance of the mean, row by row and without bias; this variance is exactly
what more trees can take off the Brier loss (:class:`FewTrees`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats

_LEAST_PROBABILITY = 1e-6
_LEAST_EXPONENT, _MOST_EXPONENT = 0.25, 8.0
_EXPONENT_STEPS = 12  # of a golden-section search: the logarithm of the exponent to 0.01
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def brier_loss(vectors: Floats, y: NDArray[np.int32]) -> Floats:
    """Squared distance of each row's class vector from its label's unit vector.

    Examples
    --------
    >>> brier_loss(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 1])).tolist()
    [0.0, 0.5]
    """
    true = vectors[np.arange(len(y)), y]
    return np.asarray((vectors**2).sum(axis=1) - 2.0 * true + 1.0)


def mean_and_error(values: Floats, weight: Floats | None = None) -> tuple[float, float]:
    """Weighted mean of the rows' values and its standard error.

    Examples
    --------
    >>> mean_and_error(np.array([0.0, 0.0, 1.0, 1.0]))
    (0.5, 0.25)
    """
    own = np.ones(len(values)) if weight is None else weight
    total = float(own.sum())
    mean = float((own * values).sum() / total)
    return mean, math.sqrt(float(((own * (values - mean)) ** 2).sum())) / total


def calibrated(vectors: Floats, y: NDArray[np.int32], weight: Floats | None = None) -> Floats:
    """The vectors to the power with the least mean Brier loss, rows summing to 1.

    Examples
    --------
    >>> vectors = np.array([[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [0.6, 0.4]])
    >>> calibrated(vectors, np.array([0, 0, 0, 1])).round(2)[0].tolist()
    [0.75, 0.25]
    """
    logarithms = np.log(np.maximum(vectors, _LEAST_PROBABILITY))
    logarithms -= logarithms.max(axis=1, keepdims=True)

    def raised(exponent: float) -> Floats:
        powers = np.exp(exponent * logarithms)
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def loss(place: float) -> float:
        return mean_and_error(brier_loss(raised(math.exp(place)), y), weight)[0]

    low, high = math.log(_LEAST_EXPONENT), math.log(_MOST_EXPONENT)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(left), loss(right)
    for _ in range(_EXPONENT_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(right)
    return raised(math.exp(left if at_left <= at_right else right))


def mixing_gain(
    before: Floats, added: Floats, y: NDArray[np.int32], weight: Floats | None = None
) -> tuple[float, float]:
    """By how much the best mixture with `added` lowers the mean Brier loss of `before`, and the loss's error.

    Both are calibrated first, so that a mixture gains by what it knows, not by being bolder. The second
    number is the standard error of the mean loss of `before`.

    Examples
    --------
    >>> y = np.array([0, 1, 0, 1])
    >>> gain, error = mixing_gain(np.full((4, 2), 0.5), np.eye(2)[y], y)
    >>> round(gain, 3), round(error, 3)
    (0.5, 0.0)
    """
    first, second = calibrated(before, y, weight), calibrated(added, y, weight)
    direction, residual = second - first, first.copy()
    residual[np.arange(len(y)), y] -= 1.0
    slope, _ = mean_and_error((residual * direction).sum(axis=1), weight)
    bend, _ = mean_and_error((direction**2).sum(axis=1), weight)
    _, error = mean_and_error((residual**2).sum(axis=1), weight)
    if slope >= 0.0:
        return 0.0, error
    mixed = min(1.0, -slope / bend)
    return -2.0 * mixed * slope - mixed**2 * bend, error


@dataclass(frozen=True)
class FewTrees:
    """Held-out vectors of a block with few trees."""

    #: Means over all trees so far. Shape (n_rows, n_classes).
    vectors: Floats
    #: Estimated variance of each of them that is due to the number of trees. Shape (n_rows,).
    variance: Floats
    #: Trees per forest and fold.
    n_trees: int

    @classmethod
    def of_halves(cls, first: Floats, second: Floats, n_first: int, n_second: int) -> FewTrees:
        """From the mean vectors of the first trees and of those after them.

        Examples
        --------
        >>> few = FewTrees.of_halves(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 5, 5)
        >>> few.vectors.tolist(), few.variance.tolist()
        ([[0.5, 0.5]], [0.5])
        """
        total = n_first + n_second
        vectors = (n_first * first + n_second * second) / total
        variance = ((first - second) ** 2).sum(axis=1) * (n_first * n_second / total**2)
        return cls(vectors, variance, total)

    def losses(self, y: NDArray[np.int32], weight: Floats | None) -> Floats:
        """Brier loss of every row after calibration."""
        return brier_loss(calibrated(self.vectors, y, weight), y)

    def trees_needed(
        self, y: NDArray[np.int32], weight: Floats | None, tolerance: float, n_folds: int
    ) -> int:
        """Trees per forest that bring the loss of new rows within `tolerance` standard errors of its limit.

        New rows get the mean over the trees of all folds.
        """
        _, error = mean_and_error(brier_loss(self.vectors, y) - self.variance, weight)
        excess, _ = mean_and_error(self.variance, weight)
        if excess <= 0.0 or error <= 0.0:
            return self.n_trees
        return math.ceil(self.n_trees * excess / (n_folds * tolerance * error))
