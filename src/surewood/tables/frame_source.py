"""Columns of a pandas frame, and of whatever else is read as one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils import check_array

from surewood.tables.arrow_source import ArrowSource
from surewood.tables.source import CATEGORY, LARGEST_EXACT, NUMBER, TIME, Source

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
        own = None if by_position else [str(c) for c in X.columns]
        self.names = own if names is None else names

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
            return _seconds(series)
        return _floats(series, self.label(j))

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


def _floats(series: pd.Series, label: str) -> NDArray[np.float64]:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iu":
        return series.to_numpy().astype(np.float64)
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
    found = [np.nan if value is None else _place(index, str(value) if text else value) for value in values]
    return np.array(found, dtype=np.float64)


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
        known = index.get_indexer(present.map(str) if text else present).astype(np.float64)
        known[known < 0] = np.nan
        return np.append(known, np.nan)[series.cat.codes.to_numpy()]
    missing = series.isna().to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        values = series.astype(object)
    keys = pd.Index(values.map(str) if text else values, dtype=object)
    codes = index.get_indexer(keys).astype(np.float64)
    codes[(codes < 0) | missing] = np.nan
    return codes
