"""Fitted attributes of an estimator that its fitted model holds."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Generic, TypeVar

from sklearn.utils.validation import check_is_fitted

_Value = TypeVar("_Value")


class Fitted(property, Generic[_Value]):
    """A public attribute that is read from ``model_``, declared in one line.

    Parameters
    ----------
    name : str
        Name in the model; dots lead into its parts.
    doc : str
        What it is.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn.base import BaseEstimator
    >>> class Forest(BaseEstimator):
    ...     def fit(self):
    ...         self.model_ = SimpleNamespace(seed=7)
    ...         return self
    ...
    ...     seed_ = Fitted[int]("seed", "What the trees were drawn with.")
    >>> Forest().fit().seed_, hasattr(Forest(), "seed_")
    (7, False)
    """

    def __init__(self, name: str, doc: str) -> None:
        read = attrgetter(name)

        def value(estimator: Any) -> Any:
            check_is_fitted(estimator, "model_")
            return read(estimator.model_)

        super().__init__(value)
        self.__doc__ = doc

    def __get__(self, estimator: Any, owner: type | None = None) -> _Value:  # type: ignore[override]
        value: _Value = super().__get__(estimator, owner)
        return value
