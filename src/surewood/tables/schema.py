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
"""

from __future__ import annotations

import datetime
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from surewood.tables.table import Table

NUMBER, CATEGORY, TIME = "number", "category", "time"
_SMALL_COPY = 32 << 20  # bytes


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

    @classmethod
    def learn(cls, X: Any, categorical_features: Any = "from_dtype") -> TableSchema:
        """Decide the kind of every column of a training table."""
        source = open_source(X)
        chosen = category_mask(source, categorical_features)
        kinds: list[str] = []
        categories: list[list[Any] | None] = []
        for j in range(source.n_columns):
            kind = CATEGORY if chosen is not None and chosen[j] else source.kind(j)
            if kind == CATEGORY and chosen is not None and not chosen[j]:
                raise ValueError(
                    f"column {source.label(j)} holds text, but categorical_features does not name it; "
                    "add it there or use categorical_features='from_dtype'."
                )
            kinds.append(kind)
            categories.append(source.categories(j) if kind == CATEGORY else None)
        return cls(kinds, source.names, categories)

    def read(self, X: Any) -> Table:
        """The same columns of a later table. Their number and names were checked by the caller."""
        source = open_source(X)
        for j, kind in enumerate(self.kinds):
            if kind != CATEGORY:
                _refuse_another_kind(source, j, kind)
        counts = category_counts(self)
        indexes = [category_index(values) for values in self.categories]

        def encode(j: int) -> NDArray[np.float64]:
            index = indexes[j]
            return source.numbers(j) if index is None else source.codes(j, index)

        table = Table(source.n_rows, source.n_columns, self.names, counts, source.array, encode)
        source.refuse_infinities([kind == NUMBER for kind in self.kinds])
        return table


_HELD = {NUMBER: "numbers", TIME: "times", CATEGORY: "text"}


def _refuse_another_kind(source: Source, j: int, kind: str) -> None:
    """A number or time column must stay one; without a single known value it may be of either type."""
    now = source.kind(j)
    if now == kind or (now != CATEGORY and np.isnan(source.numbers(j)).all()):
        return
    raise ValueError(
        f"column {source.label(j)} held {_HELD[kind]} in training and holds {_HELD[now]} now; "
        "convert it first."
    )


def category_counts(schema: TableSchema) -> NDArray[np.int64]:
    """Categories of every column, 0 for numbers.

    A category column without a single known value still is one: its code is always missing.
    """
    pairs = zip(schema.kinds, schema.categories)
    return np.array([max(len(c or []), 1) if kind == CATEGORY else 0 for kind, c in pairs], dtype=np.int64)


def category_index(values: list[Any] | None) -> pd.Index | None:
    """Where each category stands; None for a number column."""
    return None if values is None else pd.Index(values, dtype=object)


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
                f"categorical_features: a mask must have one entry a column ({source.n_columns}), "
                f"got {items.shape}."
            )
        return items
    for item in items.tolist():
        if isinstance(item, str):
            if source.names is None or item not in source.names:
                raise ValueError(f"categorical_features names {item!r}, which is not a column of X.")
            mask[source.names.index(item)] = True
        elif isinstance(item, int) and -source.n_columns <= item < source.n_columns:
            mask[item] = True
        else:
            raise ValueError(
                f"categorical_features has {item!r}; expected column names, positions below "
                f"{source.n_columns}, a mask, 'from_dtype' or None."
            )
    return mask


class Source(ABC):
    """Columns of an input, before anything is known about them."""

    n_rows: int
    n_columns: int
    names: list[str] | None
    array: Any

    @abstractmethod
    def label(self, j: int) -> str:
        """The column's name, or its position."""

    @abstractmethod
    def kind(self, j: int) -> str:
        """Number, category or time."""

    @abstractmethod
    def categories(self, j: int) -> list[Any]:
        """The values of a category column, in code order."""

    @abstractmethod
    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        """Category codes by an index of the values, NaN where missing or not in it."""

    @abstractmethod
    def numbers(self, j: int) -> NDArray[np.float64]:
        """A number or time column."""

    @abstractmethod
    def refuse_infinities(self, is_number: list[bool]) -> None:
        """Raise where a number column has one."""


def open_source(X: Any) -> Source:
    """Anything table-like, checked for shape and (arrays) for infinities; a source stays what it is."""
    if isinstance(X, Source):
        return X
    if isinstance(X, pd.DataFrame):
        return _FrameSource(X)
    if isinstance(X, pa.Table | pa.RecordBatch):
        from surewood.tables.arrow_source import ArrowSource

        return ArrowSource(X)
    if type(X).__module__.split(".")[0] == "polars":
        if not hasattr(X, "get_columns"):
            raise TypeError(
                f"X must be a table, got a polars {type(X).__name__}; collect() it or make a frame."
            )
        return _FrameSource(pd.DataFrame({i: s.to_pandas() for i, s in enumerate(X)}), list(X.columns))
    X = _without_masks(_without_lists(X))
    return _FrameSource(pd.DataFrame(X), by_position=True) if _beyond_numbers(X) else _ArraySource(X)


