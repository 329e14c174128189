"""The first and the last line of every ``fit``, and the first of every ``predict``.

:func:`begin_fit` validates without touching the estimator; :meth:`TrainingTable.store` writes the metadata on
it once the fit has succeeded. A fit that fails, or is interrupted, leaves the estimator as it was.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from surewood._text import has_half_characters
from surewood.tables.parquet import ParquetTable, RowStream, as_parquet, read_training
from surewood.tables.planning.labels import QuantityWarning, why_quantity
from surewood.tables.row_hashes import merge_equal_rows
from surewood.tables.schema import TableSchema, open_source, treated_as_missing
from surewood.tables.sources import Source
from surewood.tables.table import Table
from surewood.tables.workspace import Workspace


@dataclass
class TrainingTable:
    """Validated training data, equal rows merged, in an order that depends on their content alone.

    Attributes
    ----------
    table : Table
    y : ndarray of int32, shape (n_rows,)
        Class codes.
    inverse : ndarray of int64, one entry per row of ``X``, or None
        Which row of `table` each row of ``X`` became; -1 for a row of weight 0 (or without a label, in a
        Parquet file). None: every row stayed where it was.
    classes : ndarray, shape (n_classes,)
        Labels as the user gave them, sorted.
    weight : ndarray of float64, shape (n_rows,), or None
        ``sample_weight`` times ``class_weight``, summed over equal rows; None when every weight is 1.
    schema : TableSchema
    weighted : bool
        Whether sample weights (an array or a column) or class weights were given.
    unmerged : TrainingTable or None
        The same rows as they came, with their labels and weights, where equal ones were merged.
    merged : TrainingTable or None
        The other way round, where one fit shares its rows with others.
    is_shared : bool
        Whether another fit owns what was read.
    groups : ndarray of int64, shape (n_rows,), or None
        Number of each row's group, in the order of the groups' labels: what holds rows out holds out whole
        groups. Equal rows are merged within a group only. None: every row is a group of its own.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from surewood.tables import begin_fit
    >>> inputs = begin_fit(DummyClassifier(), [[1.0], [2.0], [2.0]], ["no", "yes", "yes"])
    >>> inputs.n_classes, inputs.n_counted, inputs.table.n_rows  # two equal rows were merged
    (2, 3, 2)
    """

    table: Table
    y: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None
    schema: TableSchema
    inverse: NDArray[np.int64] | None
    _probe: Any
    weighted: bool = False
    unmerged: TrainingTable | None = field(default=None, repr=False)
    merged: TrainingTable | None = field(default=None, repr=False)
    is_shared: bool = False
    groups: NDArray[np.int64] | None = None

    @property
    def given(self) -> Table:
        """All rows that took part, as they came: equal ones not merged, those of weight 0 included."""
        return self.table if self.unmerged is None else self.unmerged.table

    @property
    def n_counted(self) -> int:
        """Rows of ``X`` that count."""
        return self.table.n_rows if self.inverse is None else int((self.inverse >= 0).sum())

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def __enter__(self) -> TrainingTable:
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the files that a fit on a streamed table wrote, whether it succeeded or not."""
        if self.table.stream is not None and not self.is_shared:
            self.table.stream.workspace.close()

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives of these rows and weights: made when first asked for, kept with the table."""
        weight, made = self.table.made.get(name, (None, None))
        if made is None or weight is not self.weight:
            made = make()
            self.table.made[name] = self.weight, made
        return made

    def expand(self, values: NDArray[Any], fill: Any = np.nan) -> NDArray[Any]:
        """Values by row of `table` as values by row of ``X``; `fill` for rows of weight 0."""
        if self.inverse is None:
            return values
        out = values[np.maximum(self.inverse, 0)]
        if (self.inverse < 0).any():
            out[self.inverse < 0] = fill
        return out

    def as_given(self) -> TrainingTable:
        """The rows before equal ones were merged, which share what is made of the merged ones."""
        if self.unmerged is None:
            return self
        return replace(self.unmerged, merged=self, is_shared=self.is_shared)

    def merge(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values by row of :meth:`as_given` as values by row of `table`: means over equal rows."""
        if self.unmerged is None or self.inverse is None:
            return values
        rows = self.unmerged.inverse  # a Parquet file has more rows where some have no label
        place = self.inverse if rows is None else self.inverse[rows >= 0]
        place, values = place[place >= 0], values[place >= 0]
        sums = np.zeros((self.table.n_rows, *values.shape[1:]))
        np.add.at(sums, place, values)
        return np.asarray(sums / np.bincount(place, minlength=len(sums))[:, None])

    def store(self, estimator: Any) -> None:
        """Write ``classes_``, ``schema_``, ``n_features_in_`` and ``feature_names_in_`` on the estimator."""
        estimator.classes_ = self.classes
        estimator.schema_ = self.schema
        estimator.n_features_in_ = self._probe.n_features_in_
        if hasattr(self._probe, "feature_names_in_"):
            estimator.feature_names_in_ = self._probe.feature_names_in_
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_


