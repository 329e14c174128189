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
    At most 20 numbers: hashed word and character n-grams, TF-IDF, and the leading directions of it. No labels
    are used, and no vocabulary is stored: a :class:`TextEncoding` is three arrays.
drop
    Not used, for the reason that the plan gives.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import Floats, check_values
from surewood._text import listed
from surewood.tables.planning.column_plan import ColumnPlan, distinct_texts, is_plain_numbers, read_column
from surewood.tables.planning.dates import date_numbers
from surewood.tables.planning.finding import MANY_VALUES, n_unreadable, n_unseen
from surewood.tables.planning.table_plan import TablePlan, completed, plan
from surewood.tables.schema import treated_as_missing
from surewood.tables.sources import DataError
from surewood.tables.table_file import FileRows, column_names


@dataclass(frozen=True)
class TrainingRows:
    """The rows that a model was trained on, as far as later commands need them."""

    #: Where they stand in their files.
    where: FileRows | None = None
    #: Their groups, as `RememberedRows`.
    groups: Any = None
    #: Whether some were left out, or their labels merged, for what their labels are.
    chosen: bool = False


class TablePreparer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a raw frame into numbers and categories, by column name.

    Parameters
    ----------
    max_values : int, default=1000
        Maximum number of distinct values of a text column that is read as categories.
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

    #: What a fit from a file records about its rows.
    rows_: TrainingRows = TrainingRows()

    def __init__(self, max_values: int = MANY_VALUES, plan: TablePlan | None = None) -> None:
        self.max_values = max_values
        self.plan = plan

    def fit(self, X: Any, y: Any = None) -> TablePreparer:
        """Find out what each column is, or take the plan that was given."""
        X = as_frame(X)
        made = plan(X, max_values=self.max_values) if self.plan is None else completed(self.plan, X)
        if not made.used:
            why = "; ".join(f"{name!r}: {reason}" for name, reason in list(made.dropped.items())[:5])
            raise DataError(f"the table has no usable column besides the target ({why}).")
        self.plan_ = made
        self.texts_ = {
            c.name: fit_text_encoding(read_column(c, X[c.name]).dropna().unique().tolist())
            for c in made.used
            if c.kind == "text"
        }
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
        differences = self.differences(X) if lost or self._extra_columns(X) else ""
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
                out[column.name] = raw.to_numpy(np.float64)  # as read_column, in a third of the time
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
        """Whether nothing depends on the sample: no column or row dropped for what it showed, no text."""
        return not self.texts_ and self.plan_.fixed and not self.rows_.chosen

    def _extra_columns(self, X: pd.DataFrame) -> list[str]:
        """Columns of a later table that training did not have."""
        trained = set(self.feature_names_in_.tolist())
        return [name for name in X.columns if name not in trained]

    def differences(self, X: Any, known: Collection[str] = ()) -> str:
        """How a later table differs from training, in one line; empty where it does not.

        Examples
        --------
        >>> frame = pd.DataFrame({"x": [1.5, 2.5, 3.0], "city": ["Rome", "Oslo", "Rome"]})
        >>> preparer = TablePreparer().fit(frame)
        >>> preparer.differences(frame.assign(city="Bern", more=1))
        "3 values are new in 'city' and treated as missing; 1 column is new and not used ('more')."
        """
        X = as_frame(X)
        extra = [name for name in self._extra_columns(X) if name not in known]
        new, unreadable = {}, {}
        for column in self.plan_.used:
            if column.kind == "category":
                new[repr(column.name)] = n_unseen(column, X[column.name])
            else:
                unreadable[repr(column.name)] = n_unreadable(column, X[column.name])
        sentences = []
        for what, by_column in (("new", new), ("not readable as in training", unreadable)):
            counts = {name: count for name, count in by_column.items() if count}
            if counts:
                sentences.append(treated_as_missing(counts, what))
        if extra:
            columns = "1 column is" if len(extra) == 1 else f"{len(extra):,} columns are"
            sentences.append(f"{columns} new and not used ({listed(extra)})")
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
        close = difflib.get_close_matches(absent[0], present, n=1)
        hint = f" (is {close[0]!r} the column {absent[0]!r}?)" if close else ""
        plural = "s" if len(absent) > 1 else ""
        raise DataError(
            f"the table lacks the column{plural} {listed(absent, 8)} that the model was trained with{hint}."
        )


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