class _ArraySource(Source):
    """A homogeneous array of numbers, a nested list or a sparse matrix."""

    names = None

    def __init__(self, X: Any) -> None:
        try:
            with np.errstate(
                over="ignore", invalid="ignore"
            ):  # a sum of single-precision values may overflow
                self.array = check_array(
                    X, accept_sparse="csc", ensure_all_finite="allow-nan", input_name="X"
                )
        except OverflowError:
            raise ValueError("Input X contains a number too large for a float.") from None
        if self.array.dtype == np.longdouble:
            with np.errstate(over="ignore"):
                self.array = self.array.astype(np.float64)
            values = self.array.data if sp.issparse(self.array) else self.array
            if np.isinf(values).any():
                raise ValueError("Input X contains a number too large for a float.")
        self.n_rows, self.n_columns = self.array.shape

    def label(self, j: int) -> str:
        return str(j)

    def kind(self, j: int) -> str:
        return NUMBER

    def _series(self, j: int) -> pd.Series:
        values = self.array[:, [j]].toarray().ravel() if sp.issparse(self.array) else self.array[:, j]
        return pd.Series(values)

    def categories(self, j: int) -> list[Any]:
        return _category_values(self._series(j))

    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        return _codes(self._series(j), index)

    def numbers(self, j: int) -> NDArray[np.float64]:
        return self._series(j).to_numpy(dtype=np.float64)

    def refuse_infinities(self, is_number: list[bool]) -> None:
        """Arrays were checked on entry."""


class _FrameSource(Source):
    """A frame, read column by column, or all at once where that is the same and no large copy.

    Where its labels are only positions, `names` may be given instead.
    """

    def __init__(self, X: pd.DataFrame, names: list[str] | None = None, by_position: bool = False) -> None:
        # An empty frame gets scikit-learn's sentence about samples and features.
        if 0 in X.shape:
            check_array(np.empty(X.shape), input_name="X")
        self.X = X
        self._columns: dict[int, pd.Series] = {}  # a frame takes long to hand out a column
        self._kinds: dict[int, str] = {}
        self.n_rows, self.n_columns = X.shape
        self.array = _plain_floats(X)
        own = None if by_position else [str(c) for c in X.columns]
        self.names = own if names is None else names

    def label(self, j: int) -> str:
        return str(j) if self.names is None else repr(self.names[j])

    def _column(self, j: int) -> pd.Series:
        if j not in self._columns:
            self._columns[j] = self.X.iloc[:, j]
        return self._columns[j]

    def _arrow(self, j: int) -> Source | None:
        """A column that Arrow holds, read as Arrow's; None for all others."""
        series = self._column(j)
        if not isinstance(series.dtype, pd.ArrowDtype):
            return None
        from surewood.tables.arrow_source import ArrowSource

        name = str(j) if self.names is None else self.names[j]
        return ArrowSource(pa.table([pa.chunked_array(pa.array(series.array))], names=[name]))

    def kind(self, j: int) -> str:
        if self.array is not None:
            return NUMBER
        if j not in self._kinds:
            self._kinds[j] = self._find_kind(j)
        return self._kinds[j]

    def _find_kind(self, j: int) -> str:
        if (arrow := self._arrow(j)) is not None:
            return arrow.kind(0)
        series = self._column(j)
        dtype = series.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return CATEGORY
        if pd.api.types.is_complex_dtype(dtype):
            raise ValueError(f"Complex data not supported: column {self.label(j)}.")
        if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
            return NUMBER
        if pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
            return TIME
        if pd.api.types.is_object_dtype(dtype):
            return _kind_of_objects(series)
        if pd.api.types.is_string_dtype(dtype):
            return CATEGORY
        raise ValueError(f"column {self.label(j)} has type {dtype}, which surewood cannot read; convert it.")

    def categories(self, j: int) -> list[Any]:
        if (arrow := self._arrow(j)) is not None:
            return arrow.categories(0)
        try:
            return _category_values(self._column(j))
        except TypeError as error:  # lists and the like have no hash
            raise TypeError(f"column {self.label(j)} cannot be read as categories: {error}.") from None

    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        arrow = self._arrow(j)
        return _codes(self._column(j), index) if arrow is None else arrow.codes(0, index)

    def numbers(self, j: int) -> NDArray[np.float64]:
        if (arrow := self._arrow(j)) is not None:
            return arrow.numbers(0)
        series = self._column(j)
        if self.kind(j) == TIME:
            return _seconds(series)
        return _floats(series, self.label(j))

    def refuse_infinities(self, is_number: list[bool]) -> None:
        if self.array is not None and not np.isinf(self.array).any():
            return
        for j, number in enumerate(is_number):
            if number and self._column(j).dtype.kind in "fO":
                _refuse_infinity(self.numbers(j), self.label(j))