def begin_fit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    class_weight: Any = None,
    categorical_features: Any = "from_dtype",
    groups: Any = None,
    merge: bool = True,
    merge_streamed: bool = True,
) -> TrainingTable:
    """Validate training data for a classifier; NaN is allowed, infinities are not.

    With `merge` equal rows become one of their summed weight and rows of weight 0 vanish, see
    :mod:`surewood.tables.row_hashes`. Without it the rows stay as given: for estimators that split them
    by a ``cv`` of the user's and fit on the parts.

    `X` may be a :class:`~surewood.ParquetTable`, or the path of a Parquet file or folder with `y` the
    name of its target column (and `sample_weight` that of a column of weights, or an array). Then ``table``
    is streamed; its rows are merged only with `merge_streamed`, which reads every column once more. Use the
    result in a ``with`` statement: at its end the files of the fit are removed.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> inputs = begin_fit(DummyClassifier(), [[1.0], [2.0], [2.0]], ["no", "yes", "yes"])
    >>> inputs.classes.tolist(), inputs.table.shape, sorted(inputs.weight.tolist())
    (['no', 'yes'], (2, 1), [1.0, 2.0])
    >>> inputs.y[inputs.inverse].tolist()
    [0, 1, 1]
    """
    parquet = as_parquet(X, y)
    if parquet is not None:
        return _begin_parquet(
            estimator,
            parquet,
            sample_weight,
            class_weight,
            categorical_features,
            groups,
            merge and merge_streamed,
        )
    probe = copy.copy(estimator)  # scikit-learn's checks write on it, not on the estimator
    source = open_source(X)
    validate_data(probe, X, y, reset=True, skip_check_array=True)
    codes, classes = _class_codes(y)
    check_consistent_length(X, codes)
    schema = TableSchema.learn(source, categorical_features)
    table = schema.read(source)
    weight = _weights(X, codes, classes, sample_weight, class_weight)
    weighted = sample_weight is not None or class_weight is not None
    numbers = _group_numbers(groups, table.n_rows)
    every_row = np.arange(table.n_rows)
    rows = TrainingTable(table, codes, classes, weight, schema, every_row, probe, weighted, groups=numbers)
    return merged_inputs(rows) if merge else rows


def merged_inputs(rows: TrainingTable) -> TrainingTable:
    """The same, equal rows (of one group) as one of their summed weight, rows of weight 0 left out."""
    kind = rows.y if rows.groups is None else joint_codes(rows.y, rows.groups)
    merged = merge_equal_rows(rows.table, kind, rows.weight)
    return replace(
        rows,
        table=rows.table.take(merged.rows),
        y=rows.y[merged.rows],
        weight=None if (merged.weight == 1.0).all() else merged.weight,
        inverse=merged.inverse,
        unmerged=rows,
        groups=None if rows.groups is None else rows.groups[merged.rows],
    )


