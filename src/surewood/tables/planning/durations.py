"""Durations in words or with colons, as seconds."""

from __future__ import annotations

import re

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
    parts = _WORD.findall(stripped)
    if any(unit not in _UNITS for _, unit in parts) or len({unit for _, unit in parts}) < len(parts):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def mixes_units(texts: list[str]) -> bool:
    """Whether durations in words use more than one unit; with one unit they are numbers with a unit.

    Examples
    --------
    >>> mixes_units(["2 h", "30 min"]), mixes_units(["2 h", "3 h"]), mixes_units(["1:30:00"])
    (True, False, True)
    """
    units: set[str] = set()
    for text in texts:
        found = _WORD.findall(text.strip().lower())
        units |= {unit for _, unit in found} if found and ":" not in text else {":", "clock"}
    return len({_UNITS.get(unit, unit) for unit in units}) > 1
