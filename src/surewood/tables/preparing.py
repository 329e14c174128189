"""``TablePreparer``: tables of other people made ready for an estimator, the same way in training and later.

It learns what every column is by name, so that later tables may have their columns in another order, or more
of them. What happens to a column:

number
    Stays, as float64; truth values become 0 and 1.
date
    Becomes four numbers, see :mod:`surewood.tables.dates`.
category
    Text, categories: stays. In a later table 1, 1.0 and "1" mean the category "1" where training had text.
dropped
    A column without any value, with one value only, or text with too many different values to be categories
    (more than `max_values`, or more than 50 that occur less than twice on average: names, numbers of
    documents, free text).
"""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surewood.tables.data_error import DataError
from surewood.tables.dates import PARTS, date_numbers, read_dates, recognise_dates
from surewood.tables.row_hashes import content_hashes

_FEW_VALUES = 50  # so many different texts are categories, however rare each is


class TablePreparer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a frame into numbers and categories, by column name.

    Parameters
    ----------
    max_values : int, default=1000
        Most different values of a category column of text.

    Attributes
    ----------
    columns_ : dict of str to dict
        The rule of every column that is used: "kind" ("number", "date", "category") and what it needs.
    dropped_ : dict of str to str
        Columns that are not used, and why.
    row_keys_ : ndarray of uint64
        Sorted content hashes of the prepared training rows: they tell whether later rows are new.

    Examples
    --------
    >>> frame = pd.DataFrame({"born": ["1990-02-01", "1985-07-30"], "job": ["clerk", "baker"], "x": [1, 1]})
    >>> preparer = TablePreparer().fit(frame)
    >>> preparer.transform(frame).columns.tolist()
    ['born: year', 'born: month', 'born: weekday', 'born: days', 'job']
    >>> preparer.dropped_
    {'x': 'it has one value only'}
    """

    def __init__(self, max_values: int = 1000) -> None:
        self.max_values = max_values

    def fit(self, X: pd.DataFrame, y: Any = None) -> TablePreparer:
        """Learn what each column is."""
        _refuse_arrays(X)
        columns: dict[str, dict[str, Any]] = {}
        dropped: dict[str, str] = {}
        for name in X.columns:
            reason, rule = self._rule(X[name])
            if reason:
                dropped[str(name)] = reason
            else:
                columns[str(name)] = rule
        if not columns:
            why = "; ".join(f"{name!r}: {reason}" for name, reason in list(dropped.items())[:5])
            raise DataError(f"the table has no usable column besides the target ({why}).")
        self.columns_, self.dropped_ = columns, dropped
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = X.shape[1]
        self.row_keys_ = np.unique(content_hashes(self.transform(X)))
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The same columns of a later table; others are ignored, missing ones refused."""
        check_is_fitted(self, "columns_")
        _refuse_arrays(X)
        present = {str(name): name for name in X.columns}
        self._refuse_missing(list(present))
        out: dict[str, pd.Series] = {}
        for name, rule in self.columns_.items():
            column = X[present[name]]
            if rule["kind"] == "date":
                for part, values in date_numbers(_dates(name, column, rule["form"])).items():
                    out[f"{name}: {part}"] = values
            elif rule["kind"] == "number":
                out[name] = _numbers(name, column)
            else:
                out[name] = _categories(column, rule)
        return pd.DataFrame(out, index=X.index)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the prepared columns."""
        check_is_fitted(self, "columns_")
        names: list[str] = []
        for name, rule in self.columns_.items():
            names += [f"{name}: {part}" for part in PARTS] if rule["kind"] == "date" else [name]
        return np.array(names, dtype=object)

    def extra_columns(self, X: pd.DataFrame) -> list[str]:
        """Columns of a later table that training did not have."""
        known = set(self.feature_names_in_.tolist())
        return [str(name) for name in X.columns if str(name) not in known]

    def unseen_categories(self, X: pd.DataFrame) -> dict[str, int]:
        """Rows of a later table with a category that training did not have, by column."""
        counts: dict[str, int] = {}
        for name, rule in self.columns_.items():
            if rule["kind"] == "category":
                values = as_text(X[name])
                new = values.notna() & ~values.isin([str(v) for v in rule["values"]])
                if new.any():
                    counts[name] = int(new.sum())
        return counts

    def seen_rows(self, X: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows of a later table, prepared, are equal to a training row."""
        return np.isin(content_hashes(self.transform(X)), self.row_keys_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # columns are known by their names
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _rule(self, column: pd.Series) -> tuple[str, dict[str, Any]]:
        """Why a column is dropped, or its rule."""
        known = column.dropna()
        if len(known) == 0:
            return "it has no value at all", {}
        n_values = known.nunique()
        if n_values == 1 and len(known) == len(column):
            return "it has one value only", {}
        if pd.api.types.is_datetime64_any_dtype(column.dtype) or _holds(known, "date"):
            return "", {"kind": "date", "form": "ISO8601"}
        if isinstance(column.dtype, pd.CategoricalDtype):
            ordered, values = bool(column.cat.ordered), column.cat.categories.tolist()
            present = set(known.unique().tolist())
            rule = {"kind": "category", "values": [v for v in values if v in present], "ordered": ordered}
        elif pd.api.types.is_timedelta64_dtype(column.dtype) or _holds(known, "number"):
            return "", {"kind": "number"}
        else:
            form = recognise_dates(known)
            if form is not None:
                return "", {"kind": "date", "form": form}
            text = as_text(known)
            n_values = text.nunique()
            rule = {"kind": "category", "values": sorted(text.unique().tolist()), "ordered": False}
        if n_values > self.max_values or n_values > max(_FEW_VALUES, len(known) / 2):
            return f"it is text with {n_values:,} different values in {len(known):,} rows", {}
        return "", rule

    def _refuse_missing(self, present: list[str]) -> None:
        absent = [name for name in self.columns_ if name not in present]
        if not absent:
            return
        shown = ", ".join(repr(name) for name in absent[:8]) + (", ..." if len(absent) > 8 else "")
        close = difflib.get_close_matches(absent[0], present, n=1)
        hint = f" (is {close[0]!r} the column {absent[0]!r}?)" if close else ""
        plural = "s" if len(absent) > 1 else ""
        raise DataError(f"the table lacks the column{plural} {shown} that the model was trained with{hint}.")


def _refuse_arrays(X: Any) -> None:
    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"TablePreparer knows columns by name: X must be a pandas DataFrame, got {type(X)}.")


