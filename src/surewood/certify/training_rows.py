"""What is known about the training rows of a model ([D-34]).

Classifiers of this package remember the contents of their training rows; for others `X_train=` does. Inside a
pipeline the remembered rows are those that the steps before passed on, so new rows are passed on as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from surewood._arrays import Mask
from surewood.bounds import error_limit, has_too_many_copies
from surewood.estimators.remembered import RememberedRows

__all__ = [
    "ChosenOnRows",
    "RemembersRows",
    "TrainingRows",
    "fitted_steps",
    "inner_model",
    "settings_searched",
    "training_digest",
]


@runtime_checkable
class RemembersRows(Protocol):
    """A fitted classifier that recognises copies of its training rows."""

    remembered_rows_: RememberedRows


@runtime_checkable
class ChosenOnRows(Protocol):
    """A classifier with a part, such as a threshold, that was chosen on rows beyond its training rows."""

    choice_rows_: RememberedRows


def training_digest(model: Any) -> int | None:
    """A number that a fit on other rows would hardly share; None for models that do not remember theirs.

    What was found for a model is about that fit: fitted again on other rows, it is another model.
    """
    inner = inner_model(model)
    own = inner.remembered_rows_ if isinstance(inner, RemembersRows) else None
    return own.salt if isinstance(own, RememberedRows) else None


class TrainingRows:
    """The training rows of a model, as far as they are known."""

    def __init__(self, model: Any, X_train: Any = None) -> None:
        self._model = model
        self._given = None if X_train is None else RememberedRows.from_table(X_train)
        self._width = None if X_train is None else _n_columns(X_train)
        inner = inner_model(model)
        own = inner.remembered_rows_ if isinstance(inner, RemembersRows) else None
        self._own = own if isinstance(own, RememberedRows) else None
        self._of_members = [] if self._own is not None else _members_memories(model)
        self._chosen_on = inner.choice_rows_ if isinstance(inner, ChosenOnRows) else None

    @property
    def known(self) -> bool:
        """Whether copies of training rows can be recognised."""
        return self._given is not None or self._own is not None

    @property
    def n_rows(self) -> int:
        """Training rows, 0 where they are not known."""
        return self._rows().n_rows if self.known else 0

    @property
    def copied_fraction(self) -> float:
        """Fraction of training rows that repeat another one; 0 where they are not known."""
        rows = self._rows() if self.known else None
        return 0.0 if rows is None or rows.n_rows == 0 else 1.0 - rows.n_contents / rows.n_rows

    @property
    def too_many_copies(self) -> bool:
        """Whether in-sample bounds are withheld because training rows repeat ([D-38])."""
        own = self._own or self._given
        return own is not None and own.n_rows > 0 and has_too_many_copies(own.n_rows, own.n_contents)

    def _rows(self) -> RememberedRows:
        rows = self._given if self._given is not None else self._own
        assert rows is not None
        return rows

    def copies(self, X: Any, n: int) -> Mask:
        """Which rows are copies of training rows."""
        return self.look_for_copies(X, n)[0]

    def look_for_copies(self, X: Any, n: int) -> tuple[Mask, float]:
        """Which rows are copies of training rows, and how many more are expected to have gone unnoticed.

        Noise moves a few values across the boundary of the rounding. A row whose values all crossed it
        upwards, or all downwards, is found by moving the table back; one with both is not. With crossings at
        a Poisson rate, r = exact / found gives their number: sqrt(e) = 2r / (1 + r) for the fraction e of
        copies without a crossing, and (1 - sqrt(e))^2 of the copies go unnoticed.
        """
        exact = self._exact_copies(X, n)
        if not exact.any():
            return exact, 0.0
        found = exact.copy()
        for step in _PROBES:
            found |= self._exact_copies(_moved(X, 1.0 + step), n)
        ratio = float(exact.sum()) / float(found.sum())
        unnoticed = (1.0 - 2.0 * ratio / (1.0 + ratio)) ** 2
        return found, float(found.sum()) * unnoticed / (1.0 - unnoticed)

    def _exact_copies(self, X: Any, n: int) -> Mask:
        return self._found(X, n, RememberedRows.contains)

    def alike(self, X: Any, n: int) -> Mask:
        """Which rows agree with a training row in two significant digits of every number."""
        return self._found(X, n, RememberedRows.resembles)

    @property
    def likeness_limit(self) -> float:
        """A fraction that independent new rows alike a training row hardly exceed; 1 where nothing is known.

        A new row is alike a training row about as often as a training row is alike another one: twice the
        upper limit of that fraction.
        """
        rows = self._rows() if self.known else None
        if rows is None or rows.n_alike is None or rows.n_contents == 0:
            return 1.0
        return min(1.0, 2.0 * error_limit(rows.n_alike, rows.n_contents, delta=_LIKENESS_DELTA))

    def _found(self, X: Any, n: int, look: Callable[[RememberedRows, Any], Mask]) -> Mask:
        """Which rows any of the memories finds."""
        found = np.zeros(n, dtype=bool)
        if self._given is not None:
            if self._width != _n_columns(X):
                columns = f"{self._width} against {_n_columns(X)}"
                raise ValueError(f"X_train must have the columns of X, got {columns} columns")
            try:
                found |= look(self._given, X)
            except ValueError as error:
                raise ValueError(f"X_train must have the columns of X: {error}") from None
        if self._own is not None:
            found |= look(self._own, _passed_on(self._model, X))
        for path, rows in self._of_members:
            found |= _found_by_member(path, rows, X, look)
        if self._chosen_on is not None:
            found |= look(self._chosen_on, X)
        return found


def _found_by_member(
    path: tuple[Any, ...], rows: RememberedRows, X: Any, look: Callable[[RememberedRows, Any], Mask]
) -> Mask:
    """Which rows a member of another library's ensemble was trained on; none where it saw other columns."""
    n = len(X)
    for model in path:
        X = _passed_on(model, X)
    try:
        return look(rows, X)
    except ValueError:
        return np.zeros(n, dtype=bool)


