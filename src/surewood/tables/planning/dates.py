"""Dates and durations as people write them, and the numbers that they become.

A column may mix forms (``2024-03-01``, ``1.3.2024``, ``Mar 1, 2024``). Forms that leave open whether the day
or the month comes first (``3/1/2024``) are settled by the values of the column in which one of them exceeds
12, else by another column of the file, else they are read month first and the plan says so.

None of the numbers that a date becomes depends on the sample, so a later table gets the same ones. Durations,
in words or with colons, become seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd

_MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
_SHORT_MONTHS = {"sept": 9, "mrz": 3, "mär": 3, "okt": 10, "dez": 12}
_MONTH_NUMBER = {name: k + 1 for names in _MONTHS for k, name in enumerate(names.split())} | _SHORT_MONTHS
_TIME = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>[.,]\d+)?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?$"
)
_WEEKDAY = r"^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_NAME = r"(?P<name>[^\W\d_]{3,9})"
_COMPACT_TIME = r"(?:T(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?)?$"
#: Name of a form -> its shape. "open" leaves day and month open.
_SHAPES = {
    name: re.compile(shape, re.IGNORECASE)
    for name, shape in {
        "year first": r"^(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})" + _TIME,
        "year, month": r"^(?P<y>\d{4})-(?P<m>\d{2})$",
        "year, week": r"^(?P<y>\d{4})-?W(?P<week>0[1-9]|[1-4]\d|5[0-3])(?:-?(?P<weekday>[1-7]))?$",
        "year, quarter": r"^(?P<y>\d{4})[-/ ]?Q(?P<quarter>[1-4])$",
        "quarter, year": r"^Q(?P<quarter>[1-4])[-/ ]?(?P<y>\d{4})$",
        "compact": r"^(?P<y>(?:19|20)\d{2})(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])" + _COMPACT_TIME,
        "day first": r"^(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?" + _YEAR + _TIME,
        "open": r"^(?P<a>\d{1,2})(?P<sep>[/-])(?P<b>\d{1,2})(?P=sep)" + _YEAR + _TIME,
        "day, month name": (
            _WEEKDAY
            + r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.)?[\s-]?(?:of\s)?"
            + _NAME
            + r"\.?,?[\s-]?"
            + _YEAR
            + _TIME
        ),
        "month name, day": (
            _WEEKDAY + _NAME + r"\.?[\s-](?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s(?P<y>\d{4})" + _TIME
        ),
    }.items()
}
FORMS = frozenset(_SHAPES)
_PIVOT = 69  # two-digit years from here on belong to the last century, as in POSIX


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written.

    Attributes
    ----------
    forms : tuple of str
        Forms that occur; "compact" (20240301) only where it is the form of the whole column.
    day_first : bool
        How ``3/1/2024`` is read.
    settled : {"column", "file", "user", "default", "not needed"}
        What decided that.

    Examples
    --------
    >>> form = find_date_format(["13/02/2024", "1/3/2024", "2024-05-06"])
    >>> form.day_first, form.settled, str(form.read_one("1/3/2024"))
    (True, 'column', '2024-03-01 00:00:00')
    >>> find_date_format(["17", "green"]) is None
    True
    """

    forms: tuple[str, ...]
    day_first: bool = False
    settled: str = "not needed"

    def read_one(self, text: str) -> pd.Timestamp | None:
        """The moment that a text means, without a zone (UTC where it names one); None where it is no date."""
        form, match = _match(text, self.forms)
        return None if match is None else _moment(form, match, self.day_first)

    def read(self, texts: Sequence[str | None]) -> pd.DatetimeIndex:
        """Moments of many texts; what is no date is missing."""
        found = [None if text is None else self.read_one(text) for text in texts]
        return pd.DatetimeIndex(
            np.array(
                [np.datetime64("NaT") if t is None else t.to_datetime64() for t in found], "datetime64[us]"
            )
        )


def find_date_format(
    texts: Iterable[str], *, day_first: bool | None = None, file_day_first: bool | None = None
) -> DateFormat | None:
    """The format of a column whose texts are (nearly) all dates; None where they are not.

    Parameters
    ----------
    texts : iterable of str
        Distinct texts of a column, codes for missing values taken out.
    day_first : bool, optional
        What the user says.
    file_day_first : bool, optional
        What other columns of the same file prove.
    """
    matches = [
        (form, match) for text in texts for form, match in [_match(text, tuple(_SHAPES))] if match is not None
    ]
    if not matches:
        return None
    forms = {form for form, _ in matches}
    if "compact" in forms and len(forms) > 1:
        forms.discard("compact")  # one column, a number here and a date there: the numbers are no dates
    kept = tuple(form for form in _SHAPES if form in forms)
    if "open" not in forms:
        return DateFormat(kept)
    pairs = [(int(match["a"]), int(match["b"])) for form, match in matches if form == "open"]
    first_is_day, second_is_day = any(a > 12 for a, _ in pairs), any(b > 12 for _, b in pairs)
    if day_first is not None:
        return DateFormat(kept, day_first, "user")
    if first_is_day != second_is_day:
        return DateFormat(kept, first_is_day, "column")
    if first_is_day:  # both: the more frequent reading; the others will be missing, and counted
        more = sum(a > 12 for a, _ in pairs) >= sum(b > 12 for _, b in pairs)
        return DateFormat(kept, more, "column")
    if file_day_first is not None:
        return DateFormat(kept, file_day_first, "file")
    return DateFormat(kept, "day first" in forms, "column" if "day first" in forms else "default")


