"""A loaded model is tried out on two rows: parts that check themselves may still not belong together.

One row is missing throughout, the other has a plain value or the last category in every column. What a forged
file does to the numbers of classes, columns or layers shows here, as a ModelFileError and not when the model
is used. Probabilities must sum to 1.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from surewood.base.base import ClassifierBase
from surewood.tables import Table, TableSchema

_TOLERANCE = 1e-6
_MOST_COLUMNS = 1 << 20


def flaw_of(model: Any) -> str | None:
    """What is wrong with a rebuilt model, in words; None for models that predict, and for other objects."""
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps]
        if not steps or not all(hasattr(step, "transform") for step in steps[:-1]):
            return "its steps do not make a pipeline"
        model = steps[-1]
        if not hasattr(model, "predict") and not hasattr(model, "transform"):
            return "its last step predicts nothing"
    inner = getattr(model, "model", model)  # a rule of decision has a model
    if isinstance(inner, Pipeline):
        return flaw_of(inner)
    if inner is not model and not hasattr(inner, "predict_proba"):
        return "it decides without probabilities"
    schema = getattr(inner, "schema_", None)
    if not isinstance(schema, TableSchema):
        if hasattr(inner, "schema_") or isinstance(inner, ClassifierBase):
            return "its columns are not known"
        folds = getattr(model, "models_", ())  # a model may be the mean of models
        folds = folds if isinstance(folds, list) else ()
        if not all(hasattr(fold, "predict_proba") for fold in folds):
            return "one of its models has no probabilities"
        flaw = next((flaw for flaw in map(flaw_of, folds) if flaw is not None), None)
        n_columns = getattr(inner, "n_features_in_", None)
        if flaw is not None or n_columns is None or not hasattr(model, "predict_proba"):
            return flaw
        if not isinstance(n_columns, int) or n_columns > _MOST_COLUMNS:
            return "its number of columns is none"
        return _flaw_of_classifier(model, np.zeros((2, n_columns)))
    names = getattr(inner, "feature_names_in_", None)
    if names is not None and list(names) != schema.names:
        return "its names of columns are not those of its table"
    if getattr(inner, "n_features_in_", None) != len(schema.kinds):
        return "its number of columns is not that of its table"
    rows = _two_rows(schema)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if hasattr(model, "predict_proba"):
            return _flaw_of_classifier(model, rows)
        if hasattr(model, "predict_set"):
            return _flaw_of_classifier(inner, rows) or _flaw_of_sets(model, rows)
        if hasattr(model, "transform"):
            found = np.asarray(model.transform(rows), dtype=np.float64)
            return None if found.ndim == 2 and len(found) == 2 else f"2 rows become {found.shape}"
        return _flaw_of_labels(model, rows) if hasattr(model, "predict") else None


def _flaw_of_classifier(model: Any, rows: Any) -> str | None:
    classes = np.asarray(model.classes_)
    if classes.ndim != 1 or len(classes) == 0:
        return "its classes are no list"
    found = np.asarray(model.predict_proba(rows))
    if found.shape != (2, len(classes)):
        return f"its probabilities of 2 rows and {len(classes)} classes have the shape {found.shape}"
    if not found.min() >= -_TOLERANCE or not found.max() <= 1.0 + _TOLERANCE:
        return "its probabilities are not between 0 and 1"
    if np.abs(found.sum(axis=1) - 1.0).max() > _TOLERANCE:
        return "its probabilities do not sum to 1"
    return None if hasattr(model, "schema_") or len(model.predict(rows)) == 2 else "it decides on other rows"


def _flaw_of_labels(model: Any, rows: Any) -> str | None:
    """Of classifiers without probabilities: labels, and one score per row and class (or per row)."""
    classes, found = np.asarray(model.classes_), np.asarray(model.predict(rows))
    if found.shape != (2,) or not np.isin(found, classes).all():
        return "it predicts classes that it does not have"
    scores = np.asarray(model.decision_function(rows)) if hasattr(model, "decision_function") else found
    expected = (2,) if scores is found or len(classes) == 2 else (2, len(classes))
    return None if scores.shape == expected else f"its scores of 2 rows have the shape {scores.shape}"


def _flaw_of_sets(model: Any, rows: Any) -> str | None:
    if model.by == "group":  # needs labels of groups
        return None
    found = model.sets_from(
        model.model.predict_proba(rows), np.zeros(2), model._row_thresholds(rows, None, 2)
    )
    return None if found.shape == (2, len(model.classes_)) else f"its sets have the shape {found.shape}"


def _two_rows(schema: TableSchema) -> Table:
    """A row without known values, and one of zeros and last categories, as a table that has been read.

    What the checks of later tables look at was compared above; reading a frame would cost more than all this.
    """
    n_categories = np.array([len(values or ()) for values in schema.categories], dtype=np.int64)
    rows = np.array([np.full(len(n_categories), np.nan), np.maximum(n_categories - 1, 0)])
    return Table(2, len(n_categories), schema.names, n_categories, rows, lambda j: rows[:, j])
