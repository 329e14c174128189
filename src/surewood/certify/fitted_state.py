"""Whether a model is still the one that something was found for ([D-37]).

A threshold or a prediction set is about one fitted model. The parts that a fit makes are remembered as they
are, not copied: a later fit of the same object, to the same rows too, puts others in their place. Files hold
no such memory. A model cannot be fitted between saving and loading, so it begins anew at load.
"""

from __future__ import annotations

from typing import Any

import joblib

from surewood.estimators.base import ClassifierBase

__all__ = ["FittedState"]

_NO_MATTER = ("n_jobs", "verbose")


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
    own = getattr(owner, "__dict__", {})
    return {name: value for name, value in own.items() if name not in _NO_MATTER}


def _equal(now: Any, then: Any) -> bool:
    if now is then:
        return True
    try:
        return bool(joblib.hash(now) == joblib.hash(then))
    except Exception:  # what cannot be compared is not known to be the same
        return False
