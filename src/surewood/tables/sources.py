"""Input tables as the schema sees them, a column at a time: frames, arrays, Arrow tables.

* :class:`Source` is what each of them offers; :class:`FrameSource` reads pandas frames and whatever else is
  read as one, :class:`ArraySource` arrays, nested lists and sparse matrices.
* An :class:`ArrowSource` is one batch of a Parquet file, or a whole ``pyarrow.Table``. What a column is
  follows from its type alone, so all batches agree. Text is encoded by Arrow: Python sees each distinct value
  once per batch, not once per row.
"""

from __future__ import annotations

import datetime
import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array


class DataError(ValueError):
    """A data set or table that is not available or cannot be used; the message says why and what to do.

    Examples
    --------
    >>> from surewood.datasets import DataError, load
    >>> try:
    ...     load("wime")
    ... except DataError as error:
    ...     print(error)
    there is no data set called 'wime'; did you mean wine?
    """


NUMBER, CATEGORY, TIME = "number", "category", "time"
#: Whole numbers up to here are floats, too.
LARGEST_EXACT = 2**53


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

    def is_plain_text(self, j: int) -> bool:
        """Whether a category column is text that nobody declared to be categories."""
        return False

    @abstractmethod
    def categories(self, j: int) -> list[Any]:
        """The values of a category column, in code order."""

    @abstractmethod
    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        """Category codes by an index of the values, NaN where missing or not in it."""

    @abstractmethod
    def numbers(self, j: int) -> NDArray[np.float64]:
        """A number or time column."""

    def rounded_columns(self) -> list[int]:
        """Number columns with whole numbers that a float cannot hold, such as long identifiers."""
        return []

    @abstractmethod
    def refuse_infinities(self, is_number: list[bool]) -> None:
        """Raise where a number column has one."""


_SMALL_COPY = 32 << 20  # bytes
_FEW_ROWS = 8  # whose categories are looked up one by one


class FrameSource(Source):
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
        labels = None if by_position else [str(c) for c in X.columns]
        self.names = labels if names is None else names

    def label(self, j: int) -> str:
        return str(j) if self.names is None else repr(self.names[j])

    def _column(self, j: int) -> pd.Series:
        if not self._columns:
            self._columns = dict(enumerate(column for _, column in self.X.items()))
        return self._columns[j]

    def _arrow(self, j: int) -> Source | None:
        """A column that Arrow holds, read as Arrow's; None for all others."""
        series = self._column(j)
        if not isinstance(series.dtype, pd.ArrowDtype):
            return None
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
        if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
            return NUMBER
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

    def is_plain_text(self, j: int) -> bool:
        if (arrow := self._arrow(j)) is not None:
            return arrow.is_plain_text(0)
        series = self._column(j)
        return not isinstance(series.dtype, pd.CategoricalDtype) and _is_text(series)

    def categories(self, j: int) -> list[Any]:
        if (arrow := self._arrow(j)) is not None:
            return arrow.categories(0)
        try:
            return category_values(self._column(j))
        except TypeError as error:  # lists and the like have no hash
            raise TypeError(f"column {self.label(j)} cannot be read as categories: {error}.") from None

    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        arrow = self._arrow(j)
        return codes_of(self._column(j), index) if arrow is None else arrow.codes(0, index)

    def numbers(self, j: int) -> NDArray[np.float64]:
        if (arrow := self._arrow(j)) is not None:
            return arrow.numbers(0)
        series = self._column(j)
        if self.kind(j) == TIME:
            return _series_seconds(series)
        return _series_floats(series, self.label(j))

    def rounded_columns(self) -> list[int]:
        if self.array is not None:
            return []
        return [j for j in range(self.n_columns) if self.kind(j) == NUMBER and self._is_rounded(j)]

    def _is_rounded(self, j: int) -> bool:
        if (arrow := self._arrow(j)) is not None:
            return bool(arrow.rounded_columns())
        series = self._column(j)
        wide = getattr(series.dtype, "itemsize", 8) >= 8
        if not (wide and pd.api.types.is_integer_dtype(series.dtype) and series.notna().any()):
            return False
        return int(series.max()) > LARGEST_EXACT or int(series.min()) < -LARGEST_EXACT

    def refuse_infinities(self, is_number: list[bool]) -> None:
        if self.array is not None and not np.isinf(self.array).any():
            return
        for j, number in enumerate(is_number):
            if number and self._column(j).dtype.kind in "fO":
                refuse_infinity(self.numbers(j), self.label(j))


