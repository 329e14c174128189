"""What a column is: the evidence in its values, against what the user says.

:func:`find_column` decides by all values of a column, each distinct one looked at once. A column of text is,
in this order: two words for true and false; dates; durations; numbers (where at least `READABLE` of its rows
can be read that way); a category; free text; an identifier, which is not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from surewood._arrays import Floats
from surewood.tables.planning.column_plan import (
    ColumnPlan,
    Remark,
    distinct_texts,
    is_plain_numbers,
    is_text,
    mean_missing,
    read_column,
    read_texts,
)
from surewood.tables.planning.dates import find_date_format, mixes_units, parts_needed, read_duration
from surewood.tables.planning.numbers import NumberFormat, find_number_format
from surewood.tables.planning.words import (
    ALWAYS,
    AMONG_NUMBERS,
    are_missing_codes,
    codes_among_words,
    find_truth_words,
)
from surewood.tables.schema import MIN_ROWS, stands_alone
from surewood.tables.sources import DataError
from surewood.tables.text_file import as_float

PROBE = 500  # distinct texts by which a kind that does not fit is ruled out
EXAMPLES = 4
COUNTED = 10_000  # rows in which distinct numbers are counted


@dataclass(frozen=True)
class DistinctTexts:
    """Distinct texts of a column, how many rows each has, and the examples to show."""

    texts: list[str]
    counts: Floats
    n_rows: int

    @classmethod
    def of(cls, column: pd.Series) -> DistinctTexts:
        """Of a column of text, in their order.

        Examples
        --------
        >>> values = DistinctTexts.of(pd.Series(["yes", None, "no", "yes "]))
        >>> values.texts, values.counts.tolist()
        (['yes', 'no'], [2.0, 1.0])
        """
        codes, texts = distinct_texts(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(texts)).astype(float)
        return cls(texts, counts, len(column))

    def without(self, codes: Any, extra: tuple[str, ...]) -> DistinctTexts:
        missing = are_missing_codes(self.texts, codes, extra)
        if not missing.any():
            return self
        keep = np.flatnonzero(~missing).tolist()
        return DistinctTexts([self.texts[k] for k in keep], self.counts[keep], self.n_rows)

    @property
    def column(self) -> pd.Series:
        """One row per distinct text."""
        return pd.Series(self.texts, dtype=object)

    @property
    def n_known(self) -> int:
        return int(self.counts.sum())

    def readable(self, read: Callable[[str], object]) -> float:
        """As :meth:`readable_numbers`, of a function of one text that gives None where it cannot read it."""
        return self.readable_numbers(
            lambda texts: np.array([np.nan if read(text) is None else 0.0 for text in texts])
        )

    def readable_numbers(self, read_all: Callable[[list[str]], Floats]) -> float:
        """Fraction of the rows with a value for which there is a number; 0 where few of the first have."""
        first = self.texts[:PROBE]
        if len(first) == PROBE and 2 * np.count_nonzero(~np.isnan(read_all(first))) < PROBE:
            return 0.0
        good = ~np.isnan(read_all(self.texts))
        return float(self.counts[good].sum() / max(self.counts.sum(), 1))

    def examples(self) -> tuple[str, ...]:
        order = np.argsort(-self.counts, kind="stable")[:EXAMPLES]
        return tuple(self.texts[k][:60] for k in order)


def n_unreadable(plan: ColumnPlan, column: pd.Series) -> int:
    """Values that are neither missing nor readable by the plan.

    Examples
    --------
    >>> n_unreadable(ColumnPlan("x", "number"), pd.Series(["1", "?", "red"]))
    1
    """
    if not is_text(column):
        return 0
    return counted(plan, column).n_lost


def n_unseen(plan: ColumnPlan, column: pd.Series) -> int:
    """Values of a category column that are neither missing nor known from training.

    Examples
    --------
    >>> n_unseen(ColumnPlan("x", "category", categories=("a", "b")), pd.Series(["a", "c", None, "?"]))
    1
    """
    codes, texts = distinct_texts(column)
    coded = np.append(are_missing_codes(texts, ALWAYS, plan.missing), True)
    return int((read_column(plan, column).isna().to_numpy() & ~coded[codes]).sum())


def counted(plan: ColumnPlan, column: pd.Series) -> ColumnPlan:
    """The plan with its counts and an example of what reading changes."""
    if is_text(column):
        return counted_texts(plan, DistinctTexts.of(column))
    as_it_is = plan.kind in ("number", "boolean") and not plan.missing
    missing = (column if as_it_is else read_column(plan, column)).isna()
    return replace(plan, n_missing=int(missing.sum()), n_distinct=int(column.iloc[:COUNTED].nunique()))


def counted_texts(plan: ColumnPlan, values: DistinctTexts) -> ColumnPlan:
    """As :func:`counted`, of distinct texts."""
    if plan.kind in ("number", "boolean", "duration"):
        read = pd.Series(read_texts(plan, values.texts))
    else:
        read = read_column(plan, values.column)
    known = read.notna().to_numpy()
    is_measured = plan.kind not in ("category", "text")
    coded = (
        mean_missing(plan, values.texts)
        if is_measured
        else are_missing_codes(values.texts, ALWAYS, plan.missing)
    )
    changed = ""
    if plan.kind == "number":
        for place in np.flatnonzero(known)[:200]:
            raw, number = values.texts[place], float(read.iloc[place])
            if as_float(raw) != number:
                changed = f"{raw!r} -> {number:.12g}"
                break
    return replace(
        plan,
        n_missing=values.n_rows - int(values.counts[known].sum()),
        n_lost=int(values.counts[~known & ~coded].sum()),
        n_distinct=len(plan.categories) if plan.kind == "category" else int((~coded).sum()),
        changed=changed,
    )


#: Fraction of the rows with a value that must be readable for a text column to be numbers or dates.
READABLE = 0.95
_MOST_GAPS = 2.0  # mean step of a row number
_FIRST_DAY, _LAST_DAY = 19_000_101, 20_991_231  # of numbers that are days
_FEW_ROWS = 10  # fewer values say nothing about a pattern in numbers
FEW_VALUES = 50  # this many distinct texts are categories, unless nearly every row has its own
_MOSTLY_DISTINCT = 0.9
MANY_VALUES = 1000  # more distinct texts than this are no categories
_WORDS_OF_TEXT = 3.0  # mean number of words from which many-valued text is free text
_CODE = re.compile(r"^0\d+$")
_ID_NAME = re.compile(
    r"(?:(?:^|[^a-zA-Z])(?:id|ID|Id|uuid|UUID|guid|key|index|no|nr)|[a-z](?:ID|Id|No|Nr))\.?$"
)
#: What is numbered; "number" itself only behind it, since a number can also be a count.
_NUMBERED = (
    r"(?:customer|client|patient|user|member|employee|student|account|invoice|order|policy|contract|ticket|case"
    r"|serial|document|transaction|kunde|konto|rechnung|beleg|vertrag)"
)
_ID_WORD = re.compile(rf"(?:^|[^a-z]){_NUMBERED}(?:[ _.-]?number)?$|nummer$", re.IGNORECASE)
_UNNAMED = re.compile(r"column \d+")  # as readers call a column without a name
#: Fraction of distinct whole numbers from which a column that is called an identifier is one.
_NEARLY_ALL = 0.95
_MANY_ROWS, _MANY_DIGITS, _ALL_BUT_FEW = 100, 5, 0.99  # below, distinct numbers of one length are chance


@dataclass(frozen=True)
class Hints:
    """What is known beside the column itself."""

    #: What the user says the column is.
    kind: str | None = None
    #: Further texts that mean a missing value.
    missing: tuple[str, ...] = ()
    #: What the user says about marks.
    decimal: str | None = None
    thousands: str | None = None
    #: What the user says about dates.
    day_first: bool | None = None
    #: What other columns of the file prove.
    file_decimal: str | None = None
    file_day_first: bool | None = None
    #: Whether a comma divides the columns of the file, where that is to settle open commas.
    comma_separated: bool | None = None
    #: Most distinct texts of a category.
    max_values: int = MANY_VALUES


def find_column(name: str, column: pd.Series, hints: Hints) -> ColumnPlan:
    """The plan of a column.

    Raises
    ------
    AmbiguousNumbers
        Where the decimal mark cannot be told from a thousands mark.

    Examples
    --------
    >>> plan = find_column("price", pd.Series(["$1,200.50", "$80", "?"] * 5), Hints())
    >>> plan.kind, plan.n_missing, plan.changed
    ('number', 5, "'$1,200.50' -> 1200.5")
    """
    if hints.kind == "drop":
        return ColumnPlan(name, "drop", "dropped on request", Remark.ON_REQUEST)
    if isinstance(column.dtype, pd.CategoricalDtype) and hints.kind in (None, "category"):
        return _from_categories(name, column, hints)
    if hints.kind is None and not hints.missing and is_plain_numbers(column):
        return _from_numbers(name, column, hints)
    if not is_text(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        plan = _from_typed(name, column, hints)
        return plan if plan.kind == "drop" else counted(plan, column)
    column = column if is_text(column) else column.astype(object)
    values = DistinctTexts.of(column)
    plan = _from_texts(name, values, hints)
    return plan if plan.kind == "drop" else counted_texts(plan, values)


def _from_numbers(name: str, column: pd.Series, hints: Hints) -> ColumnPlan:
    """As :func:`_from_typed` and the counts, of plain numbers, in a tenth of the time."""
    values = column.to_numpy()
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if not len(known):
        return ColumnPlan(name, "drop", "it has no value at all")
    examples = tuple(map(str, known[:EXAMPLES].tolist()))
    if len(known) == len(values) and (values == values[0]).all():
        return ColumnPlan(name, "drop", "it has one value only", examples=examples)
    are_codes = values.dtype.kind != "f" and (
        _counts_rows(column) or _names_rows(name, column) or _like_identifiers(column)
    )
    if are_codes or _FIRST_DAY <= known[0] <= _LAST_DAY:
        plan = _from_typed(name, column, hints)
        return plan if plan.kind == "drop" else counted(plan, column)
    n_missing, first = len(values) - len(known), known if len(values) <= COUNTED else values[:COUNTED]
    n_distinct = len(np.unique(first)) - bool(len(values) > COUNTED and np.isnan(first).any())
    return ColumnPlan(name, "number", "numbers", Remark.NONE, examples, n_distinct, n_missing)


def _from_typed(name: str, column: pd.Series, hints: Hints) -> ColumnPlan:
    """A column that is numbers, truth values or dates already."""
    n_missing = int(column.isna().sum())
    examples = tuple(str(v) for v in _first_known(column))
    if n_missing == len(column):
        return ColumnPlan(name, "drop", "it has no value at all")
    if hints.kind in ("category", "text", "date"):
        return find_column(name, column.astype(object), hints)
    if n_missing == 0 and hints.kind is None and _is_constant(column):
        return ColumnPlan(name, "drop", "it has one value only", examples=examples)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _date(ColumnPlan(name, "date", "dates", examples=examples), column)
    if pd.api.types.is_bool_dtype(column.dtype):
        return ColumnPlan(name, "boolean", "true and false", examples=examples, missing=hints.missing)
    if hints.kind is None and _counts_rows(column):
        return ColumnPlan(name, "drop", "it numbers the rows one by one", examples=examples)
    if hints.kind is None and _names_rows(name, column):
        is_index = _UNNAMED.fullmatch(name) is not None
        reason = "an identifier, by its name and its distinct values"
        reason = "an index: distinct whole numbers in a column without a name" if is_index else reason
        return ColumnPlan(name, "drop", reason, Remark.IDENTIFIER, examples)
    if hints.kind is None and _are_compact_dates(column):
        return find_column(name, column.astype(object), replace(hints, kind="date"))
    plan = ColumnPlan(name, hints.kind or "number", "numbers", examples=examples, missing=hints.missing)
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return replace(plan, reason="durations")
    evidence = _like_identifiers(column) if hints.kind is None else ""
    return replace(plan, reason=evidence, remark=Remark.LIKE_IDENTIFIERS) if evidence else plan


def _first_known(column: pd.Series) -> pd.Series:
    """A few values, looked for in all rows only where the first ones are missing."""
    present = column.iloc[:_FEW_ROWS].dropna()
    return (present if len(present) >= EXAMPLES else column.dropna()).iloc[:EXAMPLES]


def _is_constant(column: pd.Series) -> bool:
    first = column.iloc[0]
    return bool((column.iloc[:_FEW_ROWS] == first).all() and (column == first).all())


def _names_rows(name: str, column: pd.Series) -> bool:
    """Whether a column is called an identifier, or nothing, and holds whole numbers that (nearly) all differ.

    Values alone do not tell: an income in whole euros has a value of its own in nearly every row too.
    """
    if len(column) < _FEW_ROWS or not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        return False
    called = _ID_NAME.search(name.strip()) or _ID_WORD.search(name.strip()) or _UNNAMED.fullmatch(name)
    return called is not None and column.nunique() >= _NEARLY_ALL * len(column)


def _like_identifiers(column: pd.Series) -> str:
    """The evidence that numbers may be identifiers, whatever the column is called; empty where there is none.

    Numbers that were dealt out have the same number of digits and differ from row to row; amounts and counts
    of nearly as many different values spread over several powers of ten.
    """
    if len(column) < _MANY_ROWS or not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        return ""
    if column.iloc[:_MANY_ROWS].nunique() < _ALL_BUT_FEW * _MANY_ROWS:
        return ""
    smallest, largest = int(column.min()), int(column.max())
    n_digits = len(str(largest))
    if smallest <= 0 or n_digits < _MANY_DIGITS or len(str(smallest)) != n_digits:
        return ""
    distinct = column.nunique() / len(column)
    if distinct < _ALL_BUT_FEW:
        return ""
    return f"numbers of {n_digits} digits, {100 * distinct:.0f} % different: an identifier?"


def _are_compact_dates(column: pd.Series) -> bool:
    """Whether all numbers are days such as 20240301."""
    if not _FIRST_DAY <= _first_known(column).iloc[0] <= _LAST_DAY:
        return False
    present = column.dropna()
    if present.min() < _FIRST_DAY or present.max() > _LAST_DAY:
        return False
    values = present.to_numpy(dtype=np.float64)
    if (values % 1 != 0).any():
        return False
    months, days = values // 100 % 100, values % 100
    plausible = ((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all()
    return bool(plausible) and present.nunique() >= _FEW_ROWS


def _counts_rows(column: pd.Series) -> bool:
    """Whether a column is the number of its row: whole numbers that grow from row to row, with few gaps.

    The gaps are rows that were held out.
    """
    if len(column) < _FEW_ROWS or not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        return False
    values = column.to_numpy(dtype=np.int64)
    if not (np.diff(values[:_FEW_ROWS]) > 0).all():
        return False
    steps = np.diff(values)
    return bool(0 <= values[0] <= _FEW_ROWS and (steps > 0).all() and steps.mean() <= _MOST_GAPS)


def _from_categories(name: str, column: pd.Series, hints: Hints) -> ColumnPlan:
    present = set(column.dropna().unique().tolist())
    values = tuple(v for v in column.cat.categories.tolist() if v in present)
    if len(values) == 0:
        return ColumnPlan(name, "drop", "it has no value at all")
    if len(values) == 1 and column.notna().all():
        return ColumnPlan(name, "drop", "it has one value only", examples=(str(values[0]),))
    if len(values) > hints.max_values and hints.kind is None:
        return ColumnPlan(name, "drop", f"it has {len(values):,} categories")
    plan = ColumnPlan(name, "category", "categories", examples=tuple(map(str, values[:EXAMPLES])))
    return replace(plan, categories=values, ordered=bool(column.cat.ordered), n_distinct=len(values))


def _from_texts(name: str, all_texts: DistinctTexts, hints: Hints) -> ColumnPlan:
    among_numbers = all_texts.without(AMONG_NUMBERS, hints.missing)
    if not among_numbers.texts:
        if hints.kind is None and not all_texts.without(ALWAYS, hints.missing).texts:
            return ColumnPlan(name, "drop", "it has no value at all")
    elif hints.kind in (None, "number", "boolean", "date", "duration"):
        plan = _measured(name, among_numbers, hints)
        if len(among_numbers.texts) == 1 and among_numbers.n_known == all_texts.n_rows and hints.kind is None:
            return ColumnPlan(name, "drop", "it has one value only", examples=all_texts.examples())
        if plan is not None:
            plan = replace(plan, examples=all_texts.examples(), missing=hints.missing)
            return _date(plan, all_texts.column) if plan.kind == "date" else plan
        if hints.kind is not None:
            found = among_numbers.texts[0]
            raise DataError(
                f"column {name!r} cannot be read as a {hints.kind}: it has {found!r} and the like."
            )
    return _words(name, all_texts.without(codes_among_words(all_texts.texts), hints.missing), hints)


def _measured(name: str, values: DistinctTexts, hints: Hints) -> ColumnPlan | None:
    """A text column as truth values, dates, durations or numbers; None where it is none of these."""
    wanted = hints.kind
    if wanted in (None, "boolean"):
        words = find_truth_words(values.texts)
        if words is not None:
            return ColumnPlan(name, "boolean", "two words for true and false", truth_words=words)
    if wanted in (None, "date"):
        form = None
        if wanted == "date" or find_date_format(values.texts[:PROBE]) is not None:
            form = find_date_format(
                values.texts, day_first=hints.day_first, file_day_first=hints.file_day_first
            )
        if form is not None and values.readable(form.read_one) >= (READABLE if wanted is None else 0.0):
            sentence, remark = _SETTLED.get(form.settled, ("dates", Remark.NONE))
            reason = sentence.format("day" if form.day_first else "month")
            return ColumnPlan(name, "date", reason, remark, date_forms=form.forms, day_first=form.day_first)
    if (
        wanted in (None, "duration")
        and values.readable(read_duration) >= READABLE
        and mixes_units(values.texts)
    ):
        return ColumnPlan(name, "duration", "durations")
    if wanted == "duration" or (wanted is None and _are_codes(values)):
        return None
    if wanted in (None, "number"):
        style = find_number_format(
            values.texts,
            decimal=hints.decimal,
            thousands=hints.thousands,
            file_decimal=hints.file_decimal,
            comma_separated=hints.comma_separated,
        )
        if style is not None and values.readable_numbers(style.read_all) >= (
            READABLE if wanted is None else 0.0
        ):
            return _number_plan(name, style)
    return None


#: Where the order of day and month was not plain: what settled it, in words, and what to remember.
_SETTLED = {
    "column": ("dates, the {} first (some day is above 12)", Remark.SETTLED_DATES),
    "file": ("dates, the {} first as in other columns", Remark.NONE),
    "default": ("dates; day or month first is open, read with the {} first", Remark.OPEN_DATES),
}


def _are_codes(values: DistinctTexts) -> bool:
    """Whether digits are names: leading zeros, as in 01067."""
    return all(map(str.isdigit, values.texts)) and any(_CODE.match(text) for text in values.texts)


def _number_plan(name: str, form: NumberFormat) -> ColumnPlan:
    extra = [
        f"decimal mark {form.decimal!r}" if form.decimal != "." else "",
        f"thousands mark {form.thousands!r}" if form.thousands else "",
        "percent" if form.percent else "",
        f"unit {form.unit!r}" if form.unit else "",
    ]
    return ColumnPlan(name, "number", ", ".join(["numbers", *filter(None, extra)]), **vars(form))


def _date(plan: ColumnPlan, column: pd.Series) -> ColumnPlan:
    forms = plan.date_forms or ("year first",)
    plan = replace(plan, date_forms=forms)
    return replace(plan, date_parts=parts_needed(read_column(plan, column)))


def _words(name: str, values: DistinctTexts, hints: Hints) -> ColumnPlan:
    """A text column as a category, as free text, or as an identifier that is not used."""
    n, examples = len(values.texts), values.examples()
    if n == 0:
        return ColumnPlan(name, "drop", "it has no value at all")
    if n == 1 and values.n_known == values.n_rows and hints.kind is None:
        return ColumnPlan(name, "drop", "it has one value only", examples=examples)
    n_rare = int(np.count_nonzero(~stands_alone(values.counts)))  # models treat these as one
    category = ColumnPlan(
        name,
        "category",
        f"{n} distinct texts" + (f", {n_rare:,} in fewer than {MIN_ROWS} rows" if n_rare else ""),
        Remark.RARE_CATEGORIES if n_rare else Remark.NONE,
        examples,
        missing=hints.missing,
        categories=tuple(sorted(values.texts)),
    )
    if hints.kind == "category":
        return category
    if hints.kind == "text":
        return ColumnPlan(name, "text", "text, as requested", examples=examples, missing=hints.missing)
    own_values = n >= _FEW_ROWS and n > _MOSTLY_DISTINCT * values.n_known
    if n <= hints.max_values and n <= max(FEW_VALUES, values.n_known / 2) and not own_values:
        return category
    words = float(np.average([len(text.split()) for text in values.texts], weights=values.counts))
    if words >= _WORDS_OF_TEXT:
        reason = f"free text, {words:.0f} words on average"
        return ColumnPlan(name, "text", reason, examples=examples, missing=hints.missing)
    return ColumnPlan(
        name,
        "drop",
        f"an identifier, with {n:,} distinct texts in {values.n_known:,} rows",
        Remark.IDENTIFIER,
        examples,
    )
