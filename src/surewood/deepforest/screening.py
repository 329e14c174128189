"""Confidence screening: easy points stop early, in training and in prediction alike (theory.md §5).

The confidence of a point at a layer is the largest entry of the layer's mean vector. `automatic_gate` finds
the confidence from which points may stop; `stopping_points` applies a gate without emptying a class.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats


def automatic_gate(vectors: Floats, y: NDArray[np.int32], factor: float = 3.0) -> float:
    """The smallest confidence such that points at or above it are right more often than required.

    Required is an accuracy of 1 - (1 - acc) / factor, acc being that of all the points. Points are taken in
    decreasing order of confidence; the gate is the confidence of the last one of the longest prefix whose
    accuracy exceeds the requirement, infinite if there is none. Points of equal confidence stop together, so
    a prefix ends only where the confidence changes.

    Examples
    --------
    >>> vectors = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> automatic_gate(vectors, np.array([0, 0, 1, 1]))
    0.7
    """
    confidence = vectors.max(axis=1)
    right = (vectors.argmax(axis=1) == y).astype(np.float64)
    required = 1.0 - (1.0 - float(right.mean())) / factor
    order = np.argsort(-confidence, kind="stable")
    accuracy = np.cumsum(right[order]) / np.arange(1, len(y) + 1)
    ends = np.append(np.diff(confidence[order]) != 0, True)
    fits = np.flatnonzero(ends & (accuracy > required))
    return float(confidence[order[fits[-1]]]) if len(fits) else math.inf


def stopping_points(
    vectors: Floats, y: NDArray[np.int32], gate: float, least_a_class: int, n_classes: int
) -> NDArray[np.bool_]:
    """Which of the training points in play stop at this layer.

    At least `least_a_class` points of every class that still has as many stay in play: the least confident
    ones.

    Examples
    --------
    >>> vectors = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> stopping_points(vectors, np.array([0, 0, 1, 1]), gate=0.7, least_a_class=1, n_classes=2).tolist()
    [True, False, True, False]
    """
    confidence = vectors.max(axis=1)
    stops = np.asarray(confidence >= gate)
    for code in range(n_classes):
        members = np.flatnonzero(y == code)
        least_confident = members[np.argsort(confidence[members], kind="stable")[:least_a_class]]
        stops[least_confident] = False
    return stops
