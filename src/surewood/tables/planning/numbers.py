"""How the numbers of a text column are written: decimal mark, thousands mark, currency, percent, units.

:func:`find_number_format` looks at all distinct texts of a column and returns a :class:`NumberFormat`, or
raises :class:`AmbiguousNumbers` where two readings fit and nothing in the column decides. A thousands mark is
never read as a decimal mark on a guess: ``17,027`` alone can be 17027 or 17.027, ``17,02`` cannot.

Texts of one shape (the same text but for the digits) have the same parts at the same places, so thousands of
distinct numbers need a handful of looks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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
_LIMIT = r"(?:<=|>=|<|>|≤|≥|~|≈|ca\.|approx\.)?"
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
    text: str
    digits: str
    begin: int
    exponent: str
    negative: bool
    percent: str
    multiplier: str
    currency: str
    unit: str


def number_parts(text: str) -> NumberParts | None:
    match = _SHAPE.match(text.strip().translate(PLAIN_MARKS))
    if match is None or (match["open"] is None) != (match["close"] is None):
        return None
    signs = [s for s in (match["sign"], match["sign2"], match["trail"]) if s]
    if len(signs) > 1 or (match["open"] and signs):
        return None
    return NumberParts(
        text=text,
        digits=match["digits"],
        begin=match.start("digits"),
        exponent=match["exp"] or "",
        negative=bool(match["open"]) or "-" in signs,
        percent=match["percent"] or "",
        multiplier=match["mult"] or "",
        currency=match["cur1"] or match["cur2"] or "",
        unit=match["unit"] or "",
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


_MULTIPLIERS = (
    dict.fromkeys(("k", "K", "thousand"), 1e3)
    | dict.fromkeys(("M", "Mio", "Mio.", "mn", "million"), 1e6)
    | dict.fromkeys(("B", "bn", "Mrd", "Mrd.", "billion"), 1e9)
)


class AmbiguousNumbers(ValueError):
    """Two readings of a column's numbers fit and nothing decides between them."""

    def __init__(self, example: str, mark: str) -> None:
        self.example, self.mark = example, mark
        other = example.strip().replace(mark, ".")
        whole = example.strip().replace(mark, "")
        super().__init__(f"{example.strip()!r} can be {whole} or {other}")


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : {"", ",", ".", " ", "'"}
        The mark between groups of three digits; empty where none was found. Since the decimal mark is known,
        another mark in a later table can only be this one.
    percent : bool
        Whether every number carries a percent sign, which is then dropped; otherwise 5 % is 0.05.
    unit : str
        The unit or currency that was taken off, for the plan; empty where there is none.

    Examples
    --------
    >>> NumberFormat(decimal=",", thousands=".").read("1.234,50 €")
    1234.5
    >>> NumberFormat(thousands=",").read("(1,234)"), NumberFormat().read("<50"), NumberFormat().read("a lot")
    (-1234.0, 50.0, None)
    """

    decimal: str = "."
    thousands: str = ""
    percent: bool = False
    unit: str = ""

    def read(self, text: str) -> float | None:
        """The number that a text means; None where it is not a number of this format."""
        number = float(self.read_all([text])[0])
        return None if math.isnan(number) else number

    def read_all(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """As :meth:`read`, of many texts; NaN where a text is not a number of this format.

        Examples
        --------
        >>> NumberFormat(thousands=",").read_all(["$1,250", "$3", "red"]).tolist()
        [1250.0, 3.0, nan]
        """
        places: dict[str, list[int]] = {}
        for place, shape in enumerate(shapes_of(texts)):
            places.setdefault(shape, []).append(place)
        values = np.full(len(texts), np.nan)
        for shape, alike in places.items():
            how = _reading(shape, self.decimal, self.thousands, self.percent, self.unit)
            if how is not None:
                values[alike] = how.values([texts[place] for place in alike])
        return values


@dataclass(frozen=True)
class _Reading:
    """How to read every text of one shape: where its digits stand, which marks to take out, its scale."""

    begin: int
    end: int
    thousands: str
    decimal: str
    divisor: float
    factor: float

    def values(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The numbers of texts that all have this shape; NaN where one is not finite."""
        plain = np.array([float(self._plain_digits(text)) for text in texts])
        plain[~np.isfinite(plain)] = np.nan
        return plain / self.divisor * self.factor

    def _plain_digits(self, text: str) -> str:
        digits = text[self.begin : self.end]
        if self.thousands:
            plain = digits if digits.isascii() else digits.translate(PLAIN_MARKS)
            digits = plain.replace(self.thousands, "")
        return digits.replace(",", ".") if self.decimal == "," else digits


