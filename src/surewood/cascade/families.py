"""Families of classifiers that a generic cascade is made of (theory.md §3.5).

A family knows how to `fit` a member to weighted points, how rich it is as a class of leaves (`rademacher`)
and, if its members can order points, as a class of splits (`split_rademacher`). Members give `scores`
(the class of largest score is predicted) and `order` (the points of smallest value go on). Complexities refer
to the whole sample: closed forms where there are any, otherwise Massart's bound (1.3) of the number of
labelings.

Here: the interface, constants, and the wrapper for any scikit-learn classifier. `threshold_families` has
thresholds and stumps, `tree_family` small trees, `kernel_families` linear and kernel SVMs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from surewood._arrays import Codes, Floats, check_linear_part
from surewood.bounds import massart
from surewood.cascade.old_form import renamed
from surewood.cascade.trainer import distance_of


class Member(ABC):
    """A fitted classifier of some family.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.cascade import ConstantFamily
    >>> X, codes = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    >>> member = ConstantFamily().fit(X, codes, np.ones(4), 2)
    >>> member.scores(X).shape[0]
    4
    """

    @abstractmethod
    def scores(self, X: Floats) -> Floats:
        """One score per class, shape (n, n_classes); the largest is predicted, the first one on ties."""

    def order(self, X: Floats) -> Floats:
        """Points of smallest value go on: by default those whose two best scores are nearest."""
        return distance_of(self.scores(X))


class Family(ABC):
    """A class of classifiers, for leaves or for splits.

    Examples
    --------
    >>> from surewood.cascade import Family, StumpFamily
    >>> isinstance(StumpFamily(), Family)
    True
    """

    can_order = True  # whether members order points, so that the family may split

    @abstractmethod
    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        """The member of smallest weighted error on the points, exactly or through a surrogate."""

    @abstractmethod
    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        """Log of the number of ways in which members label `m` points."""

    def split_log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        """Log of the number of ways in which ``order(x) <= c`` divides `m` points."""
        return 2.0 * self.log_growth(m, n_features, n_classes)

    def rademacher(self, X: Floats, n_classes: int) -> float:
        """Complexity as leaves: values ±1 with two classes, indicators of a class with more (§2.6)."""
        m = len(X)
        growth = min(m * math.log(2.0), self.log_growth(m, X.shape[1], n_classes))
        return float(massart(growth, m, values="signed" if n_classes == 2 else "binary"))

    def split_rademacher(self, X: Floats, n_classes: int) -> float:
        """Complexity as splits, values 0 and 1."""
        m = len(X)
        growth = min(m * math.log(2.0), self.split_log_growth(m, X.shape[1], n_classes))
        return float(massart(growth, m, values="binary"))


Families: TypeAlias = tuple[Family, ...]


@dataclass
class ConstantMember(Member):
    """Always the same scores."""

    values: Floats

    def scores(self, X: Floats) -> Floats:
        return np.tile(self.values, (len(X), 1))

    @classmethod
    def of(cls, codes: Codes, weight: Floats, n_classes: int) -> ConstantMember:
        """Class frequencies of the points, of which the majority class has the largest."""
        return cls(np.bincount(codes, weights=weight, minlength=n_classes) / weight.sum())


@dataclass
class ConstantFamily(Family):
    """The same class for every point.

    Examples
    --------
    >>> import numpy as np
    >>> round(ConstantFamily().rademacher(np.zeros((4, 1)), n_classes=2), 3)  # E|sum of 4 signs| / 4
    0.375
    """

    can_order = False

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        return ConstantMember.of(codes, weight, n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return math.log(n_classes)

    def rademacher(self, X: Floats, n_classes: int) -> float:
        """Exact for two classes: E|σ₁ + ... + σ_m| / m."""
        if n_classes > 2:
            return super().rademacher(X, n_classes)
        half = (len(X) - 1) // 2
        n = 2 * half  # E|S_m| is the same for m = 2h + 1 and m = 2h + 2: (2h + 1) C(2h, h) / 4^h
        log_mean = math.lgamma(n + 2) - 2 * math.lgamma(half + 1) - n * math.log(2.0)
        return math.exp(log_mean) / len(X)


@dataclass
class EstimatorMember(Member):
    """A fitted scikit-learn classifier."""

    estimator: Any
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_linear_part(self.estimator)

    def scores(self, X: Floats) -> Floats:
        known = np.asarray(self.estimator.classes_, dtype=np.int64)
        predicted = np.asarray(self.estimator.predict(X), dtype=np.int64)
        scores = np.zeros((len(X), self.n_classes))
        if hasattr(self.estimator, "predict_proba"):
            scores[:, known] = self.estimator.predict_proba(X)
        elif hasattr(self.estimator, "decision_function"):
            values = np.asarray(self.estimator.decision_function(X), dtype=np.float64)
            values = np.column_stack([-values, values]) if values.ndim == 1 else values
            scores[:] = values.min() - 1.0 if values.size else 0.0
            scores[:, known] = values
        else:
            scores[np.arange(len(X)), predicted] = 1.0
        return _put_first(scores, predicted)

    def order(self, X: Floats) -> Floats:
        if not _can_order(self.estimator):
            raise ValueError(_no_order(self.estimator))
        return super().order(X)


def _put_first(scores: Floats, predicted: NDArray[np.int64]) -> Floats:
    """Exchange scores where the best is not the predicted class: leaves predict as their estimator does."""
    rows = np.flatnonzero(scores.argmax(axis=1) != predicted)
    best = scores[rows].argmax(axis=1)
    own = scores[rows, predicted[rows]].copy()
    scores[rows, predicted[rows]] = np.nextafter(scores[rows, best], np.inf)
    scores[rows, best] = own
    return scores


def _can_order(estimator: Any) -> bool:
    return hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")


def _no_order(estimator: Any) -> str:
    return (
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, so it cannot order "
        "points and cannot split; offer it for leaves only."
    )


@dataclass
class EstimatorFamily(Family):
    """Any scikit-learn classifier, with a complexity given by the user.

    Parameters
    ----------
    estimator : classifier
        Cloned for every node.
    complexity : float or callable
        Rademacher complexity as leaves, or a function of ``(X, n_classes)`` that gives it.
    split_complexity : float or callable, optional
        The same as splits; by default `complexity`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> EstimatorFamily(GaussianNB(), complexity=0.3).can_order
    True
    """

    estimator: Any
    complexity: float | Callable[[Floats, int], float] = 1.0
    split_complexity: float | Callable[[Floats, int], float] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(renamed(state, {"question_complexity": "split_complexity"}))

    @property
    def can_order(self) -> bool:  # type: ignore[override]
        return _can_order(self.estimator)

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        model = clone(self.estimator)
        options = {"sample_weight": weight} if has_fit_parameter(model, "sample_weight") else {}
        return EstimatorMember(model.fit(X, codes, **options), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return m * math.log(2.0)  # nothing is known; `rademacher` does not use it

    def rademacher(self, X: Floats, n_classes: int) -> float:
        return self._value(self.complexity, X, n_classes)

    def split_rademacher(self, X: Floats, n_classes: int) -> float:
        given = self.complexity if self.split_complexity is None else self.split_complexity
        return self._value(given, X, n_classes)

    def _value(self, given: Any, X: Floats, n_classes: int) -> float:
        value = float(given(X, n_classes)) if callable(given) else float(given)
        if not value >= 0:
            raise ValueError(
                f"the complexity of {type(self.estimator).__name__} must be at least 0, got {value!r}."
            )
        return value
