"""The first and the last line of every ``fit``, and the first of every ``predict``.

:func:`begin_fit` validates without touching the estimator; :meth:`FitInputs.store` writes the metadata on it
once the fit has succeeded. A fit that fails, or is interrupted, leaves the estimator as it was.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
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

from surewood.tables.duplicates import merge_equal_rows
from surewood.tables.schema import TableSchema, open_source
from surewood.tables.table import Table


@dataclass
class FitInputs:
    """Validated training data, equal rows merged, in an order that depends on their content alone.

    Attributes
    ----------
    table : Table
    y : ndarray of int32, shape (n_rows,)
        Class codes.
    inverse : ndarray of int64, one entry a row of ``X``
        Which row of `table` each row of ``X`` became; -1 for a row of weight 0.
    classes : ndarray, shape (n_classes,)
        Labels as the user gave them, sorted.
    weight : ndarray of float64, shape (n_rows,), or None
        ``sample_weight`` times ``class_weight``, summed over equal rows; None when every weight is 1.
    schema : TableSchema
    """

    table: Table
    y: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None
    schema: TableSchema
    inverse: NDArray[np.int64]
    _probe: Any

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def expand(self, values: NDArray[Any], fill: Any = np.nan) -> NDArray[Any]:
        """Values a row of `table` as values a row of ``X``; `fill` for rows of weight 0."""
        out = values[np.maximum(self.inverse, 0)]
        if (self.inverse < 0).any():
            out[self.inverse < 0] = fill
        return out

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
    merge: bool = True,
) -> FitInputs:
    """Validate training data for a classifier; NaN is allowed, infinities are not.

    With `merge` equal rows become one of their summed weight and rows of weight 0 vanish, see
    :mod:`surewood.tables.duplicates`. Without it the rows stay as given: for estimators that split them
    by a ``cv`` of the user's and fit on the parts.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> inputs = begin_fit(DummyClassifier(), [[1.0], [2.0], [2.0]], ["no", "yes", "yes"])
    >>> inputs.classes.tolist(), inputs.table.shape, sorted(inputs.weight.tolist())
    (['no', 'yes'], (2, 1), [1.0, 2.0])
    >>> inputs.y[inputs.inverse].tolist()
    [0, 1, 1]
    """
    probe = copy.copy(estimator)  # scikit-learn's checks write on it, not on the estimator
    source = open_source(X)
    validate_data(probe, X, y, reset=True, skip_check_array=True)
    codes, classes = _class_codes(y)
    check_consistent_length(X, codes)
    schema = TableSchema.learn(source, categorical_features)
    table = schema.read(source)
    weight = _weights(X, codes, classes, sample_weight, class_weight)
    inverse = np.arange(table.n_rows)
    if merge:
        merged = merge_equal_rows(table, codes, weight)
        table, codes, inverse = table.take(merged.rows), codes[merged.rows], merged.inverse
        weight = None if (merged.weight == 1.0).all() else merged.weight
    return FitInputs(table, codes, classes, weight, schema, inverse, probe)


def begin_predict(estimator: Any, X: Any) -> Table:
    """The table of a fitted estimator's later input, after the checks of scikit-learn."""
    check_is_fitted(estimator, "schema_")
    source = open_source(X)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return estimator.schema_.read(source)


def _class_codes(y: Any) -> tuple[NDArray[np.int32], NDArray[Any]]:
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    if y.dtype == object and pd.isna(y).any():
        raise ValueError("Input y contains missing labels; drop those rows first.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int32), classes


def _weights(
    X: Any, codes: NDArray[np.int32], classes: NDArray[Any], sample_weight: Any, class_weight: Any
) -> NDArray[np.float64] | None:
    weight = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
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
        weight = factors[codes] * (1.0 if weight is None else weight)
    if weight is not None and (weight == 1.0).all():
        return None
    return weight