MAX_NUMBERS = 20
_HASHED = 1 << 12  # columns of the hashed words, and of the hashed characters
_FITTED_TEXTS = 20_000  # distinct texts that the directions are learned from
_BLOCK = 4096
_LARGEST_IDF = 100.0  # 1 plus a logarithm of a number of texts
_LONGEST = 1e6  # directions have length 1


@dataclass(frozen=True)
class TextEncoding:
    """How the texts of a column become numbers.

    Attributes
    ----------
    used : ndarray of int
        Hashed columns that occurred in training.
    idf : ndarray of float
        Their inverse document frequencies.
    directions : ndarray of float32 of shape (n_numbers, n_used)
        Directions of largest spread of the training texts.

    Examples
    --------
    >>> texts = ["the cat sat", "a dog barked loudly", "the cat slept", "dogs bark at cats"]
    >>> encoding = fit_text_encoding(texts)
    >>> numbers = encoding.transform(pd.Series(["the cat sat", None]))
    >>> numbers.shape, bool(np.isnan(numbers[1]).all())
    ((2, 3), True)
    """

    used: NDArray[np.int64]
    idf: Floats
    directions: NDArray[np.float32]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n_used = len(self.idf)
        check_values("used", self.used, "iu", (n_used,), 0, 2 * _HASHED - 1)
        check_values("idf", self.idf, "f", (n_used,), 0.0, _LARGEST_IDF)
        check_values("directions", self.directions, "f", (None, n_used), -_LONGEST, _LONGEST)

    @property
    def n_numbers(self) -> int:
        """Numbers per text."""
        return len(self.directions)

    def transform(self, column: pd.Series) -> Floats:
        """One row of numbers per value; missing texts are missing numbers."""
        codes, texts = distinct_texts(column)
        found = np.full((len(texts) + 1, self.n_numbers), np.nan)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            found[start : start + len(block)] = self._weighted(_counted(block)) @ self.directions.T
        return found[codes]

    def _weighted(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        weighted = counts[:, self.used].multiply(self.idf)
        return normalize(sp.csr_matrix(weighted))


def fit_text_encoding(texts: Sequence[str]) -> TextEncoding:
    """Learn an encoding from distinct texts, at most 20,000 of them, evenly spread over the sorted ones."""
    # Sorted, so that the encoding does not depend on the order of the rows.
    ordered = sorted(set(texts))
    step = max(1, -(-len(ordered) // _FITTED_TEXTS))
    counts = _counted(ordered[::step])
    documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    used = np.flatnonzero(documents)
    idf = np.log((1.0 + counts.shape[0]) / (1.0 + documents[used])) + 1.0
    whole = TextEncoding(used, idf, np.zeros((0, len(used)), dtype=np.float32))
    weighted = whole._weighted(counts)
    directions = _leading_directions(weighted, min(MAX_NUMBERS, min(weighted.shape) - 1))
    return TextEncoding(used, idf, directions)


def _counted(texts: Sequence[str]) -> sp.csr_matrix:
    """Logarithms of the counts of hashed words, pairs of words, and three or four characters within words."""
    kinds: tuple[dict[str, Any], ...] = (
        {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
        {"analyzer": "char_wb", "ngram_range": (3, 4)},
    )
    parts = [
        HashingVectorizer(n_features=_HASHED, alternate_sign=False, norm=None, **kind).transform(texts)
        for kind in kinds
    ]
    counts = sp.csr_matrix(sp.hstack(parts))
    counts.data = np.log1p(counts.data)
    return counts


def _leading_directions(weighted: sp.csr_matrix, n_numbers: int) -> NDArray[np.float32]:
    if n_numbers < 1:
        mean = np.asarray(weighted.mean(axis=0)).reshape(1, -1)
        return mean.astype(np.float32)
    from sklearn.decomposition import TruncatedSVD

    svd = TruncatedSVD(n_numbers, algorithm="randomized", n_iter=7, random_state=0)
    return np.asarray(svd.fit(weighted).components_, dtype=np.float32)
