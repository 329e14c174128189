"""The parts of a number as it is written: sign, currency, digits with their marks, exponent, unit.

Texts of one shape (the same text but for the digits) have the same parts at the same places, so thousands of
distinct numbers need a handful of looks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SPACES = "\u00a0\u202f\u2009\u2007"
PLAIN_MARKS = str.maketrans(
    dict.fromkeys("−–‐", "-") | dict.fromkeys("’´", "'") | dict.fromkeys(_SPACES, " ")
)
ZEROS = str.maketrans("123456789", "000000000")
_CURRENCY = (
    r"(?:US\$|A\$|C\$|R\$|HK\$|[$€£¥₹₽₩₺₪฿₫₴₱¢]|USD|EUR|GBP|JPY|CHF|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|BRL|RUB"
    r"|Rs\.?|kr\.?|Fr\.|zł)"
)
_UNIT = r"(?:[A-Za-zµμ°Ωλ²³][A-Za-z0-9µμ°Ω²³/*·^%._-]{0,11}|°|\"|'')"
_DIGITS = r"(?:\d+(?:[.,' ]\d+)*[.,]?|[.,]\d+)"
_LIMIT = r"(?P<limit><=|>=|<|>|≤|≥|~|≈|ca\.|approx\.)?"
_MULTIPLIER = (
    r"(?P<mult>(?:[kKMB]|Mio\.?|Mrd\.?|bn|mn|thousand|million|billion)(?![A-Za-z/]))?"  # not the k of kg
)
_SHAPE = re.compile(
    rf"^(?P<open>\()?\s*{_LIMIT}\s*(?P<sign>[+-])?\s*(?P<cur1>{_CURRENCY})?\s*(?P<sign2>[+-])?\s*"
    rf"(?P<digits>{_DIGITS})(?P<exp>[eE][+-]?\d{{1,3}})?\s*(?P<percent>%|‰|percent\b|pct\b)?\s*{_MULTIPLIER}\s*"
    rf"(?P<cur2>{_CURRENCY})?\s*(?P<unit>{_UNIT})?\s*(?P<trail>-)?\s*(?P<close>\))?$"
)


@dataclass(frozen=True)
class NumberParts:
    digits: str
    begin: int
    exponent: str
    negative: bool
    percent: str
    multiplier: str
    currency: str
    unit: str
    limit: str


def number_parts(text: str) -> NumberParts | None:
    match = _SHAPE.match(text.strip().translate(PLAIN_MARKS))
    if match is None or (match["open"] is None) != (match["close"] is None):
        return None
    signs = [s for s in (match["sign"], match["sign2"], match["trail"]) if s]
    if len(signs) > 1 or (match["open"] and signs):
        return None
    return NumberParts(
        digits=match["digits"],
        begin=match.start("digits"),
        exponent=match["exp"] or "",
        negative=bool(match["open"]) or "-" in signs,
        percent=match["percent"] or "",
        multiplier=match["mult"] or "",
        currency=match["cur1"] or match["cur2"] or "",
        unit=match["unit"] or "",
        limit=match["limit"] or "",
    )


def well_marked(digits: str, decimal: str, thousands: str) -> bool:
    """Whether decimal and thousands marks stand where they may."""
    whole, _, fraction = digits.partition(decimal)
    if fraction and not fraction.isdigit():
        return False
    if thousands and thousands in whole:
        groups = whole.split(thousands)
        lengths = [len(group) for group in groups]
        western = lengths[0] in (1, 2, 3) and set(lengths[1:]) == {3}
        indian = lengths[-1] == 3 and set(lengths[1:-1]) == {2}
        if not (western or indian):
            return False
        whole = "".join(groups)
    return whole.isdigit() if whole else bool(fraction)


def well_grouped(digits: str) -> bool:
    """Whether a mark that occurs more than once divides groups of three: 1.234.567, but not 10.0.0.1."""
    for mark in ".,' ":
        if digits.count(mark) > 1:
            point = "," if mark == "." else "."
            if not well_marked(digits, point, mark):
                return False
    return True


def one_per_shape(texts: Sequence[str]) -> list[str]:
    """The first text of each shape: others have digits at the same places, and a zero first where it has."""
    first: dict[tuple[str, bool], str] = {}
    starts: dict[str, int] = {}
    for text, shape in zip(texts, shapes_of(texts)):
        start = starts.get(shape)
        if start is None:
            start = starts[shape] = shape.find("0")
        key = shape, text[start : start + 1] == "0"
        if key not in first:
            first[key] = text
    return list(first.values())


def shapes_of(texts: Sequence[str]) -> list[str]:
    """Texts with all their digits made zeros, in one pass over all of them."""
    joined = "\n".join(texts)
    if not texts or joined.count("\n") >= len(texts):  # a line break in a text
        return [text.translate(ZEROS) for text in texts]
    return joined.translate(ZEROS).split("\n")