def _plain_floats(X: pd.DataFrame) -> NDArray[Any] | None:
    """The frame as one array where all columns are floats of NumPy and a copy would be small; else None."""
    dtypes = set(X.dtypes)
    dtype = next(iter(dtypes))
    if (
        len(dtypes) > 1
        or not isinstance(dtype, np.dtype)
        or dtype.kind != "f"
        or dtype.itemsize > 8  # long doubles may be too large for the floats that they become
        or dtype.itemsize * X.size > _SMALL_COPY
    ):
        return None
    return X.to_numpy()


def _series_floats(series: pd.Series, label: str) -> NDArray[np.float64]:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iu":
        return series.to_numpy().astype(np.float64)
    try:
        with np.errstate(over="ignore"):  # long doubles: infinities are refused afterwards
            return series.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:
        raise ValueError(f"Input X contains a number too large for a float in column {label}.") from None


def refuse_infinity(values: NDArray[np.float64], label: str) -> None:
    """Refuse a number column with an infinite value."""
    if np.isinf(values).any():
        raise ValueError(f"Input X contains infinity in column {label}; replace it by a finite value or NaN.")


_NUMBERS_AS_OBJECTS = ("integer", "floating", "mixed-integer-float", "boolean", "empty")


def _kind_of_objects(series: pd.Series) -> str:
    """Objects that are all numbers are numbers, dates are time, everything else is text."""
    content = pd.api.types.infer_dtype(series, skipna=True)
    if content in _NUMBERS_AS_OBJECTS or content == "decimal":
        return NUMBER
    if content in ("datetime", "datetime64", "date", "timedelta", "timedelta64"):
        return TIME
    return CATEGORY


def _series_seconds(series: pd.Series) -> NDArray[np.float64]:
    if series.dtype == object:
        present = series.dropna()
        if present.empty:
            return np.full(len(series), np.nan)
        durations = pd.api.types.infer_dtype([present.iloc[0]]).startswith("timedelta")
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


def category_values(series: pd.Series) -> list[Any]:
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


def _codes_one_by_one(series: pd.Series, index: pd.Index, text: bool) -> NDArray[np.float64]:
    """The same for a few rows: pandas takes longer to prepare its search than the search takes."""
    held = series.array
    if isinstance(held, pd.Categorical):
        categories = held.categories
        values = [None if code < 0 else categories[code] for code in held.codes.tolist()]
    else:
        values = [None if lost else value for value, lost in zip(held.tolist(), held.isna().tolist())]
    codes = [np.nan if value is None else _place(index, str(value) if text else value) for value in values]
    return np.array(codes, dtype=np.float64)


def _place(index: pd.Index, value: Any) -> float:
    try:
        place: Any = index.get_loc(value)
        return float(place)
    except KeyError:
        return np.nan


def codes_of(series: pd.Series, index: pd.Index) -> NDArray[np.float64]:
    """Codes as float64, NaN for missing and for values outside `index`."""
    text = any(isinstance(value, str) for value in index)
    if len(series) <= _FEW_ROWS:
        return _codes_one_by_one(series, index, text)
    if isinstance(series.dtype, pd.CategoricalDtype):
        present = series.cat.categories.astype(object)
        code_of_category = index.get_indexer(present.map(str) if text else present).astype(np.float64)
        code_of_category[code_of_category < 0] = np.nan
        return np.append(code_of_category, np.nan)[series.cat.codes.to_numpy()]
    missing = series.isna().to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        values = series.astype(object)
    keys = pd.Index(values.map(str) if text else values, dtype=object)
    codes = index.get_indexer(keys).astype(np.float64)
    codes[(codes < 0) | missing] = np.nan
    return codes


_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def arrow_kind(type_: pa.DataType, label: str) -> str:
    """Kind of a column of this type; `label` names the column in the error.

    Examples
    --------
    >>> arrow_kind(pa.int32(), "'age'"), arrow_kind(pa.string(), "'job'"), arrow_kind(pa.date32(), "'day'")
    ('number', 'category', 'time')
    """
    types = pa.types
    if types.is_dictionary(type_) or is_text(type_):
        return CATEGORY
    number = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(check(type_) for check in number):
        return NUMBER
    if types.is_timestamp(type_) or types.is_date(type_) or types.is_duration(type_):
        return TIME
    raise ValueError(
        f"column {label} has type {type_}, which surewood cannot read; convert it or leave it out."
    )