@lru_cache(maxsize=1 << 12)  # thousands of distinct numbers have a handful of shapes
def _reading(shape: str, decimal: str, thousands: str, percent: bool, unit: str) -> _Reading | None:
    """How the texts of a shape are read: a text with all its digits made zeros."""
    parts = number_parts(shape)
    if parts is None or (parts.unit and unit and parts.unit != unit):
        return None
    mark = _thousands_mark(parts.digits, decimal, thousands)
    if not well_marked(parts.digits, decimal, mark):
        return None
    divisor = (1000.0 if parts.percent == "‰" else 100.0) if parts.percent and not percent else 1.0
    factor = _MULTIPLIERS[parts.multiplier] if parts.multiplier and parts.multiplier != unit else 1.0
    begin = parts.begin + len(shape) - len(shape.lstrip())
    end = begin + len(parts.digits) + len(parts.exponent)
    return _Reading(begin, end, mark, decimal, divisor, -factor if parts.negative else factor)


def _thousands_mark(digits: str, decimal: str, thousands: str) -> str:
    """The thousands mark of some digits: any mark but the decimal one, even if training had none."""
    for mark in (thousands, "," if decimal == "." else ".", " ", "'"):
        if mark and mark in digits:
            return mark
    return ""


def find_number_format(
    texts: Sequence[str],
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    file_decimal: str | None = None,
    comma_separated: bool | None = None,
) -> NumberFormat | None:
    """The format in which (nearly) all of the texts are numbers; None where they are no numbers.

    Parameters
    ----------
    texts : sequence of str
        Distinct texts of a column, codes for missing values taken out.
    decimal, thousands : str, optional
        What the user says the marks are.
    file_decimal : str, optional
        The decimal mark that other columns of the same file prove; decides only where this column does not.
    comma_separated : bool, optional
        Settle commas that may be either as a person would who sees the file: ``$6,489`` is thousands of
        dollars; where a comma divides the columns of the file (True), so are ``6,489 €`` and ``6,489`` beside
        numbers below 1,000 without a comma. By default they are not settled.

    Raises
    ------
    AmbiguousNumbers
        Where a mark may be either, as in a column of ``17,027`` and ``1,250``.

    Examples
    --------
    >>> find_number_format(["1.234,5", "2"])
    NumberFormat(decimal=',', thousands='.', percent=False, unit='')
    >>> find_number_format(["red", "blue"]) is None
    True
    >>> try:
    ...     find_number_format(["17,027", "950"])
    ... except AmbiguousNumbers as error:
    ...     print(error)
    '17,027' can be 17027 or 17.027
    """
    parsed = _with_units_settled(_parsed(texts))
    if not parsed:
        return None
    marks = _Marks.of(parsed)
    if file_decimal is None and comma_separated is not None and _are_thousands(parsed, comma_separated):
        file_decimal = "."
    style = marks.style(decimal, thousands, file_decimal)
    if style is None:
        return None
    units = {parts.unit or parts.currency for parts in parsed} - {""}
    bare = {parts.unit for parts in parsed if parts.unit}
    if len(bare) > 1:  # kg beside g: no common scale
        return None
    percent = all(parts.percent == "%" or parts.percent.startswith("p") for parts in parsed)
    unit = next(iter(bare)) if bare else ("/".join(sorted(units)) if len(units) <= 3 else "")
    return replace(style, percent=percent and bool(parsed), unit=unit)


def _parsed(texts: Sequence[str]) -> list[NumberParts]:
    """The parts of one text of each shape, of those that are numbers."""
    parsed = filter(None, map(number_parts, one_per_shape(texts)))
    return [parts for parts in parsed if well_grouped(parts.digits)]


def _are_thousands(parsed: list[NumberParts], comma_separated: bool) -> bool:
    """Whether a person who sees the whole file takes its open commas for thousands; see above.

    Examples
    --------
    >>> find_number_format(["$17,027", "$1,250"], comma_separated=False).thousands
    ','
    """
    grouped = [parts for parts in parsed if "," in parts.digits]
    plain = [parts for parts in parsed if parts.digits.isdigit()]
    if len(grouped) + len(plain) < len(parsed) or any(len(parts.digits) > 3 for parts in plain):
        return False
    if all(parts.currency in _POINT_CURRENCIES for parts in grouped):
        return True
    money = all(parts.currency for parts in grouped)
    return comma_separated and (money or bool(plain))


