"""Axes of charts: ranges that use their space, round ticks, and tick labels of which no two are equal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from surewood.report.words import number

__all__ = ["Axis", "fitted_axis", "nice_ticks", "tick_labels"]

Kind = Literal["number", "percent", "log", "none"]
_MAX_DIGITS = 8


@dataclass(frozen=True)
class Axis:
    """Range, kind and title of an axis.

    Examples
    --------
    >>> Axis(0.0, 0.5, "percent").ticks()
    [(0.0, '0 %'), (0.1, '10 %'), (0.2, '20 %'), (0.30000000000000004, '30 %'), (0.4, '40 %'), (0.5, '50 %')]
    """

    #: Ends of the axis.
    low: float
    high: float
    #: "percent": values are fractions; "log": values are positive; "none": no ticks.
    kind: Kind = "number"
    title: str = ""
    #: Ticks at whole numbers only.
    whole: bool = False

    def place(self, value: float) -> float:
        """Position of a value: 0 at the low end, 1 at the high end."""
        if self.kind == "log":
            low, high, value = (math.log(max(v, 1e-300)) for v in (self.low, self.high, value))
        else:
            low, high = self.low, self.high
        return (value - low) / (high - low) if high > low else 0.5

    def ticks(self, count: int = 6) -> list[tuple[float, str]]:
        """Positions and labels of the ticks, at most about `count`."""
        if self.kind == "none":
            return []
        if self.kind == "log":
            values = _log_ticks(self.low, self.high)
        else:
            values = nice_ticks(self.low, self.high, count, whole=self.whole)
        return list(zip(values, tick_labels(values, percent=self.kind == "percent")))


def fitted_axis(
    values: Iterable[float | None],
    kind: Kind = "number",
    title: str = "",
    *,
    include: Sequence[float] = (),
    limits: tuple[float, float] | None = None,
    margin: float = 0.06,
    whole: bool = False,
) -> Axis:
    """An axis that just holds the values.

    Parameters
    ----------
    values : iterable of float
        What is not finite is left out.
    kind, title
        Of :class:`Axis`.
    include : sequence of float
        More values that the axis must hold, such as 0.
    limits : tuple, optional
        The axis never goes beyond these, such as (0, 1).
    margin : float
        Room at both ends, as a fraction of the range.
    whole : bool
        Ticks at whole numbers only.

    Examples
    --------
    >>> axis = fitted_axis([0.81, 0.84], "percent", limits=(0, 1))
    >>> round(axis.low, 3), round(axis.high, 3)
    (0.808, 0.842)
    """
    known = [float(v) for v in (*values, *include) if v is not None and math.isfinite(v)]
    if kind == "log":
        known = [v for v in known if v > 0]
    if not known:
        return Axis(*(limits or ((1.0, 10.0) if kind == "log" else (0.0, 1.0))), kind, title, whole)
    low, high = min(known), max(known)
    if kind == "log":
        ratio = max((high / low) ** margin, 1.25)
        return Axis(low / ratio, high * ratio, kind, title)
    room = abs(low) * 0.5 or 0.5 if low == high else margin * (high - low)
    low, high = low - room * (low not in include), high + room * (high not in include)
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    return Axis(low, high if high > low else low + 1.0, kind, title, whole)


def nice_ticks(low: float, high: float, count: int = 6, *, whole: bool = False) -> list[float]:
    """Round values between two ends.

    Examples
    --------
    >>> nice_ticks(0.0, 10.0), nice_ticks(1.0, 3.0, whole=True)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0])
    """
    if not high > low:
        return [low]
    raw = (high - low) / max(1, count - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= raw * 0.999)
    if math.floor(high / step) - math.ceil(low / step) < 2:  # fewer than three ticks say little
        step /= 2
    if whole:
        step = max(1.0, round(step))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with 2 and 5 between them where there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors: tuple[int, ...] = (1,) if last - first > 4 else (1, 3) if last - first > 2 else (1, 2, 5)
    found = [f * 10.0**k for k in range(first, last + 1) for f in factors]
    found = [value for value in found if low <= value * 1.0001 and value <= high * 1.0001]
    while len(found) > 7:
        found = found[::2]
    return found or [low]


def tick_labels(values: Sequence[float], *, percent: bool = False) -> list[str]:
    """Labels with as few digits as tell the values apart.

    Examples
    --------
    >>> tick_labels([0.0, 0.001, 0.002], percent=True), tick_labels([1000.0, 2000.0])
    (['0 %', '0.1 %', '0.2 %'], ['1,000', '2,000'])
    """
    shown = [100 * v if percent else v for v in values]
    if any(v and not 1e-4 <= abs(v) < 1e7 for v in shown) and not percent:
        return [number(float(v)) if v else "0" for v in shown]
    gap = min((abs(b - a) for a, b in pairwise(shown)), default=abs(shown[0]) if shown else 1.0)
    for digits in range(_MAX_DIGITS):
        exact = all(abs(round(v, digits) - v) <= 1e-3 * gap for v in shown)
        if exact or digits == _MAX_DIGITS - 1:
            break
    logarithmic = len(shown) > 2 and shown[0] > 0 and shown[-1] / shown[0] > 50
    texts = [f"{v:,.4g}" if logarithmic else f"{v:,.{digits}f}" if round(v, digits) else "0" for v in shown]
    return [f"{text} %" if percent else text for text in texts]