def as_text(column: pd.Series) -> pd.Series:
    """Values as text, missing ones as missing; a whole number reads the same as integer and as float."""
    if pd.api.types.is_float_dtype(column.dtype):
        whole = column.dropna() % 1 == 0
        if whole.all():
            column = column.astype("Int64")
    text = column.astype(object).map(str)
    return text.mask(column.isna().to_numpy(), None)


def _holds(known: pd.Series, what: str) -> bool:
    if pd.api.types.is_numeric_dtype(known.dtype) or pd.api.types.is_bool_dtype(known.dtype):
        return what == "number"
    if not pd.api.types.is_object_dtype(known.dtype):
        return False
    found = pd.api.types.infer_dtype(known)
    if what == "date":
        return found in ("datetime", "datetime64", "date")
    return found in ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "timedelta")


def _dates(name: str, column: pd.Series, form: str) -> pd.Series:
    if column.notna().any() and pd.api.types.is_numeric_dtype(column.dtype):
        raise DataError(f"column {name!r} held dates in training and holds numbers now.")
    dates = read_dates(column, form)
    bad = (column.notna() & dates.isna()).to_numpy()
    if bad.any():
        value, row = column.to_numpy()[bad][0], int(np.flatnonzero(bad)[0]) + 1
        raise DataError(f"column {name!r} held dates in training; row {row} now has {str(value)!r}.")
    return dates


def _numbers(name: str, column: pd.Series) -> pd.Series:
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return pd.Series(column.dt.total_seconds())
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise DataError(f"column {name!r} held numbers in training and holds dates now.")
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index)
    values = column.astype(object).replace({"True": 1.0, "False": 0.0})
    numbers = pd.to_numeric(values.map(lambda v: float(v) if isinstance(v, bool) else v), errors="coerce")
    bad = (column.notna() & numbers.isna()).to_numpy()
    if bad.any():
        value, row = column.to_numpy()[bad][0], int(np.flatnonzero(bad)[0]) + 1
        raise DataError(f"column {name!r} held numbers in training; row {row} now has {str(value)!r}.")
    return numbers.astype(np.float64)


def _categories(column: pd.Series, rule: dict[str, Any]) -> pd.Series:
    """Known categories as they were in training; missing and unseen ones as missing."""
    meaning = {str(value): value for value in rule["values"]}
    text = as_text(column)
    values = text.map(meaning).where(text.isin(list(meaning)), None)
    return pd.Series(
        pd.Categorical(values, categories=rule["values"], ordered=rule["ordered"]), index=column.index
    )