#: Currencies of countries where a comma divides thousands.
_POINT_CURRENCIES = ("$", "£", "¥", "USD", "GBP")


def proven_decimal(texts: Sequence[str]) -> str | None:
    """The decimal mark that the numbers among some texts prove; None where they leave it open.

    Examples
    --------
    >>> proven_decimal(["3,5", "red"]), proven_decimal(["1,234,567"]), proven_decimal(["1,234", "12"])
    (',', '.', None)
    """
    marks = _Marks.of(_parsed(texts))
    return None if marks.contradictory else marks.proven


def _with_units_settled(parsed: list[NumberParts]) -> list[NumberParts]:
    """Letters after the digits are k, M and B (thousands, millions, billions) only where the column shows it.

    It does where it names a currency, or uses two different ones and no unit; otherwise they are a unit.
    """
    letters = {parts.multiplier for parts in parsed} - {""}
    units = any(parts.unit for parts in parsed)
    money = any(parts.currency for parts in parsed)
    spelled = any(len(letter) > 1 for letter in letters)
    if not letters or money or spelled or (len({letter.upper() for letter in letters}) > 1 and not units):
        return parsed
    return [
        replace(parts, unit=parts.multiplier + parts.unit, multiplier="") if parts.multiplier else parts
        for parts in parsed
    ]


@dataclass
class _Marks:
    """What the digits of a column prove about their marks."""

    proves_decimal: Mapping[str, bool]
    proves_thousands: Mapping[str, bool]
    ambiguous: Mapping[str, str]  # mark -> an example
    other_thousands: str  # a blank or an apostrophe between groups

    @classmethod
    def of(cls, parsed: list[NumberParts]) -> _Marks:
        decimal, thousands = {".": False, ",": False}, {".": False, ",": False}
        ambiguous: dict[str, str] = {}
        other = ""
        for parts in parsed:
            digits = parts.digits
            for mark in " '":
                if mark in digits.strip():
                    other = mark
            kinds = [mark for mark in ".," if mark in digits]
            if len(kinds) == 2:
                last = max(kinds, key=digits.rindex)
                first = "," if last == "." else "."
                if digits.count(last) == 1:
                    decimal[last] = thousands[first] = True
                continue
            if not kinds:
                continue
            mark = kinds[0]
            head, *groups = digits.replace(" ", "").replace("'", "").split(mark)
            if len(groups) > 1:
                thousands[mark] = True
            elif len(groups[0]) != 3 or head in ("", "0") or len(head) > 3 or head.startswith("0") or other:
                decimal[mark] = True
            else:
                ambiguous.setdefault(mark, parts.text)
        return cls(decimal, thousands, ambiguous, other)

    def style(
        self, decimal: str | None, thousands: str | None, file_decimal: str | None
    ) -> NumberFormat | None:
        """Decimal and thousands mark; None where the column contradicts itself."""
        if decimal is not None or thousands is not None:
            point = decimal or ("." if thousands == "," else "," if thousands == "." else ".")
            return NumberFormat(point, self._group_mark(point, thousands))
        if self.contradictory:
            return None
        if self.proven is not None:
            return NumberFormat(self.proven, self._group_mark(self.proven, None))
        if not self.ambiguous:
            return NumberFormat(".", self.other_thousands)
        if file_decimal is not None:
            return NumberFormat(file_decimal, self._group_mark(file_decimal, None))
        if "," in self.ambiguous:
            raise AmbiguousNumbers(self.ambiguous[","], ",")
        return NumberFormat(".", self.other_thousands)  # three decimals after a point: as everywhere

    @property
    def contradictory(self) -> bool:
        """Whether a mark is proven to be both, or both marks to be the same."""
        both = any(self.proves_decimal[m] and self.proves_thousands[m] for m in ".,")
        return both or all(self.proves_decimal.values()) or all(self.proves_thousands.values())

    @property
    def proven(self) -> str | None:
        """The decimal mark, where the digits prove one."""
        for mark, other in ((".", ","), (",", ".")):
            if self.proves_decimal[mark] or self.proves_thousands[other]:
                return mark
        return None

    def _group_mark(self, point: str, said: str | None) -> str:
        if said is not None:
            return said
        if self.other_thousands:
            return self.other_thousands
        other = "," if point == "." else "."
        return other if self.proves_thousands[other] or other in self.ambiguous else ""
