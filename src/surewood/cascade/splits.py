"""Which points a node passes on: the fraction nearest to its decision boundary (theory.md §3.6, [D-23]).

`as_fractions` reads fractions as exact rationals, `points_to_continue` rounds a fraction of a sample, `cut`
finds the points that go on and the threshold that sends them there, `counts_to_continue` their number for
many fractions at once.

Near-ties [D-41]: a decision value computed in training and the same value computed in prediction differ by
rounding, about 1e-13 of the largest value. Points whose distances differ by less than `NEAR_TIE` of the
largest distance therefore stay together, and a threshold always lies in a gap wider than that: a training
point takes the same way in prediction as in training. `near_tie` gives the width, `settled` treats decision
values that are this close to zero (or class scores this close to the best one) as exact ties.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from surewood._arrays import Counts, Floats

NEAR_TIE = 1e-9  # relative


class Cut(NamedTuple):
    """How many points (nearest first) go on, and the distance up to which a point does."""

    n_points: int
    threshold: float


#: Exact, ascending, without repeats.
Fractions: TypeAlias = tuple[Fraction, ...]


def as_fractions(values: Any) -> Fractions:
    """Fractions in (0, 1] as written in decimals, ascending and without repeats.

    Examples
    --------
    >>> as_fractions([0.3, 0.1])
    (Fraction(1, 10), Fraction(3, 10))
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"fractions must be a list of numbers in (0, 1], got {values!r}.")
    exact = set()
    for value in values:
        if isinstance(value, Fraction):
            fraction = value
        elif isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
            if not math.isfinite(value):
                raise ValueError(f"fractions must be a list of numbers in (0, 1], got {values!r}.")
            fraction = Fraction(repr(float(value)))
        else:
            raise TypeError(f"fractions must be a list of numbers in (0, 1], got {values!r}.")
        if not 0 < fraction <= 1:
            raise ValueError(f"fractions must be a list of numbers in (0, 1], got {values!r}.")
        exact.add(fraction)
    return tuple(sorted(exact))


def points_to_continue(fraction: Fraction, total: float) -> float:
    """The weight that is to go on: rounded half up for whole totals, the exact fraction otherwise.

    Examples
    --------
    >>> points_to_continue(Fraction(3, 10), 5), points_to_continue(Fraction(1, 10), 4)
    (2, 0)
    """
    if float(total).is_integer():
        return (2 * fraction.numerator * int(total) + fraction.denominator) // (2 * fraction.denominator)
    return float(fraction) * total


def near_tie(values: Floats) -> float:
    """Differences up to this are ties among `values` [D-41]: 1e-9 of the largest finite magnitude."""
    finite = np.abs(values[np.isfinite(values)])
    return NEAR_TIE * float(finite.max(initial=0.0))


def settled(scores: Floats, width: float) -> Floats:
    """Scores without near-ties: a decision value within `width` of 0 is 0; a class score within `width` of
    the row's best one is the best one.

    Examples
    --------
    >>> settled(np.array([1e-15, 2.0]), 1e-9).tolist()
    [0.0, 2.0]
    >>> settled(np.array([[0.5, 0.5 + 1e-15, 0.1]]), 1e-9).argmax(axis=1)
    array([0])
    """
    if width <= 0.0:
        return scores
    if scores.ndim == 1:
        return np.where(np.abs(scores) <= width, 0.0, scores)
    best = scores.max(axis=1, keepdims=True)
    return np.where(scores >= best - width, best, scores)


def cut(distance: Floats, running_weight: Floats, wanted: float) -> Cut:
    """The points that go on when at least `wanted` weight is to, ties included.

    Parameters
    ----------
    distance : ndarray
        Ascending distances of a node's points.
    running_weight : ndarray
        Cumulative weight in this order.
    wanted : float
        See :func:`points_to_continue`; nothing goes on when it is 0.

    Returns
    -------
    Cut
        The threshold is the midpoint to the next larger distance, infinite when there is none.

    Examples
    --------
    >>> distance = np.array([0.5, 1.0, 1.0, 2.0])
    >>> cut(distance, np.arange(1.0, 5.0), 2)
    Cut(n_points=3, threshold=1.5)
    """
    count = int(counts_to_continue(distance, running_weight, np.array([wanted]))[0])
    if count == 0:
        return Cut(0, -math.inf)
    if count == len(distance):
        return Cut(count, math.inf)
    low, high = float(distance[count - 1]), float(distance[count])
    if math.isinf(low):
        return Cut(count, low)
    if math.isinf(high):
        return Cut(count, low + max(1.0, abs(low)))
    return Cut(count, low + (high - low) / 2.0)


def counts_to_continue(distance: Floats, running_weight: Floats, wanted: Floats) -> Counts:
    """How many points go on for each wanted weight, ties included; arguments as in :func:`cut`."""
    # Sums of fractional weights carry rounding; half a billionth of the total cannot hide a whole point.
    slack = 1e-9 * running_weight[-1]
    last = np.minimum(running_weight.searchsorted(wanted - slack), len(distance) - 1)
    with np.errstate(invalid="ignore"):  # equal infinities are a tie
        is_gap = np.diff(distance) > near_tie(distance)
    group_end = np.append(np.flatnonzero(is_gap) + 1, len(distance))
    count = group_end[group_end.searchsorted(last + 1)]
    return np.where(wanted > 0, count, 0)
