"""The plan of one column: what it is, why, and how raw values become values.

A plan is plain data: it prints, it can be edited and it is saved with a model. :func:`read_column` applies
it, to a column of text and to one that another reader has already turned into numbers, dates or categories.

What a plan file or a model file says about a column is checked first (:func:`flaw_of`): each setting must
have its type and a value that a reader can follow.
"""

from __future__ import annotations

import re
import reprlib
import shlex
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.tables.planning.dates import FORMS, PARTS, DateFormat, read_duration
from surewood.tables.planning.numbers import NumberFormat
from surewood.tables.planning.words import ALWAYS, AMONG_NUMBERS, are_missing_codes
from surewood.tables.sources import DataError
from surewood.tables.text_file import as_float

#: What a column can be. A boolean is read as 0 and 1; text becomes a few numbers; "drop" is not used.
KINDS = ("number", "boolean", "date", "duration", "category", "text", "drop")


class Remark(StrEnum):
    """What is worth knowing about how a column was planned; `ColumnPlan.notes` words it."""

    NONE = ""
    ON_REQUEST = "on request"  # not used because the user says so
    IDENTIFIER = "identifier"  # not used because its values name the rows
    LIKE_IDENTIFIERS = "like identifiers"
    RARE_CATEGORIES = "rare categories"
    SETTLED_DATES = "settled dates"  # some day is above 12
    OPEN_DATES = "open dates"
    OPEN_COMMAS = "open commas"  # read as thousands marks, as a person would


#: Type of a setting, and what it is called.
_TYPES: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("name", "reason", "changed", "decimal", "thousands", "unit"), (str, "a text")),
    **dict.fromkeys(("percent", "day_first", "ordered"), (bool, "true or false")),
    **dict.fromkeys(("examples", "date_forms", "date_parts", "missing", "categories"), (tuple, "a list")),
}
_COUNTS = ("n_distinct", "n_missing", "n_lost")
_LARGEST_COUNT = 2**63 - 1
#: Keys of many parts, which no plan has: the time to read one grows with the square of their number.
_LONG_KEY = re.compile(r"(?:^|[\[{,])\s*(?:[\w-]+\s*\.\s*){50}", re.MULTILINE)
_LONGEST_PLAN = 1 << 26
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def shortened(value: Any) -> str:
    """A value from a file as Python writes it, the middle left out where it is long.

    Examples
    --------
    >>> shortened("age"), len(shortened("a" * 1000))
    ("'age'", 60)
    """
    return _short.repr(value)


def is_readable(text: str) -> bool:
    """Whether a plan file is of a form that is read in reasonable time.

    Examples
    --------
    >>> is_readable("[columns.age]"), is_readable("a." * 1000 + "a = 1")
    (True, False)
    """
    return len(text) <= _LONGEST_PLAN and _LONG_KEY.search(text) is None


def flaw_of(plan: ColumnPlan) -> str | None:
    """What is wrong with the settings of a column, in words; None where all can be followed.

    Examples
    --------
    >>> from surewood.tables import ColumnPlan
    >>> flaw_of(ColumnPlan("price", "number", decimal=""))
    "has decimal ''; it must be one mark, such as '.' or ','"
    """
    return _flaw_of_types(plan) or _flaw_of_marks(plan) or _flaw_of_values(plan)


def _flaw_of_types(plan: ColumnPlan) -> str | None:
    for name, (type_, what) in _TYPES.items():
        if not isinstance(getattr(plan, name), type_):
            return f"has {name} {shortened(getattr(plan, name))}; it must be {what}"
    if plan.kind not in KINDS:
        return f"has kind {shortened(plan.kind)}; kinds are {', '.join(KINDS)}"
    if plan.remark not in {str(one) for one in Remark}:
        return f"has remark {shortened(plan.remark)}; remarks are {', '.join(filter(None, Remark))}"
    for name in _COUNTS:
        count = getattr(plan, name)
        if (
            not isinstance(count, int | np.integer)
            or isinstance(count, bool)
            or not 0 <= count <= _LARGEST_COUNT
        ):
            return f"has {name} {shortened(count)}; it must be a whole number, 0 or more"
    return None


