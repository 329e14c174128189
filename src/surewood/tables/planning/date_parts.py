"""The numbers that a date becomes; none depends on the sample, so a later table gets the same ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

_DAY = pd.Timedelta(days=1)
_MICROSECONDS = 86_400_000_000  # of a day
#: Parts of a date without and with a time of day. Weekday: Monday 0 ... Sunday 6; days: since 1970-01-01.
PARTS = ("year", "month", "weekday", "days", "hour")


def parts_needed(moments: pd.Series) -> tuple[str, ...]:
    """All parts where some moment has a time of day, otherwise all but the hour.

    Examples
    --------
    >>> parts_needed(pd.Series(pd.to_datetime(["2024-01-05"])))
    ('year', 'month', 'weekday', 'days')
    """
    values = moments.to_numpy("datetime64[us]")
    is_midnight = values.view(np.int64) % _MICROSECONDS == 0
    has_time = not bool((is_midnight | np.isnat(values)).all())
    return PARTS if has_time else PARTS[:-1]


def date_text(days: float) -> str | None:
    """A date, with its time of day where it has one, from its days since 1970; None for a missing one.

    Examples
    --------
    >>> date_text(19782.0), date_text(0.5), date_text(float("nan"))
    ('2024-02-29', '1970-01-01 12:00', None)
    """
    if np.isnan(days):
        return None
    moment = (pd.Timestamp(0) + pd.Timedelta(days=days)).round("s")
    return f"{moment:%Y-%m-%d}" if moment == moment.normalize() else f"{moment:%Y-%m-%d %H:%M}"


def date_numbers(moments: pd.Series, parts: tuple[str, ...]) -> dict[str, pd.Series]:
    """The named parts of each moment as numbers; missing moments are missing numbers.

    Examples
    --------
    >>> numbers = date_numbers(pd.Series(pd.to_datetime(["1970-01-02 12:00"])), PARTS)
    >>> {name: column.iloc[0].item() for name, column in numbers.items()}
    {'year': 1970.0, 'month': 1.0, 'weekday': 4.0, 'days': 1.5, 'hour': 12.0}
    """
    read: dict[str, Callable[[], pd.Series]] = {
        "year": lambda: moments.dt.year,
        "month": lambda: moments.dt.month,
        "weekday": lambda: moments.dt.day_of_week,
        "days": lambda: (moments - pd.Timestamp(0)) / _DAY,
        "hour": lambda: moments.dt.hour + moments.dt.minute / 60.0 + moments.dt.second / 3600.0,
    }
    return {part: read[part]().astype("float64") for part in parts}