def _group_numbers(groups: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Numbers of the groups of all rows, in the order of their labels."""
    if groups is None:
        return None
    labels = np.asarray(groups, dtype=object) if isinstance(groups, list | tuple) else np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(f"groups must have one label per row, shape ({n_rows},), got shape {labels.shape}.")
    if pd.isna(labels).any():
        raise ValueError("groups has missing labels; every row needs one.")
    try:
        names, numbers = np.unique(labels, return_inverse=True)
    except TypeError:
        raise TypeError(
            "groups mixes labels of several types; make all of them text or all numbers."
        ) from None
    if len(names) < 2:
        raise ValueError("groups has one group only; at least two are needed to hold one out.")
    return numbers.astype(np.int64)


def joint_codes(y: NDArray[Any], groups: NDArray[Any]) -> NDArray[np.int32]:
    """A number for each pair of class and group.

    Examples
    --------
    >>> joint_codes(np.array([0, 1, 0, 0]), np.array([5, 5, 5, 7])).tolist()
    [0, 2, 0, 1]
    """
    return np.unique(np.stack([y, groups]), axis=1, return_inverse=True)[1].astype(np.int32)


def _begin_parquet(
    estimator: Any,
    parquet: ParquetTable,
    sample_weight: Any,
    class_weight: Any,
    categorical_features: Any,
    groups: Any,
    merge: bool,
) -> TrainingTable:
    """The inputs of a fit on a Parquet data set; only labels and weights are in memory."""
    if isinstance(sample_weight, str):
        if parquet.weight not in (None, sample_weight):
            raise ValueError(f"sample_weight={sample_weight!r}, but the table has weight={parquet.weight!r}.")
        parquet, sample_weight = replace(parquet, weight=sample_weight), None
    stream, y, classes, column = read_training(parquet, categorical_features)
    kept, schema = stream.kept, stream.schema
    if parquet.weight is not None:
        if sample_weight is not None:
            raise ValueError("sample_weight and a weight column were both given; give one of them.")
        sample_weight = column
    elif sample_weight is not None and kept is not None:
        sample_weight = np.asarray(sample_weight)
        if sample_weight.shape == kept.shape:
            sample_weight = sample_weight[kept]
    probe = copy.copy(estimator)
    validate_data(probe, pd.DataFrame(columns=schema.names), reset=True, skip_check_array=True)
    weight = _weights(y, y, classes, sample_weight, class_weight)
    weighted = sample_weight is not None or class_weight is not None
    table = stream.table()
    numbers = _group_numbers(groups, len(y) if kept is None else len(kept))
    if numbers is not None and kept is not None:
        numbers = numbers[kept]
    inputs = TrainingTable(table, y, classes, weight, schema, None, probe, weighted, groups=numbers)
    if kept is not None:
        inputs = replace(inputs, inverse=np.where(kept, np.cumsum(kept) - 1, -1))
    if not merge:
        return inputs
    merged = merged_inputs(inputs)
    assert merged.inverse is not None
    return replace(merged, inverse=inputs.expand(merged.inverse, fill=-1))


def begin_predict(estimator: Any, X: Any) -> Table:
    """The table of a fitted estimator's later input, after the checks of scikit-learn.

    A Parquet file, or a folder of parts, may have more columns than the training table: those of training are
    read, by name. The table is streamed then (:meth:`Table.batches`). A table that was read before is taken
    as it is.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier
    >>> from surewood.tables import begin_predict
    >>> forest = BinnedForestClassifier(3, random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    >>> begin_predict(forest, [[0.5], [2.0], [3.0]]).shape
    (3, 1)
    """
    if isinstance(X, Table) and "schema_" in vars(estimator):
        return X
    check_is_fitted(estimator, "schema_")
    parquet = as_parquet(X)
    if parquet is not None:
        return _parquet_table(estimator.schema_, parquet)
    if isinstance(X, list) and X and all(isinstance(row, Mapping) for row in X):
        X = pd.DataFrame.from_records(X)
    source = open_source(X)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    schema: TableSchema = estimator.schema_
    table = schema.read(source)
    _warn_of_new_categories(schema, source, table)
    return table


def _warn_of_new_categories(schema: TableSchema, source: Source, table: Table) -> None:
    """Say once per call how many values are missing because training did not have their category."""
    counts: dict[str, int] = {}
    for j, values in enumerate(schema.categories):
        if values is None or not np.isnan(table.column(j)).any():
            continue
        known, is_text = set(values), any(isinstance(value, str) for value in values)
        new = [value for value in source.categories(j) if (str(value) if is_text else value) not in known]
        rows = int(np.count_nonzero(~np.isnan(source.codes(j, pd.Index(new, dtype=object))))) if new else 0
        if rows:
            counts[str(source.label(j))] = rows
    if counts:
        warnings.warn(f"{treated_as_missing(counts, 'new')}.", UserWarning, stacklevel=3)


def by_batches(table: Table, function: Callable[[Table], NDArray[Any]]) -> NDArray[Any]:
    """``function(table)``, an array with a row for each of the table's; streamed tables batch by batch.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.tables import TableSchema, by_batches
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> by_batches(TableSchema.learn(X).read(X), lambda table: table.column(0) + table.column(1)).tolist()
    [3.0, 7.0]
    """
    if table.stream is None:
        return function(table)
    out: NDArray[Any] | None = None
    for places, part in table.batches():
        rows = function(part)
        if out is None:
            out = np.empty((table.n_rows, *rows.shape[1:]), dtype=rows.dtype)
        out[places] = rows
    assert out is not None
    return out


def _parquet_table(schema: TableSchema, parquet: ParquetTable) -> Table:
    if schema.names is None:
        raise ValueError(
            "the model was trained without column names, which a Parquet file is read by; "
            "train it on a frame or on a Parquet file."
        )
    opened = replace(parquet, target=None, weight=None).open(columns=schema.names)
    return RowStream(opened, schema, opened.n_rows, None, Workspace(parquet.workdir)).table()


def _class_codes(y: Any) -> tuple[NDArray[np.int32], NDArray[Any]]:
    y = column_or_1d(_plain_labels(y), warn=True)
    if y.dtype == object and pd.isna(y).any():
        raise ValueError(_MISSING_LABELS)
    assert_all_finite(y, input_name="y")
    for label in set(y.tolist()) if y.dtype.kind in "OU" else ():
        if isinstance(label, str) and has_half_characters(label):
            raise ValueError(
                f"y holds {label!a}, a label with half a character (a lone surrogate); rename it."
            )
    types = sorted({type(label).__name__ for label in y}) if y.dtype == object else []
    if "str" in types and len(types) > 1:
        raise TypeError(f"y mixes labels of types {', '.join(types)}; make all of them text or all numbers.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    why = why_quantity(pd.Series(classes), len(y)) if len(classes) > 2 else ""
    if why:
        warnings.warn(
            f"y looks like a quantity ({why}): each value is taken as a class; pandas.cut makes classes of "
            "ranges.",
            QuantityWarning,
            stacklevel=3,
        )
    return codes.astype(np.int32), classes


_MISSING_LABELS = "Input y contains missing labels; drop those rows first."


def _plain_labels(y: Any) -> Any:
    """Labels that scikit-learn would turn into other ones, as they are.

    Whole numbers and flags of pandas' and Arrow's types that know missing values would become floats, a mask
    would be forgotten, and NumPy's own strings are not known.
    """
    if isinstance(y, np.ma.MaskedArray):
        if np.ma.getmaskarray(y).any():
            raise ValueError(_MISSING_LABELS)
        return y.data
    if isinstance(y, np.ndarray):
        return y.astype(object) if y.dtype.kind == "T" else y
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, pd.api.extensions.ExtensionDtype) and dtype.kind in "iub":
        if pd.isna(y).any():
            raise ValueError(_MISSING_LABELS)
        return y.to_numpy(dtype=getattr(dtype, "numpy_dtype", None))
    return y


def _weights(
    X: Any, codes: NDArray[np.int32], classes: NDArray[Any], sample_weight: Any, class_weight: Any
) -> NDArray[np.float64] | None:
    weight: NDArray[np.float64] | None = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        with np.errstate(over="ignore"):
            total = weight.sum()
        if not np.isfinite(total):  # one infinite number passes scikit-learn's check
            raise ValueError("sample_weight must be finite numbers with a finite sum.")
        if not weight.any():
            raise ValueError("sample_weight is zero for every row; at least one row must count.")
    if class_weight is not None:
        # Weighted, so that weight 2 is the row twice for "balanced" as well. A class of total weight 0
        # never meets its factor.
        keys: Any = np.arange(len(classes))
        if isinstance(class_weight, dict):
            unknown = set(class_weight) - set(classes.tolist())
            if unknown:
                raise ValueError(
                    f"class_weight names classes that are not in y: {sorted(map(str, unknown))}."
                )
            factors = np.array([class_weight.get(c, 1.0) for c in classes.tolist()], dtype=np.float64)
        else:
            present = np.bincount(codes, weights=weight, minlength=len(classes)) > 0
            factors = np.ones(len(classes))
            kept = present[codes]
            factors[present] = compute_class_weight(
                class_weight,
                classes=keys[present],
                y=codes[kept],
                sample_weight=None if weight is None else weight[kept],
            )
        if not np.isfinite(factors).all() or (factors < 0).any():
            raise ValueError("class_weight must be finite and not negative.")
        with np.errstate(over="ignore"):
            weight = factors[codes] * (1.0 if weight is None else weight)
    if weight is None or (weight == 1.0).all():
        return None
    _refuse_extreme(weight)
    return weight


_LEAST, _MOST = 1e-100, 2.0**53  # squares fit into a float; whole weights up to here are counted exactly


def _refuse_extreme(weight: NDArray[np.float64]) -> None:
    """Weights count rows, so their sum has to be a number of rows that can be counted with."""
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total == 0.0:
        raise ValueError("sample_weight and class_weight leave no row that counts.")
    if not _LEAST <= total <= _MOST:
        raise ValueError(
            f"the weights of all rows sum to {total:.3g}; sample_weight and class_weight count rows and must "
            f"sum to between {_LEAST:.0e} and {_MOST:.0e}: multiply them by a constant."
        )
