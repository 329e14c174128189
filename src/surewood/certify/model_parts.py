"""Looking into a fitted model: pipelines, searches, remembered rows, and whether it was changed since.

Classifiers of this package remember their training rows ([D-34]); for others `X_train=` does. Inside a
pipeline the remembered rows are those that the steps before passed on, so new rows are passed on as well. A
threshold or a prediction set is about one fitted model: `FittedState` remembers the parts that a fit makes as
they are, not copied, so a later fit of the same object puts others in their place ([D-37]). Files hold no
such memory: a model cannot be fitted between saving and loading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from surewood.base.base import ClassifierBase
from surewood.base.counted_rows import CountedRows, count_rows
from surewood.base.remembered import RememberedRows

__all__ = [
    "FittedState",
    "counted_rows",
    "fitted_steps",
    "inner_model",
    "memory_of",
    "settings_searched",
    "training_digest",
]


@runtime_checkable
class RemembersRows(Protocol):
    """A fitted classifier that recognizes its training rows."""

    remembered_rows_: RememberedRows


@runtime_checkable
class ChosenOnRows(Protocol):
    """A classifier with a part, such as a threshold, that was chosen on rows beyond its training rows."""

    choice_rows_: RememberedRows


def _steps(model: Any) -> list[tuple[str, Any]]:
    return list(model.steps) if isinstance(model, Pipeline) else []


def inner_model(model: Any) -> Any:
    """The classifier behind the steps of a pipeline or a search."""
    steps = _steps(model)
    if steps:
        return inner_model(steps[-1][1])
    best = getattr(model, "best_estimator_", None)
    return model if best is None or isinstance(model, RemembersRows) else inner_model(best)


def _parts(model: Any, X: Any = None) -> Iterator[tuple[Any, Any]]:
    """The model and what it takes its answers from, outside in, each with the rows as it sees them."""
    while True:
        yield model, X
        steps, best = _steps(model), getattr(model, "best_estimator_", None)
        if steps:
            X = X if X is None or len(steps) == 1 else model[:-1].transform(X)
            model = steps[-1][1]
        elif hasattr(model, "decide"):  # a rule
            model = model.model
        elif best is not None and not isinstance(model, RemembersRows):
            model = best
        else:
            return


def memory_of(model: Any) -> RememberedRows | None:
    """The training rows that a model, or the one whose probabilities a rule takes, remembers."""
    rows = getattr([part for part, _ in _parts(model)][-1], "remembered_rows_", None)
    return rows if isinstance(rows, RememberedRows) else None


def training_digest(model: Any) -> int | None:
    """A number that a fit on other rows would hardly share; None for models that do not remember theirs."""
    memory = memory_of(model)
    return None if memory is None else memory.digest


def counted_rows(
    model: Any,
    X: Any,
    *,
    X_train: Any = None,
    copies: str = "check",
    groups: NDArray[Any] | None = None,
    labels: NDArray[Any] | None = None,
) -> CountedRows:
    """Which rows of a holdout count for a model ([D-33])."""
    parts = list(_parts(model, X))
    memory = memory_of(model)
    trained_on = [] if memory is None else [(memory, parts[-1][1])]
    chosen_on = [(part.choice_rows_, seen) for part, seen in parts if isinstance(part, ChosenOnRows)]
    if X_train is not None:
        if np.shape(X_train)[1:] != np.shape(X)[1:]:
            raise ValueError(f"X_train must have the columns of X, got {np.shape(X_train)} and {np.shape(X)}")
        columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        try:
            trained_on.append((RememberedRows.from_table(X_train, columns), X))
        except ValueError as error:
            raise ValueError(f"X_train must have the columns of X: {error}") from None
    return count_rows(X, trained_on, chosen_on, copies=copies, groups=groups, labels=labels)


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


class FittedState:
    """What the fits of a model and of its parts (steps of a pipeline, a wrapped model) have made.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    >>> before = FittedState(model)
    >>> before.is_of(model), before.is_of(model.set_params(C=100).fit([[0.0], [1.0]], [0, 1]))
    (True, False)
    """

    def __init__(self, model: Any) -> None:
        self._parts = [(owner, _made_by_fit(owner)) for owner in _owners(model)]

    def is_of(self, model: Any) -> bool:
        """Whether nothing was fitted, changed or replaced since; a fit that made the same again is none."""
        owners = _owners(model)
        if len(owners) != len(self._parts) or any(a is not b for a, (b, _) in zip(owners, self._parts)):
            return False
        missing = object()
        return all(
            _equal(getattr(owner, "__dict__", {}).get(name, missing), value)
            for owner, made in self._parts
            for name, value in made.items()
        )


def _owners(model: Any) -> list[Any]:
    """The model and every estimator among its parameters."""
    parameters = model.get_params(deep=True) if callable(getattr(model, "get_params", None)) else {}
    parts = [parameters[name] for name in sorted(parameters)]
    return [model, *(part for part in parts if hasattr(part, "get_params") and not isinstance(part, type))]


def _made_by_fit(owner: Any) -> dict[str, Any]:
    """Our classifiers keep all they need in two places; others may keep it anywhere, parameters included."""
    if isinstance(owner, ClassifierBase):
        return {name: vars(owner).get(name) for name in ("model_", "classes_")}
    state = getattr(owner, "__dict__", {})
    return {name: value for name, value in state.items() if name not in ("n_jobs", "verbose")}


def _equal(now: Any, then: Any) -> bool:
    if now is then:
        return True
    try:
        return bool(joblib.hash(now) == joblib.hash(then))
    except Exception:  # what cannot be compared is not known to be the same
        return False