def _plain_floats(X: pd.DataFrame) -> NDArray[Any] | None:
    """The frame as one array where all columns are floats of NumPy and a copy would be small; else None."""
    dtypes = set(X.dtypes)
    one = next(iter(dtypes))
    if (
        len(dtypes) > 1
        or not isinstance(one, np.dtype)
        or one.kind != "f"
        or one.itemsize > 8  # long doubles may be too large for the floats that they become
        or one.itemsize * X.size > _SMALL_COPY
    ):
        return None
    return X.to_numpy()


_BEYOND_NUMBERS = (str, type(pd.NA), datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def _without_lists(X: Any) -> Any:
    """A nested list as an array; of objects where there is text, or NumPy would make text of the numbers."""
    if isinstance(X, list | tuple):
        try:
            read = np.asarray(X)
        except (ValueError, TypeError, OverflowError):  # ragged and the like: check_array finds the words
            return X
        return np.array(X, dtype=object) if read.dtype.kind == "U" else read
    return X


def _without_masks(X: Any) -> Any:
    """NaN in the place of masked values; NumPy's own strings as objects."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return X.astype(np.result_type(X.dtype, np.float32)).filled(np.nan) if X.mask.any() else X.data
    return X.astype(object) if isinstance(X, np.ndarray) and X.dtype.kind == "T" else X


def _beyond_numbers(X: Any) -> bool:
    """Whether it is an array of two dimensions with text, times or missing objects in it."""
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    return X.dtype.kind in "UMm" or (
        X.dtype == object and any(isinstance(value, _BEYOND_NUMBERS) for value in X.ravel())
    )


def _floats(series: pd.Series, label: str) -> NDArray[np.float64]:
    try:
        with np.errstate(over="ignore"):  # long doubles: infinities are refused afterwards
            return series.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:
        raise ValueError(f"Input X contains a number too large for a float in column {label}.") from None


def _refuse_infinity(values: NDArray[np.float64], label: str) -> None:
    if np.isinf(values).any():
        raise ValueError(f"Input X contains infinity in column {label}; replace it by a finite value or NaN.")


_NUMBERS_AS_OBJECTS = ("integer", "floating", "mixed-integer-float", "boolean", "empty")


def _kind_of_objects(series: pd.Series) -> str:
    """Objects that are all numbers are numbers, dates are time, everything else is text."""
    found = pd.api.types.infer_dtype(series, skipna=True)
    if found in _NUMBERS_AS_OBJECTS or found == "decimal":
        return NUMBER
    if found in ("datetime", "datetime64", "date", "timedelta", "timedelta64"):
        return TIME
    return CATEGORY


def _seconds(series: pd.Series) -> NDArray[np.float64]:
    if series.dtype == object:
        known = series.dropna()
        if known.empty:
            return np.full(len(series), np.nan)
        durations = pd.api.types.infer_dtype([known.iloc[0]]).startswith("timedelta")
        series = series.astype("m8[us]") if durations else pd.to_datetime(series, utc=True)
    values = series.to_numpy(dtype=f"{series.dtype.kind}8[{series.dt.unit}]")
    unit = np.timedelta64(1, "s") / np.timedelta64(1, series.dt.unit)
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / unit)


def _is_text(series: pd.Series) -> bool:
    """Whether values are told apart by their text: all but numbers are, so that any model can be saved."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.cat.categories.to_series()
    if pd.api.types.is_object_dtype(series.dtype):
        return pd.api.types.infer_dtype(series, skipna=True) not in _NUMBERS_AS_OBJECTS
    return not (pd.api.types.is_numeric_dtype(series.dtype) or pd.api.types.is_bool_dtype(series.dtype))


def _category_values(series: pd.Series) -> list[Any]:
    """Values present in training, in code order."""
    text = _is_text(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        present = np.unique(series.cat.codes)
        values = series.cat.categories.take(present[present >= 0]).tolist()
        if series.cat.ordered:
            return [str(v) for v in values] if text else values
    else:
        values = series.dropna().unique().tolist()
    return sorted({str(v) for v in values}) if text else sorted(values)


def _codes(series: pd.Series, index: pd.Index) -> NDArray[np.float64]:
    """Codes as float64, NaN for missing and for values outside `index`."""
    text = any(isinstance(value, str) for value in index)
    if isinstance(series.dtype, pd.CategoricalDtype):
        values = series.cat.categories.astype(object)
        known = index.get_indexer(values.map(str) if text else values).astype(np.float64)
        known[known < 0] = np.nan
        return np.append(known, np.nan)[series.cat.codes.to_numpy()]
    missing = series.isna().to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        values = series.astype(object)
    keys = values.map(str) if text else values
    codes = index.get_indexer(pd.Index(keys, dtype=object)).astype(np.float64)
    codes[(codes < 0) | missing] = np.nan
    return codes