def is_text(type_: pa.DataType) -> bool:
    """Whether values of this type are compared as text; times of day and bytes are, as in pandas."""
    types = pa.types
    if types.is_dictionary(type_):
        return is_text(type_.value_type)
    checks = (types.is_string, types.is_large_string, types.is_string_view)
    return any(check(type_) for check in (*checks, types.is_binary, types.is_large_binary, types.is_time))


def is_plain_text(type_: pa.DataType) -> bool:
    """Whether a column of this type is text, and not declared to be categories."""
    types = pa.types
    return is_text(type_) and not (
        types.is_dictionary(type_)
        or types.is_time(type_)
        or types.is_binary(type_)
        or types.is_large_binary(type_)
    )


def is_number(type_: pa.DataType) -> bool:
    """Whether categories of this type are kept as numbers; all others are kept as their text."""
    types = pa.types
    if types.is_dictionary(type_):
        return is_number(type_.value_type)
    return any(
        check(type_) for check in (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
    )


class ArrowSource(Source):
    """Columns of a record batch or an Arrow table."""

    array = None

    def __init__(self, batch: Any) -> None:
        self.table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        self.n_rows, self.n_columns = self.table.shape
        self.names: list[str] | None = [str(name) for name in self.table.column_names]

    def label(self, j: int) -> str:
        assert self.names is not None
        return repr(self.names[j])

    def _type(self, j: int) -> pa.DataType:
        return self.table.schema.field(j).type

    def kind(self, j: int) -> str:
        return arrow_kind(self._type(j), self.label(j))

    def is_plain_text(self, j: int) -> bool:
        return is_plain_text(self._type(j))

    def categories(self, j: int) -> list[Any]:
        values = CategoryValues(self._type(j))
        values.add(self.table.column(j), self.label(j))
        return values.in_order()

    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        indices, values = encoded(self.table.column(j))
        code_of_value = index.get_indexer(pd.Index(values, dtype=object)).astype(np.float64)
        code_of_value[code_of_value < 0] = np.nan
        return np.append(code_of_value, np.nan)[indices]

    def numbers(self, j: int) -> NDArray[np.float64]:
        column, type_ = self.table.column(j), self._type(j)
        if self.kind(j) == TIME:
            return _seconds(column, type_)
        if pa.types.is_dictionary(type_):
            column = column.cast(type_.value_type)
        if is_text(column.type):
            raise ValueError(f"column {self.label(j)} holds text, not numbers; convert it first.")
        return _floats(column)

    def rounded_columns(self) -> list[int]:
        long = [j for j in range(self.n_columns) if self._type(j) in (pa.int64(), pa.uint64())]
        filled = [j for j in long if self.table.column(j).null_count < self.n_rows]
        ends = {j: pc.min_max(self.table.column(j)) for j in filled}
        return [
            j
            for j, end in ends.items()
            if end["max"].as_py() > LARGEST_EXACT or end["min"].as_py() < -LARGEST_EXACT
        ]

    def refuse_infinities(self, is_number: list[bool]) -> None:
        for j, number in enumerate(is_number):
            if number and pa.types.is_floating(self._type(j)):
                refuse_infinity(self.numbers(j), self.label(j))


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Float64 with NaN for nulls; whole numbers beyond 2^53 are rounded, as in pandas."""
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if column.type != pa.float64():
        column = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _seconds(column: pa.ChunkedArray, type_: pa.DataType) -> NDArray[np.float64]:
    if pa.types.is_date(type_):
        column, type_ = column.cast(pa.timestamp("s"), safe=False), pa.timestamp("s")
    return _floats(column.cast(pa.int64(), safe=False)) / _PER_SECOND[type_.unit]


def encoded(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[Any]]:
    """Positions in a list of distinct values (its length: missing), text as ``str``."""
    if not pa.types.is_dictionary(column.type):
        if pa.types.is_time(column.type):  # Arrow encodes no times of day
            column = pa.chunked_array([pa.array([None if v is None else str(v) for v in column.to_pylist()])])
        column = column.dictionary_encode()
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    values = array.dictionary.to_pylist()
    if not is_number(column.type):
        values = [None if value is None else str(value) for value in values]
    indices = array.indices.cast(pa.int64()).fill_null(len(values))
    return np.asarray(indices.to_numpy(zero_copy_only=False)), values


class CategoryValues:
    """The values of a category column, collected over batches.

    An ordered category keeps the order of its dictionary; everything else is sorted.
    """

    def __init__(self, type_: pa.DataType) -> None:
        self.ordered = bool(pa.types.is_dictionary(type_) and type_.ordered)
        self.found: dict[Any, int] = {}  # value -> place in the order of an ordered category
        self.present: set[Any] = set()

    def __len__(self) -> int:
        return len(self.present)

    def add(self, column: pa.ChunkedArray, label: str) -> None:
        """Take in the values of a batch."""
        indices, values = encoded(column)
        seen = np.bincount(indices, minlength=len(values) + 1)[: len(values)] > 0
        is_value = [value is not None and value == value for value in values]
        self.present.update(value for value, here, ok in zip(values, seen, is_value) if here and ok)
        if self.ordered:
            self._keep_order([value for value, ok in zip(values, is_value) if ok], label)

    def _keep_order(self, values: list[Any], label: str) -> None:
        places = [self.found.get(value, len(self.found) + k) for k, value in enumerate(values)]
        if places != sorted(places):
            raise ValueError(
                f"the ordered category {label} lists its values in another order than the rows before; "
                "write all parts with the same categories."
            )
        for value in values:
            self.found.setdefault(value, len(self.found))

    def in_order(self) -> list[Any]:
        """The values that rows have, in code order."""
        if self.ordered:
            return [value for value in self.found if value in self.present]
        return sorted(self.present)


def open_array(X: Any) -> Source:
    """A source for an array, a nested list or a sparse matrix."""
    if sp.issparse(X):
        X = _with_indices_inside(X)
    X = _without_masks(_without_lists(X))
    return FrameSource(pd.DataFrame(X), by_position=True) if _beyond_numbers(X) else ArraySource(X)


def _with_indices_inside(X: Any) -> Any:
    """Refuse a sparse matrix with indices outside of it: SciPy's compiled code follows them unchecked."""
    if X.format in ("csr", "csc", "bsr"):
        X.check_format(full_check=True)
        return X
    X = X.tocoo()
    for n_sides, index in zip(X.shape, X.coords):
        if len(index) and not 0 <= index.min() <= index.max() < n_sides:
            raise ValueError(f"X is a sparse matrix of shape {X.shape} with indices outside of it.")
    return X


class ArraySource(Source):
    """A homogeneous array of numbers, a nested list or a sparse matrix."""

    names = None

    def __init__(self, X: Any) -> None:
        try:
            # It adds up values, and a sum of single-precision ones may overflow.
            with np.errstate(over="ignore", invalid="ignore"):
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
        return category_values(self._series(j))

    def codes(self, j: int, index: pd.Index) -> NDArray[np.float64]:
        return codes_of(self._series(j), index)

    def numbers(self, j: int) -> NDArray[np.float64]:
        return self._series(j).to_numpy(dtype=np.float64)

    def rounded_columns(self) -> list[int]:
        if self.array.dtype not in (np.int64, np.uint64) or sp.issparse(self.array) or not self.array.size:
            return []
        if self.array.min() >= -LARGEST_EXACT and self.array.max() <= LARGEST_EXACT:
            return []
        outside = (self.array > LARGEST_EXACT) | (self.array < -LARGEST_EXACT)
        return [int(j) for j in np.flatnonzero(outside.any(axis=0))]

    def refuse_infinities(self, is_number: list[bool]) -> None:
        """Arrays were checked on entry."""


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
        if not np.ma.getmaskarray(X).any():
            return X.data
        return np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    return X.astype(object) if isinstance(X, np.ndarray) and X.dtype.kind == "T" else X


def _beyond_numbers(X: Any) -> bool:
    """Whether it is an array of two dimensions with text, times or missing objects in it."""
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    return X.dtype.kind in "UMm" or (
        X.dtype == object and any(isinstance(value, _BEYOND_NUMBERS) for value in X.ravel())
    )