def _flaw_of_marks(plan: ColumnPlan) -> str | None:
    for name, least in (("decimal", 1), ("thousands", 0)):
        mark = getattr(plan, name)
        if not least <= len(mark) <= 1 or mark.isalnum() or mark in ("+", "-"):
            return f"has {name} {shortened(mark)}; it must be one mark, such as '.' or ','"
    return None


def _flaw_of_values(plan: ColumnPlan) -> str | None:
    for name, known in (("date_forms", FORMS), ("date_parts", PARTS)):
        values = getattr(plan, name)
        if not all(isinstance(value, str) and value in known for value in values):
            return f"has {name} {shortened(list(values))}; known ones are {', '.join(sorted(known))}"
        if len(set(values)) < len(values):
            return f"names one of its {name} twice"
    for name in ("examples", "missing"):
        if not all(isinstance(value, str) for value in getattr(plan, name)):
            return f"has {name} {shortened(list(getattr(plan, name)))}; they must be texts"
    words = plan.truth_words
    if not isinstance(words, dict) or not all(isinstance(word, str) for word in words):
        return f"has truth_words {shortened(words)}; they must be texts with a number from 0 to 1 each"
    for word, truth in words.items():
        if isinstance(truth, bool) or not isinstance(truth, int | float | np.number) or not 0 <= truth <= 1:
            return f"has the truth word {shortened(word)} with {shortened(truth)}, not a number from 0 to 1"
    # A list within a list is not hashable, NaN is not itself, and 1 is True: pandas takes none of these.
    if not all(isinstance(one, Hashable) and not isinstance(one, tuple) for one in plan.categories):
        return "has categories that are no texts or numbers"
    if any(one is None or one != one for one in plan.categories):
        return "has a category that is no value"
    if len(set(plan.categories)) < len(plan.categories):
        return "names a category twice"
    return None


_DECIMAL_POINT = re.compile(r"^[+-]?\d+\.(\d{1,2}|\d{4,})$")


