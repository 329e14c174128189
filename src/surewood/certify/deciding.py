"""Classifiers that take the probabilities of a fitted model and decide by a rule of their own.

`DecidingClassifier` is what they share. A rule that was chosen on some rows remembers them: a certificate on
the same rows would not be one on new rows, so `certify` does not count them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from surewood._arrays import Floats
from surewood.estimators.remembered import RememberedRows

__all__ = ["CostClassifier", "DecidingClassifier", "class_position", "probabilities_of"]


def probabilities_of(model: Any, X: Any, n: int | None = None) -> Floats:
    """Probabilities of the model, checked: one row per row of X, sums of one."""
    if not callable(getattr(model, "predict_proba", None)):
        raise TypeError(f"model must have a predict_proba method, got {type(model).__name__}")
    p = np.asarray(model.predict_proba(X), dtype=np.float64)
    if p.ndim != 2 or (n is not None and p.shape[0] != n):
        raise ValueError(f"model.predict_proba must return one row per row of X, got shape {p.shape}")
    if not np.isfinite(p).all() or p.min(initial=0.0) < -1e-9:
        raise ValueError("model.predict_proba must return probabilities, got negative or missing values")
    if not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError("model.predict_proba must return probabilities that sum to one")
    return p


def class_position(classes: NDArray[Any], label: Any) -> int:
    """Position of a class, found by value or by its text."""
    known = list(classes)
    found = [k for k, one in enumerate(known) if one == label] or [
        k for k, one in enumerate(known) if str(one) == str(label)
    ]
    if not found:
        names = ", ".join(str(one) for one in known[:5])
        raise ValueError(f"positive must be a class of the model ({names}), got {label!r}")
    return found[0]


class DecidingClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A fitted model with another rule of decision; probabilities stay the model's."""

    model: Any

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> DecidingClassifier:
        """Refused: a rule belongs to the model it was made for."""
        raise TypeError(f"{type(self).__name__} wraps a fitted model; fit the model, then make the rule anew")

    @property
    def classes_(self) -> NDArray[Any]:
        """The model's classes."""
        return np.asarray(self.model.classes_)

    @property
    def remembered_rows_(self) -> RememberedRows:
        """The model's training rows, where it remembers them ([D-34])."""
        rows: RememberedRows = self.model.remembered_rows_
        return rows

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the model."""
        return probabilities_of(self.model, X)

    @abstractmethod
    def decide(self, probabilities: Floats) -> NDArray[Any]:
        """Decisions from probabilities of the model."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Decision for each row."""
        return self.decide(self.predict_proba(X))


class CostClassifier(DecidingClassifier):
    """Decide for the class of smallest expected cost.

    Parameters
    ----------
    model : fitted classifier
        With calibrated probabilities: the expected cost is only as good as they are.
    cost : array of shape (n_classes, n_classes)
        Cost of predicting the column's class where the row's class is true, in the order of ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surewood.certify import Claim, CostClassifier, certify
    >>> X, y = make_classification(1000, flip_y=0.2, random_state=0)
    >>> model = LogisticRegression().fit(X[:500], y[:500])
    >>> cost = [[0, 1], [5, 0]]  # a missed 1 costs five times a false alarm
    >>> careful = CostClassifier(model, cost)
    >>> bool((careful.predict(X) == 1).sum() > (model.predict(X) == 1).sum())
    True
    >>> certificate = certify(careful, X[500:], y[500:], X_train=X[:500], claims=Claim("cost", cost=cost))
    >>> certificate.guarantees[0].quantity
    'expected cost'
    """

    def __init__(self, model: Any, cost: Any) -> None:
        self.model = model
        self.cost = cost
        self._check_cost()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._check_cost()

    def _check_cost(self) -> None:
        k = len(self.classes_)
        matrix = np.asarray(self.cost, dtype=np.float64)
        if matrix.shape != (k, k) or not np.isfinite(matrix).all() or matrix.min() < 0:
            raise ValueError(
                f"cost must be a matrix of shape ({k}, {k}) with entries >= 0, got shape {matrix.shape}"
            )

    def decide(self, probabilities: Floats) -> NDArray[Any]:
        """The class of smallest expected cost; among equal ones the more probable."""
        expected = probabilities @ np.asarray(self.cost, dtype=np.float64)
        tied = expected <= expected.min(axis=1, keepdims=True) + 1e-12
        return np.asarray(self.classes_[np.where(tied, probabilities, -1.0).argmax(axis=1)])