def _members_memories(
    model: Any, path: tuple[Any, ...] = (), depth: int = 0
) -> list[tuple[tuple[Any, ...], RememberedRows]]:
    """What the members of an ensemble of another library remember, each with the models rows pass through."""
    path, inner = (*path, model), inner_model(model)
    own = inner.remembered_rows_ if isinstance(inner, RemembersRows) else None
    if isinstance(own, RememberedRows):
        return [(path, own)]
    if depth >= _DEEPEST or not type(inner).__module__.startswith("sklearn."):
        return []
    fitted = [value for name, value in vars(inner).items() if name.endswith("_")]
    if not hasattr(inner, "get_params"):  # the parts of CalibratedClassifierCV are no estimators
        fitted.append(vars(inner).get("estimator"))
    return [found for member in _models_in(fitted) for found in _members_memories(member, path, depth + 1)]


def _models_in(values: Any) -> list[Any]:
    """Classifiers among fitted attributes, and in lists, arrays and dictionaries of them."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, dict):
            found += _models_in(value.values())
        elif isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
            found += _models_in(np.ravel(value) if isinstance(value, np.ndarray) else value)
        elif callable(getattr(value, "predict_proba", None)):
            found.append(value)
    return found


_LIKENESS_DELTA = 1e-3  # of the upper limit of the fraction of training rows that are alike
_DEEPEST = 4  # ensembles of ensembles that are looked into

# Relative distances at which near-copies are looked for: noise of 1e-9, and what float32 keeps of a number.
_PROBES = (3e-9, -3e-9, 6e-8, -6e-8, 1.5e-7, -1.5e-7)


def _moved(X: Any, factor: float) -> Any:
    """The table with every floating-point number multiplied."""
    import pandas as pd

    if not isinstance(X, pd.DataFrame) and hasattr(X, "to_pandas"):  # polars and Arrow
        X = X.to_pandas()
    if isinstance(X, pd.DataFrame):
        numbers = [c for c in X.columns if pd.api.types.is_float_dtype(X[c].dtype)]
        moved = X.copy()
        moved[numbers] = X[numbers].astype(np.float64) * factor
        return moved
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return X.astype(np.float64) * factor
    return X


def _n_columns(X: Any) -> int:
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    return int(shape[1]) if len(shape) > 1 else 1


def _steps(model: Any) -> list[tuple[str, Any]]:
    from sklearn.pipeline import Pipeline

    return list(model.steps) if isinstance(model, Pipeline) else []


def inner_model(model: Any) -> Any:
    """The classifier itself: the last step of a pipeline, the best estimator of a search."""
    steps = _steps(model)
    if steps:
        return inner_model(steps[-1][1])
    best = getattr(model, "best_estimator_", None)
    return model if best is None or isinstance(model, RemembersRows) else inner_model(best)


def settings_searched(model: Any) -> int:
    """Settings that searches of another library, such as ``GridSearchCV``, compared on the training rows.

    Searches of this package count their settings themselves ([D-37]).
    """
    steps = _steps(model)
    if steps:
        return settings_searched(steps[-1][1])
    best = getattr(model, "best_estimator_", None)
    if best is None or isinstance(model, RemembersRows):
        return 1
    tried = getattr(model, "cv_results_", {}).get("params", ())
    return max(1, len(tried)) * settings_searched(best)


def fitted_steps(model: Any) -> tuple[str, ...]:
    """Names of the pipeline steps that were fitted before the classifier saw the rows."""
    best = getattr(model, "best_estimator_", None)
    if best is not None and not _steps(model):
        return fitted_steps(best)
    return tuple(name for name, step in _steps(model)[:-1] if step is not None and step != "passthrough")


def _passed_on(model: Any, X: Any) -> Any:
    """Rows as the classifier sees them."""
    steps = _steps(model)
    if steps:
        return _passed_on(steps[-1][1], model[:-1].transform(X) if len(steps) > 1 else X)
    best = getattr(model, "best_estimator_", None)
    return X if best is None or isinstance(model, RemembersRows) else _passed_on(best, X)