@dataclass(frozen=True)
class ColumnPlan:
    """What a column is and how it is read.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    reason : str
        The evidence, in words.
    remark : Remark
        What the user should know about the decision.
    examples : tuple of str
        A few of its values, as they stand in the table.
    n_distinct, n_missing, n_lost : int
        Distinct values (of numbers: among the first 10,000 rows); missing ones, codes included; values that
        could not be read and count as missing.
    changed : str
        An example of what reading changes, such as ``'$1,234' -> 1234``; empty where nothing does.
    decimal, thousands, percent, unit
        Of numbers, see :class:`~surewood.tables.planning.numbers.NumberFormat`.
    date_forms, day_first
        Of dates, see :class:`~surewood.tables.planning.dates.DateFormat`.
    date_parts : tuple of str
        The numbers that a date becomes, names of :data:`surewood.tables.planning.dates.PARTS`.
    truth_words : dict of str to float
        Of booleans.
    missing : tuple of str
        Texts that mean a missing value in this column, besides the usual codes.
    categories : tuple
        Values of a category, in their order.
    ordered : bool
        Whether the order of the categories means something.

    Examples
    --------
    >>> import pandas as pd
    >>> from surewood.tables import plan
    >>> column = plan(pd.DataFrame({"price": ["$1,200.50", "$80", "?"]}))["price"]
    >>> column.kind, column.unit, column.n_missing, column.changed
    ('number', '$', 1, "'$1,200.50' -> 1200.5")
    """

    name: str
    kind: str
    reason: str = ""
    remark: str = Remark.NONE
    examples: tuple[str, ...] = ()
    n_distinct: int = 0
    n_missing: int = 0
    n_lost: int = 0
    changed: str = ""
    decimal: str = "."
    thousands: str = ""
    percent: bool = False
    unit: str = ""
    date_forms: tuple[str, ...] = ()
    day_first: bool = False
    date_parts: tuple[str, ...] = ()
    truth_words: dict[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    categories: tuple[Any, ...] = ()
    ordered: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "remark": str(self.remark)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        flaw = flaw_of(self)
        if flaw is not None:
            raise ValueError(f"the plan of column {shortened(self.name)} {flaw}.")

    def notes(self) -> list[str]:
        """Notes for the user about how the column is read.

        Examples
        --------
        >>> ColumnPlan("zip", "number", n_lost=2).notes()
        ["2 values of 'zip' cannot be read as a number; treated as missing."]
        """
        column = f"column {self.name!r}"
        if self.kind == "drop":
            return [f"{column} is not used: {self.reason}."]
        values = "value" if self.n_lost == 1 else "values"
        lost = f"{self.n_lost:,} {values} of {self.name!r} cannot be read as a {self.kind}"
        example = self.changed or repr("".join(self.examples[:1]))
        by_remark = {
            Remark.OPEN_DATES: f"{column}: {self.reason}.",
            Remark.OPEN_COMMAS: f"{column}: {example}, the comma read as a thousands mark; if it is the "
            "decimal mark, decimal=','.",
            Remark.RARE_CATEGORIES: f"{column}: {self.reason}, which count as one category.",
            Remark.LIKE_IDENTIFIERS: f"{column} is used: {self.reason} If so, drop={shlex.quote(self.name)}.",
        }
        notes = [f"{lost}; treated as missing."] if self.n_lost else []
        return [*notes, by_remark[Remark(self.remark)]] if self.remark in by_remark else notes

    @property
    def number_format(self) -> NumberFormat:
        """How numbers are read."""
        return NumberFormat(self.decimal, self.thousands, self.percent, self.unit)

    @property
    def reads_plain_numbers(self) -> bool:
        """Whether a column of numbers is what it is: none is a code, none may have been misread."""
        return self.thousands != "." and not self.missing

    @property
    def date_format(self) -> DateFormat:
        """How dates are read."""
        return DateFormat(self.date_forms, self.day_first)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, those that differ from the defaults."""
        plain = asdict(self)
        defaults = {f.name: f.default for f in fields(self)}
        kept = {k: v for k, v in plain.items() if k in ("kind",) or v not in (defaults.get(k), {}, ())}
        kept.pop("name")
        return {k: list(v) if isinstance(v, tuple) else v for k, v in kept.items()}

    @classmethod
    def from_dict(cls, name: str, plain: dict[str, Any]) -> ColumnPlan:
        """The plan that a file describes, checked."""
        known = {f.name for f in fields(cls)} - {"name"}
        unknown = sorted(set(plain) - known)
        if unknown:
            shown = ", ".join(map(shortened, unknown))
            raise DataError(f"the plan of column {shortened(name)} has unknown settings {shown}.")
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
        made = cls(**{"name": name, "kind": None, **values})
        flaw = flaw_of(made)
        if flaw is not None:
            raise DataError(f"the plan of column {shortened(name)} {flaw}.")
        return made


def is_text(column: pd.Series) -> bool:
    """Whether a column holds texts, or a mixture of texts and other values."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    return bool(pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype))


def is_plain_numbers(column: pd.Series) -> bool:
    """Whether a column holds integers or floats as NumPy has them, which need no reading.

    Examples
    --------
    >>> is_plain_numbers(pd.Series([1.5, None])), is_plain_numbers(pd.Series([1, None], dtype="Int64"))
    (True, False)
    """
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu"


def distinct_texts(column: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """Codes of a column's values (-1: missing) and its distinct values as stripped texts.

    Examples
    --------
    >>> codes, texts = distinct_texts(pd.Series(["yes", None, "yes "]))
    >>> codes.tolist(), texts
    ([0, -1, 0], ['yes'])
    """
    codes, values = pd.factorize(column, use_na_sentinel=True)
    plain = np.asarray(values, dtype=object).tolist()
    texts = [value.strip() if type(value) is str else as_one_text(value) for value in plain]
    places = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    if len(places) == len(texts):
        return np.asarray(codes), texts
    merged = np.array([places[text] for text in texts] + [-1])
    return merged[codes], list(places)


def as_one_text(value: Any) -> str:
    """A value as text; a whole number reads the same as integer and as float."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value).strip()


def read_column(plan: ColumnPlan, column: pd.Series, *, strict: bool = False) -> pd.Series:
    """A raw column as numbers, moments, seconds or categories, by its plan; what cannot be read is missing.

    With `strict` a column none of whose values can be read is refused: it is not what training had.

    Examples
    --------
    >>> plan = ColumnPlan("price", "number", thousands=",", unit="$")
    >>> read_column(plan, pd.Series(["$1,234", "?", "950"])).tolist()
    [1234.0, nan, 950.0]
    """
    reader = {
        "number": _numbers, "boolean": _counted_or_words, "date": _dates, "duration": _counted_or_words,
        "category": _categories, "text": _texts,
    }[plan.kind]  # fmt: skip
    values = reader(plan, column)
    if strict and len(column) and plan.kind not in ("category", "text") and values.isna().all():
        known = column[~_is_missing(plan, column)]
        if len(known):
            raise DataError(
                f"column {plan.name!r} held {_NAMES[plan.kind]} in training; now it has "
                f"{str(known.iloc[0])!r} and the like."
            )
    return values


_NAMES = {"number": "numbers", "boolean": "truth values", "date": "dates", "duration": "durations"}


def _is_missing(plan: ColumnPlan, column: pd.Series) -> pd.Series:
    missing = column.isna()
    if is_text(column):
        are_texts = [isinstance(value, str) for value in column]
        texts = [value if is_one else "" for value, is_one in zip(column, are_texts)]
        missing |= are_missing_codes(texts, AMONG_NUMBERS, plan.missing) & are_texts
    return missing


def read_texts(plan: ColumnPlan, texts: Sequence[str]) -> NDArray[np.float64]:
    """Numbers of distinct texts, by the plan of a number, a boolean or a duration; NaN where there is none.

    Examples
    --------
    >>> read_texts(ColumnPlan("price", "number", thousands=",", unit="$"), ["$1,234", "?", "950"]).tolist()
    [1234.0, nan, 950.0]
    """
    if plan.kind == "number":
        values = _read_numbers(plan, texts)
    else:
        words = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0} | plan.truth_words
        read = read_duration if plan.kind == "duration" else lambda text: words.get(text.casefold())
        values = np.array([read(text) for text in texts], dtype=np.float64)
    values[mean_missing(plan, texts)] = np.nan
    return values


def mean_missing(plan: ColumnPlan, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether texts of a number, a boolean or a duration mean a missing value.

    Examples
    --------
    >>> mean_missing(ColumnPlan("x", "number", missing=("-999",)), ["-999.0", "?", "1"]).tolist()
    [True, True, False]
    """
    are_codes = are_missing_codes(texts, AMONG_NUMBERS, plan.missing)
    numbers = _missing_numbers(plan)
    return (
        are_codes | np.isin(_read_numbers(plan, texts), numbers)
        if numbers and plan.kind == "number"
        else are_codes
    )


def _read_numbers(plan: ColumnPlan, texts: Sequence[str]) -> NDArray[np.float64]:
    if plan.decimal == "." and not plan.thousands:
        values = np.array([as_float(text) for text in texts], dtype=np.float64)
        values[~np.isfinite(values)] = np.nan
        others = np.flatnonzero(np.isnan(values)).tolist()
        values[others] = plan.number_format.read_all([texts[place] for place in others])
    else:
        values = plan.number_format.read_all(texts)
        for place in np.flatnonzero(np.isnan(values)).tolist():
            if _DECIMAL_POINT.match(texts[place]):  # no thousands mark: another program wrote this table
                values[place] = float(texts[place])
    for place in np.flatnonzero(np.isnan(values)).tolist():
        if texts[place] in _TRUTH:
            values[place] = _TRUTH[texts[place]]
    return values


def _by_distinct(plan: ColumnPlan, column: pd.Series) -> pd.Series:
    """Numbers of a text column, each distinct text read once."""
    codes, texts = distinct_texts(column)
    table = np.append(read_texts(plan, texts), np.nan)
    return pd.Series(table[codes], index=column.index)


def _numbers(plan: ColumnPlan, column: pd.Series) -> pd.Series:
    if is_text(column):
        return _by_distinct(plan, column)
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return pd.Series(column.dt.total_seconds().to_numpy(), index=column.index)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise DataError(f"column {plan.name!r} held numbers in training and holds dates now.")
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _numbers(plan, column.astype(object))
    values = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index)
    _refuse_misread(plan, values)
    extra = _missing_numbers(plan)
    return values.mask(values.isin(extra)) if extra else values


def _missing_numbers(plan: ColumnPlan) -> list[float]:
    """Numbers that mean a missing value, however they are written: -999 as well as -999.0."""
    return [number for text in plan.missing if (number := as_float(text)) is not None]


def _refuse_misread(plan: ColumnPlan, values: pd.Series) -> None:
    """Numbers in which another reader took the point between thousands, as in 17.027, for a decimal mark."""
    if plan.thousands != "." or not len(values):
        return
    present = np.abs(values.dropna().to_numpy())
    thousandths = present * 1000.0
    whole = np.abs(thousandths - np.round(thousandths)) < 1e-6
    if len(present) and (present % 1 != 0).any() and present.max() < 1000 and whole.all():
        raise DataError(
            f"column {plan.name!r} has a point between thousands in training; now it was read as a decimal "
            f"mark ({present[present % 1 != 0][0]:g}): read it as text, with dtype=str in pandas or "
            f"surewood.tables.read_table(..., as_text=[{plan.name!r}])."
        )


_TRUTH = {"True": 1.0, "False": 0.0}


def _counted_or_words(plan: ColumnPlan, column: pd.Series) -> pd.Series:
    return _by_distinct(plan, column) if is_text(column) else _numbers(plan, column)


def _dates(plan: ColumnPlan, column: pd.Series) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = column
        if getattr(dates.dtype, "tz", None) is not None:
            dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
        return dates.astype("datetime64[us]")
    if pd.api.types.is_numeric_dtype(column.dtype) and "compact" not in plan.date_forms:
        if column.notna().any():
            raise DataError(f"column {plan.name!r} held dates in training and holds numbers now.")
        return pd.Series(pd.NaT, index=column.index, dtype="datetime64[us]")
    codes, texts = distinct_texts(column)
    coded = are_missing_codes(texts, AMONG_NUMBERS, plan.missing)
    read = [None if is_code else text for text, is_code in zip(texts, coded)]
    moments = plan.date_format.read(read).append(pd.DatetimeIndex([pd.NaT]))
    return pd.Series(moments.to_numpy("datetime64[us]")[codes], index=column.index)


def _categories(plan: ColumnPlan, column: pd.Series) -> pd.Series:
    """Known categories as they were in training; missing and unseen ones as missing."""
    meaning = {as_one_text(value): value for value in plan.categories}
    if pd.api.types.is_numeric_dtype(column.dtype):
        meaning = _without_zeros(meaning) | meaning
    codes, texts = distinct_texts(column)
    positions = {value: k for k, value in enumerate(plan.categories)}
    table = np.array([positions.get(meaning.get(text, _UNSEEN), -1) for text in texts] + [-1])
    missing = np.append(are_missing_codes(texts, (), plan.missing), True)
    places = np.where(missing, -1, table)[codes]
    dtype = pd.CategoricalDtype(list(plan.categories), ordered=plan.ordered)
    return pd.Series(pd.Categorical.from_codes(places, dtype=dtype), index=column.index)


_UNSEEN = object()


def _without_zeros(meaning: dict[str, Any]) -> dict[str, Any]:
    """Codes such as 01067 by the number that another reader made of them, where no two make the same one."""
    by_number: dict[str, Any] = {}
    for text, value in meaning.items():
        if text.isdigit():
            number = text.lstrip("0") or "0"
            by_number[number] = _UNSEEN if number in by_number else value
    return by_number


def _texts(plan: ColumnPlan, column: pd.Series) -> pd.Series:
    codes, texts = distinct_texts(column)
    coded = are_missing_codes(texts, ALWAYS, plan.missing)
    kept = [None if is_code else text for text, is_code in zip(texts, coded)]
    return pd.Series(np.array([*kept, None], dtype=object)[codes], index=column.index)
