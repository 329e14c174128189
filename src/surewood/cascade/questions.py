"""Who goes on at a node: the share of its points nearest to the boundary (theory.md §3.6, [D-23]).

`as_fractions` reads the shares as exact rationals, `points_to_continue` rounds a share of a sample, `cut`
finds the points that go on and the threshold that sends them there, `counts_to_continue` their number for
many shares at once.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats


class Cut(NamedTuple):
    """How many points (nearest first) go on, and the distance up to which a point does."""

    count: int
    threshold: float


def as_fractions(values: Iterable[float]) -> tuple[Fraction, ...]:
    """Shares in (0, 1] as written in decimals, ascending and without repeats.

    Examples
    --------
    >>> as_fractions([0.3, 0.1])
    (Fraction(1, 10), Fraction(3, 10))
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"fractions must be a list of numbers in (0, 1], got {values!r}.")
    exact = set()
    for value in values:
        if isinstance(value, Fraction):
            share = value
        elif isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value):
            share = Fraction(repr(float(value)))
        else:
            raise ValueError(f"fractions must be numbers in (0, 1], got {value!r}.")
        if not 0 < share <= 1:
            raise ValueError(
                f"fractions must lie in (0, 1]: {value!r} of a node's points cannot go on to the next node."
            )
        exact.add(share)
    return tuple(sorted(exact))


def points_to_continue(share: Fraction, total: float) -> float:
    """The weight that is to go on: rounded half up for whole totals, the plain share otherwise.

    Examples
    --------
    >>> points_to_continue(Fraction(3, 10), 5), points_to_continue(Fraction(1, 10), 4)
    (2, 0)
    """
    if float(total).is_integer():
        return (2 * share.numerator * int(total) + share.denominator) // (2 * share.denominator)
    return float(share) * total


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
    Cut(count=3, threshold=1.5)
    """
    count = int(counts_to_continue(distance, running_weight, np.array([wanted]))[0])
    if count == 0:
        return Cut(0, -math.inf)
    if count == len(distance):
        return Cut(count, math.inf)
    low, high = float(distance[count - 1]), float(distance[count])
    middle = low + (high - low) / 2.0
    # Between neighbouring floats the midpoint may round up to the next distance, which must not go on.
    return Cut(count, middle if middle < high else low)


def counts_to_continue(distance: Floats, running_weight: Floats, wanted: Floats) -> NDArray[np.int64]:
    """How many points go on for each wanted weight, ties included; arguments as in :func:`cut`."""
    # Sums of fractional weights carry rounding; half a billionth of the total cannot hide a whole point.
    slack = 1e-9 * running_weight[-1]
    last = np.minimum(running_weight.searchsorted(wanted - slack), len(distance) - 1)
    count = distance.searchsorted(distance[last], side="right")
    return np.where(wanted > 0, count, 0)
