"""Dates in tables: recognised by their form, and turned into numbers that a classifier can use.

A date becomes four numbers: the year, the month (1-12), the day of the week (Monday 0 ... Sunday 6) and the
days since 1970-01-01, with a fraction where there is a time of day. None of them depends on the sample, so a
later table gets the same numbers. Missing dates are missing numbers.
"""

from __future__ import annotations

import pandas as pd

#: Forms of dates, tried in this order; the last two are told apart only where some day is above 12.
FORMATS = ("ISO8601", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y")
_SHAPES = {
    "ISO8601": r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$",
    "%d.%m.%Y": r"^\d{1,2}\.\d{1,2}\.\d{4}$",
    "%Y/%m/%d": r"^\d{4}/\d{1,2}/\d{1,2}$",
    "%d/%m/%Y": r"^\d{1,2}/\d{1,2}/\d{4}$",
    "%m/%d/%Y": r"^\d{1,2}/\d{1,2}/\d{4}$",
}
PARTS = ("year", "month", "weekday", "days")
_DAY = pd.Timedelta(days=1)


def recognise_dates(column: pd.Series) -> str | None:
    """The form of a text column in which every value is a date of one form; None otherwise.

    Where day and month could be exchanged in every value the form is not known, and the column stays text.

    Examples
    --------
    >>> recognise_dates(pd.Series(["2024-05-01", None])), recognise_dates(pd.Series(["31.12.2023"]))
    ('ISO8601', '%d.%m.%Y')
    >>> recognise_dates(pd.Series(["13/02/2024"])), recognise_dates(pd.Series(["03/02/2024"]))
    ('%d/%m/%Y', None)
    """
    known = column.dropna().astype(str)
    if len(known) == 0 or not known.iloc[0][:1].isdigit():
        return None
    fitting = []
    for form in FORMATS:
        if known.str.match(_SHAPES[form]).all() and read_dates(known, form).notna().all():
            fitting.append(form)
    return fitting[0] if len(fitting) == 1 else None


def read_dates(column: pd.Series, form: str) -> pd.Series:
    """A column as timestamps without a zone (UTC where there was one); what is no such date is missing."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = column
    else:
        text = column.astype(object)
        zoned = form == "ISO8601" and text.dropna().astype(str).str.contains(r"Z|[+]|:\d\d-").any()
        dates = pd.to_datetime(text, errors="coerce", format=form, utc=bool(zoned))
    if getattr(dates.dtype, "tz", None) is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return dates


def date_numbers(dates: pd.Series) -> dict[str, pd.Series]:
    """The four numbers of each date, by the names of `PARTS`.

    Examples
    --------
    >>> numbers = date_numbers(pd.Series(pd.to_datetime(["1970-01-02 12:00"])))
    >>> {name: column.iloc[0].item() for name, column in numbers.items()}
    {'year': 1970.0, 'month': 1.0, 'weekday': 4.0, 'days': 1.5}
    """
    return {
        "year": dates.dt.year.astype("float64"),
        "month": dates.dt.month.astype("float64"),
        "weekday": dates.dt.day_of_week.astype("float64"),
        "days": ((dates - pd.Timestamp(0)) / _DAY).astype("float64"),
    }
