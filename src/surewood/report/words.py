"""Numbers, durations, sizes and names as people read them; the filters of the templates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any

import pandas as pd

from surewood._text import memory_text
from surewood.base.wording import counted_text, percent
from surewood.certify.wording import between_text, confidence_text, ends_text
from surewood.tables import plain
from surewood.tables.planning.dates import date_text


def percent_up(value: float | None) -> str:
    """An upper limit in percent: never rounded down.

    Examples
    --------
    >>> percent_up(0.12340001), percent_up(0.1234)
    ('12.35 %', '12.34 %')
    """
    return "" if value is None else ends_text(0.0, min(value, 1.0))[1]


def number(value: Any, digits: int | None = None) -> str:
    """A number with separators, four digits (or `digits` decimals) where not whole; other values as text.

    Examples
    --------
    >>> number(12345), number(0.000123456), number(float("inf")), number(None)
    ('12,345', '0.0001235', '∞', '–')
    >>> number(12345.67)
    '12,346'
    """
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if digits is not None and math.isfinite(value):
        return f"{value if round(value, digits) else 0.0:,.{digits}f}"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        return f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:,.4g}"
    return str(value)


def value_text(value: float) -> str:
    """A value of a table: four digits, whole numbers and large ones without an exponent or separators.

    Examples
    --------
    >>> value_text(10566.0), value_text(1268339.5), value_text(0.123456), value_text(1e20)
    ('10566', '1268340', '0.1235', '1e+20')
    """
    is_long = abs(value) < 1e15 and (value == round(value) or abs(value) >= 1e3)
    return f"{value:.0f}" if is_long else f"{value:.4g}"


_MONEY = ("$", "£", "¥", "€", "USD", "EUR", "GBP", "CHF")


def written(value: Any, how: Mapping[str, Any] | None) -> Any:
    """A value as its table writes it: a truth word, a date, or a number with its unit; else as it is.

    Examples
    --------
    >>> written(1.0, {"words": {0.0: "nein", 1.0: "ja"}}), written(20.5, {"unit": "%"})
    ('ja', '20.5 %')
    >>> written(19782.0, {"days": True})
    '2024-02-29'
    >>> written(-1234.5, {"unit": "$"}), written(70.9, {"unit": "€"}), written("red", None)
    ('-$1,234', '70.90 €', 'red')
    >>> written(pd.Timestamp("2024-02-29"), None)
    '2024-02-29'
    """
    if isinstance(value, datetime):
        return date_text((pd.Timestamp(value).tz_localize(None) - pd.Timestamp(0)) / pd.Timedelta(days=1))
    if how is None or isinstance(value, str | bool) or value is None or value != value:
        return value
    if "words" in how:
        return how["words"].get(float(value), value)
    if how.get("days"):
        return date_text(float(value))
    size, unit = abs(float(value)), str(how["unit"])
    cents = 0 if size % 1 == 0 or size >= 1e3 else 2
    text = f"{size:,.{cents}f}" if unit in _MONEY else value_text(size)
    sign = "-" if value < 0 else ""
    return f"{sign}{unit}{text}" if unit in "$£¥" else f"{sign}{text} {unit}"


def seconds(value: float | None) -> str:
    """A duration.

    Examples
    --------
    >>> seconds(0.25), seconds(75), seconds(8000)
    ('0.25 s', '1 min 15 s', '2 h 13 min')
    """
    if value is None:
        return "–"
    if value < 60:
        return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def capitalize_first(text: str) -> str:
    """A sentence with a capital letter, the rest as it is."""
    return text[:1].upper() + text[1:]


FILTERS = {
    "counted": counted_text,
    "capitalize_first": capitalize_first,
    "between": between_text,
    "confidence": confidence_text,
    "percent": percent,
    "percent_up": percent_up,
    "number": number,
    "seconds": seconds,
    "memory": memory_text,
}


def plain_dict(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A JSON-able copy of a dictionary."""
    return {str(key): plain(item) for key, item in value.items()}


def middle(value: Any, limit: int = 40) -> str:
    """Text of at most `limit` characters on one line; of a longer one the middle is left out.

    Examples
    --------
    >>> middle("average_of_the_last_quarter_2023", 20)
    'average_of…rter_2023'
    """
    text = " ".join(str(value).split())
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def cut_names(names: Sequence[Any], limit: int) -> list[str]:
    """Names of at most `limit` characters that can still be told apart, where that is possible.

    Examples
    --------
    >>> cut_names(["measurement 1 of the long series", "measurement 2 of the long series"], 16)
    ['…1 of th… series', '…2 of th… series']
    """
    texts = [" ".join(str(name).split()) for name in names]
    shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts)))
    for start in (0, shared):
        cut = [middle(f"…{text[start:]}" if start else text, limit) for text in texts]
        if len(set(cut)) == len(set(texts)):
            return cut
    return [middle(text, 2 * limit) for text in texts]
