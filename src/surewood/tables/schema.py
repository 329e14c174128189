"""What the columns of a table are: learned in ``fit``, obeyed ever after.

Kinds of columns:

``number``
    Integers, floats, booleans, nullable variants of them. Missing is NaN.
``category``
    Categories, strings and objects with text (pandas), ``String``, ``Categorical`` and ``Enum`` (polars), and
    any column named in `categorical_features`. Codes follow the order of the categories (an ordered category
    keeps its order, all others are sorted). Missing values and categories unseen in training are NaN.
``time``
    Dates, timestamps and durations, as seconds (since 1970 for the first two).

Text in which every value is a number, or every value is a date, has an order of its own and becomes a number
or time column (dates as seconds since 1970); ``notes`` says so. What does not read that way in a later table
is missing, as an unseen category is. Columns of a category type, and columns named in
`categorical_features`, stay categories.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood._text import has_half_characters
from surewood.tables.planning.dates import find_date_format
from surewood.tables.sources import CATEGORY, NUMBER, TIME, ArrowSource, FrameSource, Source, open_array
from surewood.tables.table import Table

NUMBERS, MONTH_FIRST, DAY_FIRST = "number", "date", "date, day first"
#: Kind of the column that text of a form becomes.
KIND_OF_FORM = {NUMBERS: NUMBER, MONTH_FIRST: TIME, DAY_FIRST: TIME}
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*")


def text_form(values: Sequence[Any]) -> str | None:
    """The form of a column with these distinct values; None where it has no order of its own.

    Examples
    --------
    >>> text_form(["10", "9.5", "-3e2"]), text_form(["2024-05-01", "2023-12-31"]), text_form(["31/12/2023"])
    ('number', 'date', 'date, day first')
    >>> text_form(["10", "n/a"]) is None, text_form([]) is None
    (True, True)
    """
    if not values or not all(isinstance(value, str) for value in values):
        return None
    if all(_NUMBER.fullmatch(value) for value in values):
        return NUMBERS if np.isfinite(read_text(values, NUMBERS)).all() else None
    if not any(character.isdigit() for character in values[0]):
        return None
    date_format = find_date_format(values)
    if (
        date_format is None or date_format.settled == "default"
    ):  # day and month may be exchanged in every value
        return None
    form = DAY_FIRST if date_format.day_first else MONTH_FIRST
    return None if np.isnan(read_text(values, form)).any() else form


def read_text(values: Sequence[Any], form: str) -> NDArray[np.float64]:
    """Distinct texts as numbers; NaN for what is not of the form."""
    if form == NUMBERS:
        return np.array([float(v) if _NUMBER.fullmatch(str(v)) else np.nan for v in values], dtype=np.float64)
    texts = [str(value) for value in values]
    date_format = find_date_format(texts, day_first=form == DAY_FIRST)
    if date_format is None:
        return np.full(len(texts), np.nan)
    moments = date_format.read(texts).to_numpy().astype("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)


def ordered_column(source: Source, j: int, form: str) -> NDArray[np.float64]:
    """A column of text of this form as numbers."""
    values = source.categories(j)
    numbers = np.append(read_text(values, form), np.nan)
    codes = source.codes(j, pd.Index(values, dtype=object))
    return np.asarray(numbers[np.where(np.isnan(codes), len(values), codes).astype(np.int64)])


_MOST_OF_A_HASH = 100


def _refuse_repeated(categories: list[Any]) -> None:
    """Refuse categories that are not distinct; many of one hash, as only a forger finds, would take long."""
    of_a_hash = Counter(map(hash, categories))
    if max(of_a_hash.values(), default=0) > _MOST_OF_A_HASH or len(set(categories)) < len(categories):
        raise ValueError("the categories of a column must be distinct.")


@dataclass
class TableSchema:
    """Kinds, names and categories of the columns of a training table.

    Attributes
    ----------
    kinds : list of {"number", "category", "time"}
    names : list of str or None
        Column names of a frame, None for an array.
    categories : list of (list or None)
        For a category column its values in code order: text as ``str``, else the values themselves.
    text_forms : list of (str or None), optional
        For a number or time column of text, how its values are written.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 54, None], "job": ["clerk", None, "baker"]})
    >>> schema = TableSchema.learn(frame)
    >>> schema.kinds, schema.categories[1]
    (['number', 'category'], ['baker', 'clerk'])
    >>> later = pd.DataFrame({"age": [20.0], "job": ["astronaut"]})
    >>> schema.read(later).column(1)  # a category that training did not see is missing
    array([nan])
    """

    kinds: list[str]
    names: list[str] | None
    categories: list[list[Any] | None]
    text_forms: list[str | None] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "_category_indexes"})
        lists = isinstance(self.kinds, list) and isinstance(self.categories, list)
        if (
            not lists
            or len(self.kinds) != len(self.categories)
            or not all(kind in _HELD for kind in self.kinds)
        ):
            raise ValueError("kinds and categories of columns do not belong together.")
        pairs = zip(self.kinds, self.categories)
        if not all(
            isinstance(values, list) if kind == CATEGORY else values is None for kind, values in pairs
        ):
            raise ValueError("a column of categories must have a list of them, and no other column.")
        for values in filter(None, self.categories):
            _refuse_repeated(values)
        if self.names is not None and (
            len(self.names) != len(self.kinds) or not all(isinstance(name, str) for name in self.names)
        ):
            raise ValueError("names of columns must be one text per column.")
        self._refuse_other_forms()

    def _refuse_other_forms(self) -> None:
        """Only a form of text that makes a number or a time of it may say how a column is written."""
        forms = self.text_forms
        if forms is None:
            return
        if not isinstance(forms, list) or len(forms) != len(self.kinds):
            raise ValueError("text_forms must be None or one entry per column.")
        for form, kind in zip(forms, self.kinds):
            if form is not None and (not isinstance(form, str) or KIND_OF_FORM.get(form) != kind):
                raise ValueError("text_forms names a form that does not belong to the kind of its column.")

    @classmethod
    def learn(cls, X: Any, categorical_features: Any = "from_dtype") -> TableSchema:
        """Decide the kind of every column of a training table."""
        source = open_source(X)
        _refuse_half_characters(source)
        chosen = category_mask(source, categorical_features)
        kinds: list[str] = []
        categories: list[list[Any] | None] = []
        forms: list[str | None] = []
        for j in range(source.n_columns):
            kind = CATEGORY if chosen is not None and chosen[j] else source.kind(j)
            if kind == CATEGORY and chosen is not None and not chosen[j]:
                raise ValueError(
                    f"column {source.label(j)} holds text, but categorical_features does not name it; "
                    "add it there or use categorical_features='from_dtype'."
                )
            values = _categories_of(source, j) if kind == CATEGORY else None
            form = text_form(values) if values and chosen is None and source.is_plain_text(j) else None
            forms.append(form)
            kinds.append(kind if form is None else KIND_OF_FORM[form])
            categories.append(values if form is None else None)
        warn_of_rounding([source.label(j) for j in source.rounded_columns() if kinds[j] == NUMBER])
        return cls(kinds, source.names, categories, forms if any(forms) else None)

    def form_of(self, source: Source, k: int, j: int) -> str | None:
        """How column `j` is written, where column `k` of the source is that text; None for others."""
        form = None if self.text_forms is None else self.text_forms[j]
        return form if form is not None and source.kind(k) == CATEGORY else None

    def column(self, source: Source, k: int, j: int | None = None) -> NDArray[np.float64]:
        """Column `k` of a source as numbers or codes; it is column `j` of the schema, by default `k`."""
        j = k if j is None else j
        index, form = self._indexes()[j], self.form_of(source, k, j)
        if form is not None:
            return ordered_column(source, k, form)
        return source.numbers(k) if index is None else source.codes(k, index)

    def _indexes(self) -> list[pd.Index | None]:
        """Where the categories of each column stand; made once, since rows may come one by one."""
        indexes: list[pd.Index | None] | None = self.__dict__.get("_category_indexes")
        if indexes is None:
            indexes = [
                None if values is None else pd.Index(values, dtype=object) for values in self.categories
            ]
            self.__dict__["_category_indexes"] = indexes
        return indexes

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_category_indexes"}

    def read(self, X: Any) -> Table:
        """The same columns of a later table. Their number and names were checked by the caller."""
        source = open_source(X)
        for j, kind in enumerate(self.kinds):
            if kind != CATEGORY and self.form_of(source, j, j) is None:
                refuse_another_kind(source, j, kind)
        counts = category_counts(self)
        encode = partial(self.column, source)
        table = Table(source.n_rows, source.n_columns, self.names, counts, source.array, encode)
        source.refuse_infinities(
            [kind == NUMBER and self.form_of(source, j, j) is None for j, kind in enumerate(self.kinds)]
        )
        return table


def _refuse_half_characters(source: Source) -> None:
    """No file could hold a model with such a name of a column."""
    for name in source.names or ():
        if isinstance(name, str) and has_half_characters(name):
            raise ValueError(
                f"the name of column {name!a} has half a character (a lone surrogate); rename it."
            )


def _categories_of(source: Source, j: int) -> list[Any]:
    """The values of a category column, all of them whole."""
    try:
        values = source.categories(j)
        broken = next((v for v in values if isinstance(v, str) and has_half_characters(v)), None)
    except UnicodeEncodeError as error:
        values, broken = [], error.object
    if broken is not None:
        where = f"column {source.label(j)} holds {str(broken)[:60]!a}"
        raise ValueError(f"{where}, text with half a character (a lone surrogate).")
    return values


def warn_of_rounding(rounded: list[str]) -> None:
    """Say which number columns hold whole numbers that a float cannot hold, if any do."""
    if rounded:
        shown = ", ".join(rounded[:5]) + (", ..." if len(rounded) > 5 else "")
        warnings.warn(
            f"column{'s' if len(rounded) > 1 else ''} {shown}: whole numbers beyond 2**53 are rounded; drop "
            "identifiers, or make them text.",
            UserWarning,
            stacklevel=2,
        )


def treated_as_missing(counts: Mapping[str, int], what: str) -> str:
    """How many values of a later table are missing, by the labels of their columns.

    Examples
    --------
    >>> treated_as_missing({"'city'": 2, "'job'": 1}, "new")
    "3 values are new in 'city', 'job' and treated as missing"
    """
    total = sum(counts.values())
    where = ", ".join(list(counts)[:5]) + (", ..." if len(counts) > 5 else "")
    return (
        f"{'1 value is' if total == 1 else f'{total:,} values are'} {what} in {where} and treated as missing"
    )


_HELD = {NUMBER: "numbers", TIME: "times", CATEGORY: "text"}


def refuse_another_kind(source: Source, j: int, kind: str, where: str = "now") -> None:
    """A number or time column must stay one; without a single known value it may be of either type."""
    now = source.kind(j)
    if now == kind or (now != CATEGORY and np.isnan(source.numbers(j)).all()):
        return
    raise ValueError(
        f"column {source.label(j)} held {_HELD[kind]} in training and holds {_HELD[now]} {where}; "
        "convert it first."
    )


def category_counts(schema: TableSchema) -> NDArray[np.int64]:
    """Categories of every column, 0 for numbers.

    A category column without a single known value still is one: its code is always missing.
    """
    pairs = zip(schema.kinds, schema.categories)
    return np.array([max(len(c or []), 1) if kind == CATEGORY else 0 for kind, c in pairs], dtype=np.int64)


def category_mask(source: Source, given: Any) -> NDArray[np.bool_] | None:
    """`categorical_features` as a mask; None for "from_dtype"."""
    if isinstance(given, str) and given == "from_dtype":
        return None
    mask = np.zeros(source.n_columns, dtype=bool)
    if given is None:
        return mask
    items = np.atleast_1d(np.asarray(given))
    if items.size == 0:
        return mask
    if items.dtype == bool:
        if items.shape != mask.shape:
            raise ValueError(
                f"categorical_features: a mask must have one entry per column ({source.n_columns}), "
                f"got {items.shape}."
            )
        return items
    places = {name: j for j, name in enumerate(source.names or [])}
    for item in items.tolist():
        if isinstance(item, str):
            if item not in places:
                raise ValueError(f"categorical_features names {item!r}, which is not a column of X.")
            mask[places[item]] = True
        elif isinstance(item, int) and -source.n_columns <= item < source.n_columns:
            mask[item] = True
        else:
            raise ValueError(
                f"categorical_features has {item!r}; expected column names, positions below "
                f"{source.n_columns}, a mask, 'from_dtype' or None."
            )
    return mask


def open_source(X: Any) -> Source:
    """Anything table-like, checked for shape and (arrays) for infinities; a source stays what it is."""
    if isinstance(X, Source):
        return X
    if isinstance(X, pd.DataFrame):
        return FrameSource(X)
    if isinstance(X, pa.Table | pa.RecordBatch):
        return ArrowSource(X)
    if type(X).__module__.split(".")[0] == "polars":
        if not hasattr(X, "get_columns"):
            raise TypeError(
                f"X must be a table, got a polars {type(X).__name__}; collect() it or make a frame."
            )
        return FrameSource(pd.DataFrame({i: s.to_pandas() for i, s in enumerate(X)}), list(X.columns))
    return open_array(X)


#: Rows of a category that stands alone: rarer ones, identifiers above all, share a bin (trees) or an
#: indicator (SVMs), so a column of identifiers is one constant. Columns of few categories are left alone: a
#: small table may have few rows of each, and so few categories cannot memorise much.
MIN_ROWS = 10
FEW_CATEGORIES = 10  # of a column in which all stand alone
LARGEST_MEAN_COUNT = 64  # whole weights of a larger mean are no counts of rows


def stands_alone(mass: Floats, row_weight: float = 1.0) -> NDArray[np.bool_]:
    """Which categories stay separate, from the weight of each.

    Examples
    --------
    >>> stands_alone(np.array([12.0, 3.0] + [1.0] * 9)).sum(), stands_alone(np.array([12.0, 3.0])).sum()
    (np.int64(1), np.int64(2))
    """
    if len(mass) <= FEW_CATEGORIES:
        return np.ones(len(mass), dtype=bool)
    return np.asarray(mass >= MIN_ROWS * row_weight)


def row_weight(weights: NDArray[Any] | None) -> float:
    """What one row weighs, where a rule counts rows.

    Whole weights are counts of rows, up to a common factor and up to 64 on average; other weights are one row
    on average.

    Examples
    --------
    >>> row_weight(None), row_weight(np.array([1, 3, 2])), row_weight(np.array([2.0, 6.0, 4.0]))
    (1.0, 1.0, 2.0)
    >>> row_weight(np.array([0.5, 1.75])), row_weight(np.array([700, 1301]))
    (1.125, 1000.5)
    """
    if weights is None or len(weights) == 0:
        return 1.0
    mean = float(np.mean(weights))
    whole = np.rint(weights).astype(np.int64)
    if (whole != weights).any():
        return mean
    factor = float(np.gcd.reduce(whole))
    return factor if mean <= LARGEST_MEAN_COUNT * factor else mean
