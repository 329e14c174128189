"""``TablePreparer``: raw tables made ready for an estimator, the same way in training and later.

What each column is says a :class:`~surewood.tables.planning.table_plan.TablePlan`, made from the training
table or given. Columns are known by name, so later tables may have theirs in another order, or more of them,
and may come from any reader: text that means a number is the number that another reader made of it. What
happens to a column:

number, boolean, duration
    One number; truth values become 0 and 1, durations seconds.
date
    A few numbers, see :mod:`surewood.tables.planning.dates`.
category
    Stays. In a later table 1, 1.0 and "1" mean the category "1" where training had text.
text
    At most 20 numbers, see :mod:`surewood.tables.planning.free_text`.
drop
    Not used, for the reason that the plan gives.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surewood.tables.planning.column_plan import ColumnPlan, is_plain_numbers, read_column
from surewood.tables.planning.dates import date_numbers
from surewood.tables.planning.finding import MANY_VALUES, n_unreadable, n_unseen
from surewood.tables.planning.free_text import TextEncoding, fit_text_encoding
from surewood.tables.planning.table_plan import TablePlan, completed, plan
from surewood.tables.reading.table_file import FileRows, column_names
from surewood.tables.sources import DataError


class TablePreparer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a raw frame into numbers and categories, by column name.

    Parameters
    ----------
    max_values : int, default=1000
        Most distinct values of a category column of text.
    plan : TablePlan, optional
        What the columns are; made from the training table by default.

    Attributes
    ----------
    plan_ : TablePlan
        What every column is and how it is read.
    texts_ : dict of str to TextEncoding
        How columns of free text become numbers.

    Examples
    --------
    >>> frame = pd.DataFrame({"born": ["1990-02-01", "1985-07-30"], "pay": ["$1,200.50", "n/a"], "x": [1, 1]})
    >>> preparer = TablePreparer().fit(frame)
    >>> preparer.transform(frame).columns.tolist()
    ['born: year', 'born: month', 'born: weekday', 'born: days', 'pay']
    >>> preparer.transform(frame)["pay"].tolist()
    [1200.5, nan]
    >>> preparer.dropped_
    {'x': 'it has one value only'}
    """

    #: What a fit from a file records about its rows: their numbers, what these count, their files and groups.
    row_numbers_: NDArray[np.int64] | None = None
    row_unit_: str | None = None
    row_files_: FileRows | None = None
    training_groups_: Any = None

    def __init__(self, max_values: int = MANY_VALUES, plan: TablePlan | None = None) -> None:
        self.max_values = max_values
        self.plan = plan

    def fit(self, X: Any, y: Any = None) -> TablePreparer:
        """Find out what each column is, or take the plan that was given."""
        X = as_frame(X)
        found = plan(X, max_values=self.max_values) if self.plan is None else completed(self.plan, X)
        if not found.used:
            why = "; ".join(f"{name!r}: {reason}" for name, reason in list(found.dropped.items())[:5])
            raise DataError(f"the table has no usable column besides the target ({why}).")
        self.plan_ = found
        self.texts_ = {c.name: _encoding(c, X[c.name]) for c in found.used if c.kind == "text"}
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = X.shape[1]
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "plan_" not in state:
            return  # not fitted
        if not all(isinstance(name, str) for name in self.feature_names_in_.tolist()):
            raise ValueError("names of columns must be text.")
        texts = {column.name for column in self.plan_.used if column.kind == "text"}
        if set(self.texts_) != texts or not all(isinstance(t, TextEncoding) for t in self.texts_.values()):
            raise ValueError("texts_ must have one encoding for each column of text.")

    def transform(self, X: Any) -> pd.DataFrame:
        """The same columns of a later table; others are ignored, missing ones refused.

        How the table differs from training is reported in one warning.
        """
        X, prepared = as_frame(X), self.prepare(X)
        lost = any(
            prepared[column.name].isna().sum() > X[column.name].isna().sum()
            for column in self.plan_.used
            if column.name in prepared and column.kind != "text"
        )
        differences = self.differences(X) if lost or self.extra_columns(X) else ""
        if differences:
            warnings.warn(differences, UserWarning, stacklevel=2)
        return prepared

    def prepare(self, X: Any) -> pd.DataFrame:
        """As :meth:`transform`, for callers that report differences themselves."""
        check_is_fitted(self, "plan_")
        X = as_frame(X)
        self._refuse_missing(list(X.columns))
        out: dict[str, Any] = {}
        for column in self.plan_.used:
            raw = X[column.name]
            if column.kind == "number" and column.reads_plain_numbers and is_plain_numbers(raw):
                out[column.name] = raw.to_numpy(np.float64)  # quickly: there may be 40,000 such columns
                continue
            values = read_column(column, raw, strict=True)
            if column.kind == "date":
                numbers = date_numbers(values, column.date_parts)
                out |= {f"{column.name}: {part}": numbers[part] for part in column.date_parts}
            elif column.kind == "text":
                encoded = self.texts_[column.name].transform(values)
                out |= dict(zip(self._names(column), encoded.T))
            else:
                out[column.name] = values
        return pd.DataFrame(out, index=X.index)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the prepared columns."""
        check_is_fitted(self, "plan_")
        names = [name for column in self.plan_.used for name in self._names(column)]
        return np.array(names, dtype=object)

    @property
    def parts_(self) -> dict[str, list[str]]:
        """The prepared columns that each column of the table became, where these are several."""
        names_of = {column.name: self._names(column) for column in self.plan_.used}
        return {name: names for name, names in names_of.items() if names != [name]}

    @property
    def columns_(self) -> dict[str, dict[str, Any]]:
        """The kind of every column that is used, by name."""
        return {column.name: {"kind": column.kind} for column in self.plan_.used}

    @property
    def dropped_(self) -> dict[str, str]:
        """Columns that are not used, and why."""
        return self.plan_.dropped

    @property
    def fixed_features_(self) -> bool:
        """Whether the features do not depend on the sample: nothing dropped for what it showed, no text."""
        return not self.texts_ and self.plan_.fixed

    def extra_columns(self, X: Any) -> list[str]:
        """Columns of a later table that training did not have."""
        trained = set(self.feature_names_in_.tolist())
        return [name for name in as_frame(X).columns if name not in trained]

    def unseen_categories(self, X: Any) -> dict[str, int]:
        """Rows of a later table with a category that training did not have, by column."""
        X = as_frame(X)
        counts = {c.name: n_unseen(c, X[c.name]) for c in self.plan_.used if c.kind == "category"}
        return {name: count for name, count in counts.items() if count}

    def unreadable_values(self, X: Any) -> dict[str, int]:
        """Values of a later table that are not what their column held in training, by column."""
        X = as_frame(X)
        counts = {c.name: n_unreadable(c, X[c.name]) for c in self.plan_.used if c.kind != "category"}
        return {name: count for name, count in counts.items() if count}

    def differences(self, X: Any, known: Collection[str] = ()) -> str:
        """How a later table differs from training, in one line; empty where it does not.

        Examples
        --------
        >>> frame = pd.DataFrame({"x": [1.5, 2.5, 3.0], "city": ["Rome", "Oslo", "Rome"]})
        >>> preparer = TablePreparer().fit(frame)
        >>> preparer.differences(frame.assign(city="Bern", more=1))
        "3 values are new in 'city' and treated as missing; 1 column is new and not used ('more')."
        """
        extra = [name for name in self.extra_columns(X) if name not in known]
        sentences = []
        for what, counts in (
            ("new", self.unseen_categories(X)),
            ("not readable as in training", self.unreadable_values(X)),
        ):
            if counts:
                total, where = sum(counts.values()), _shown(list(counts))
                sentences.append(f"{_are(total, 'value')} {what} in {where} and treated as missing")
        if extra:
            sentences.append(f"{_are(len(extra), 'column')} new and not used ({_shown(extra)})")
        return f"{'; '.join(sentences)}." if sentences else ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # columns are known by their names
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _names(self, column: ColumnPlan) -> list[str]:
        if column.kind == "date":
            return [f"{column.name}: {part}" for part in column.date_parts]
        if column.kind == "text":
            return [f"{column.name}: text {k + 1}" for k in range(self.texts_[column.name].n_numbers)]
        return [column.name]

    def _refuse_missing(self, present: list[str]) -> None:
        names = set(present)
        absent = [column.name for column in self.plan_.used if column.name not in names]
        if not absent:
            return
        shown = ", ".join(repr(name) for name in absent[:8]) + (", ..." if len(absent) > 8 else "")
        close = difflib.get_close_matches(absent[0], present, n=1)
        hint = f" (is {close[0]!r} the column {absent[0]!r}?)" if close else ""
        plural = "s" if len(absent) > 1 else ""
        raise DataError(f"the table lacks the column{plural} {shown} that the model was trained with{hint}.")


def _are(count: int, noun: str) -> str:
    return f"1 {noun} is" if count == 1 else f"{count:,} {noun}s are"


def _shown(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _encoding(column: ColumnPlan, values: pd.Series) -> TextEncoding:
    return fit_text_encoding(read_column(column, values).dropna().unique().tolist())


def as_frame(X: Any) -> pd.DataFrame:
    """A pandas frame of a frame of pandas, polars or Arrow, or of rows that are dicts; names as in files.

    Names are stripped, and a column without a name is called by its place, whoever read the table.

    Examples
    --------
    >>> as_frame(pd.DataFrame({"Unnamed: 0": [1], " age": [30]})).columns.tolist()
    ['column 1', 'age']
    """
    if isinstance(X, pa.Table | pa.RecordBatch):
        X = X.to_pandas()
    elif isinstance(X, list) and X and all(isinstance(row, dict) for row in X):
        X = pd.DataFrame.from_records(X)
    elif type(X).__module__.split(".")[0] == "polars" and hasattr(X, "to_arrow"):
        X = X.to_arrow().to_pandas()
    if not isinstance(X, pd.DataFrame):
        raise TypeError(
            "TablePreparer knows columns by name: X must be a frame of pandas, polars or Arrow, got "
            f"{type(X)}."
        )
    frame: pd.DataFrame = X
    names = column_names(X.columns)
    if names != list(frame.columns):
        frame = frame.copy(deep=False)
        frame.columns = pd.Index(names)
    return frame