def _match(text: str, forms: tuple[str, ...]) -> tuple[str, re.Match[str] | None]:
    stripped = text.strip()
    if len(stripped) < 6 or len(stripped) > 40:
        return "", None
    for form in forms:
        match = _SHAPES[form].match(stripped)
        if match is not None and ("name" not in match.groupdict() or _month(match["name"])):
            return form, match
    return "", None


def _month(name: str) -> int:
    return _MONTH_NUMBER.get(name.casefold(), 0)


def _moment(form: str, match: re.Match[str], day_first: bool) -> pd.Timestamp | None:
    part = match.groupdict()
    year = int(part["y"])
    if len(part["y"]) == 2:
        year += 1900 if year >= _PIVOT else 2000
    if form == "open":
        day, month = (part["a"], part["b"]) if day_first else (part["b"], part["a"])
    elif "week" in part:
        return _first_day(year, int(part["week"]), int(part["weekday"] or 1))
    elif "quarter" in part:
        day, month = 1, 3 * int(part["quarter"]) - 2
    elif "name" in part:
        day, month = part["d"], _month(part["name"])
    else:
        day, month = part.get("d") or 1, part["m"]
    hour = int(part.get("hour") or 0)
    half = (part.get("half") or "").lower().replace(".", "")
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    fraction = float("0" + part["fraction"].replace(",", ".")) if part.get("fraction") else 0.0
    try:
        moment = pd.Timestamp(
            year=year, month=int(month), day=int(day), hour=hour, minute=int(part.get("minute") or 0),
            second=int(part.get("second") or 0), microsecond=int(fraction * 1e6),
        )  # fmt: skip
    except ValueError:
        return None
    return moment - _offset(part.get("zone"))


def _first_day(year: int, week: int, weekday: int) -> pd.Timestamp | None:
    """A day of an ISO week."""
    try:
        return pd.Timestamp(date.fromisocalendar(year, week, weekday))
    except ValueError:  # a year of 52 weeks
        return None


def _offset(zone: str | None) -> pd.Timedelta:
    if not zone or zone in ("Z", "UTC", "GMT"):
        return pd.Timedelta(0)
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    return sign * pd.Timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))


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


_CLOCK = re.compile(
    r"^(?P<sign>-)?(?:(?P<d>\d+)\s*(?:d|days?)\s*,?\s*)?(?P<h>\d{1,3}):(?P<m>[0-5]\d)"
    r"(?::(?P<s>[0-5]\d)(?P<f>[.,]\d+)?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?$"
)
_NAMES = {
    604800.0: "w wk wks week weeks",
    86400.0: "d day days",
    3600.0: "h hr hrs hour hours",
    60.0: "m min mins minute minutes",
    1.0: "s sec secs second seconds",
    1e-3: "ms",
}
_UNITS = {name: seconds for seconds, names in _NAMES.items() for name in names.split()}
_WORDS = re.compile(r"^(?:\d+(?:\.\d+)?\s*[a-z]+\.?[\s,]*(?:and\s+)?){1,5}$")
_WORD = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


def read_duration(text: str) -> float | None:
    """Seconds of a duration; None where a text is none.

    A time of day (``12:30``, ``9:15 pm``) is the duration since midnight.

    Examples
    --------
    >>> read_duration("1:30:00"), read_duration("2 h 5 min"), read_duration("9:15 pm"), read_duration("5 kg")
    (5400.0, 7500.0, 76500.0, None)
    """
    stripped = text.strip().lower()
    match = _CLOCK.match(stripped)
    if match is not None:
        seconds = 86400.0 * int(match["d"] or 0) + 3600.0 * int(match["h"]) + 60.0 * int(match["m"])
        if match["half"]:
            if not 1 <= int(match["h"]) <= 12:
                return None
            seconds += 43200.0 * ((match["half"] == "p") - (int(match["h"]) == 12))
        seconds += int(match["s"] or 0) + float("0" + (match["f"] or ".0").replace(",", "."))
        return -seconds if match["sign"] else seconds
    if _WORDS.match(stripped) is None:
        return None
    terms = _WORD.findall(stripped)
    if any(unit not in _UNITS for _, unit in terms) or len({unit for _, unit in terms}) < len(terms):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in terms)


def mixes_units(texts: list[str]) -> bool:
    """Whether durations in words use more than one unit; with one unit they are numbers with a unit.

    Examples
    --------
    >>> mixes_units(["2 h", "30 min"]), mixes_units(["2 h", "3 h"]), mixes_units(["1:30:00"])
    (True, False, True)
    """
    units: set[str] = set()
    for text in texts:
        terms = _WORD.findall(text.strip().lower())
        units |= {unit for _, unit in terms} if terms and ":" not in text else {":", "clock"}
    return len({_UNITS.get(unit, unit) for unit in units}) > 1
