"""Families of classifiers: what leaves of generic cascades and composite trees hold (theory.md §2.7, §3.5).

A family knows how to `fit` a member to weighted points, how rich it is as a class of leaves (`rademacher`)
and, if its members can order points, as a class of splits (`split_rademacher`). Members give `scores`
(the class of largest score is predicted) and `order` (the points of smallest value go on). Complexities refer
to the whole sample: closed forms where there are any, otherwise Massart's bound (1.3) of the number of
labelings.

In order: the interface, constants, thresholds and stumps, small trees, kernel SVMs and linear classifiers,
the wrapper for any scikit-learn classifier, and the names that a user may write instead of a family.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from surewood._arrays import Codes, Floats, check_linear_part, check_number, check_values
from surewood.base import rules
from surewood.bounds import (
    interval_rademacher,
    log_growth,
    massart,
    threshold_rademacher,
    vc_dimension,
)
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec, useful_limit
from surewood.svm.one_vs_one import Predictor, class_scores


def distance_of(scores: Floats) -> Floats:
    """Distance from the decision boundary: |f|, or the gap between the two best class scores."""
    if scores.ndim == 1:
        return np.abs(scores)
    best = np.partition(scores, -2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])


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

    @property
    def parts(self) -> tuple[Member, ...]:
        """The classifiers that it is made of: itself, unless it is a tree of others."""
        return (self,)

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


# --- constants ----------------------------------------------------------------------------------------------


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


# --- thresholds on one feature ------------------------------------------------------------------------------


@dataclass
class StumpMember(Member):
    """One class on either side of a threshold on a feature."""

    feature: int
    threshold: float
    low: int
    high: int
    n_classes: int
    by_value: bool

    def scores(self, X: Floats) -> Floats:
        side = np.where(X[:, self.feature] <= self.threshold, self.low, self.high)
        return np.asarray(side[:, None] == np.arange(self.n_classes), dtype=np.float64)

    def order(self, X: Floats) -> Floats:
        value = X[:, self.feature]
        return value if self.by_value else np.abs(value - self.threshold)


@dataclass
class ThresholdFamily(Family):
    """Thresholds on one feature fixed in advance; as a split, the points of small value go on.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1], dtype=np.int32)
    >>> ThresholdFamily(0).fit(X, codes, np.ones(3), 2).threshold
    2.5
    """

    feature: int = 0

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        if not 0 <= self.feature < X.shape[1]:
            raise ValueError(f"ThresholdFamily(feature={self.feature}): the sample has {X.shape[1]} columns.")
        return StumpMember(*best_stump(X, codes, weight, n_classes, [self.feature]), n_classes, True)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return math.log(m * n_classes**2)

    def rademacher(self, X: Floats, n_classes: int) -> float:
        """Exact for two classes and distinct values."""
        return threshold_rademacher(len(X)) if n_classes == 2 else super().rademacher(X, n_classes)

    def split_rademacher(self, X: Floats, n_classes: int) -> float:
        """Exact for distinct values."""
        return threshold_rademacher(len(X), orientations=1, values="binary")


@dataclass
class StumpFamily(Family):
    """Thresholds on the best feature; as a split, the points nearest to the threshold go on.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 4.0]]), np.array([0, 1, 0], dtype=np.int32)
    >>> StumpFamily().fit(X, codes, np.ones(3), 2).feature
    1
    """

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        return StumpMember(*best_stump(X, codes, weight, n_classes, range(X.shape[1])), n_classes, False)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return math.log(m * n_features * n_classes**2)

    def split_log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return math.log(n_features * (m * (m + 1) / 2 + 1))  # intervals on one of the features

    def split_rademacher(self, X: Floats, n_classes: int) -> float:
        if X.shape[1] == 1:  # exact for distinct values
            return interval_rademacher(len(X))
        return super().split_rademacher(X, n_classes)


def best_stump(
    X: Floats, codes: NDArray[np.int32], weight: Floats, n_classes: int, features: Iterable[int]
) -> tuple[int, float, int, int]:
    """Feature, threshold and the classes below and above it of smallest weighted error.

    Ties go to the first feature, then to the smallest threshold. A constant is the stump that puts all points
    on one side.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> best_stump(X, np.array([0, 0, 1, 1], dtype=np.int32), np.ones(4), 2, [0])
    (0, 2.5, 0, 1)
    """
    by_class = (codes[:, None] == np.arange(n_classes)) * weight[:, None]
    total = by_class.sum(axis=0)
    majority = int(total.argmax())
    best, best_right = (0, np.inf, majority, majority), float(total.max())
    for feature in features:
        order = np.argsort(X[:, feature], kind="stable")
        value = X[order, feature]
        below = np.cumsum(by_class[order], axis=0)[:-1]
        right = below.max(axis=1) + (total - below).max(axis=1)
        right[value[1:] <= value[:-1]] = -np.inf
        if not len(right):
            continue
        at = int(right.argmax())
        if right[at] > best_right * (1 + 1e-12):
            middle = value[at] + (value[at + 1] - value[at]) / 2.0
            threshold = float(middle if middle < value[at + 1] else value[at])
            best_right = float(right[at])
            best = (int(feature), threshold, int(below[at].argmax()), int((total - below[at]).argmax()))
    return best


# --- small trees --------------------------------------------------------------------------------------------


_DEEPEST = 1023  # beyond, the complexity of deeper trees is no number


@dataclass
class TreeMember(Member):
    """A decision tree as plain arrays, node 0 first; a leaf is its own child."""

    feature: NDArray[np.int64]
    threshold: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    frequency: Floats  # (nodes, classes)
    depth: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n_nodes = len(self.frequency)
        for name, array in (("feature", self.feature), ("left", self.left), ("right", self.right)):
            check_values(name, array, "i", (n_nodes,), 0, None if name == "feature" else n_nodes - 1)
        check_values("threshold", self.threshold, "f", (n_nodes,))
        check_values("frequency", self.frequency, "f", (n_nodes, None), 0.0, 1.0)
        check_number("depth", self.depth, 0, min(n_nodes, _DEEPEST), whole=True)

    @classmethod
    def of(cls, tree: DecisionTreeClassifier, n_classes: int) -> TreeMember:
        """Copy a fitted scikit-learn tree."""
        arrays, nodes = tree.tree_, np.arange(tree.tree_.node_count)
        is_leaf = arrays.children_left < 0
        frequency = np.zeros((len(nodes), n_classes))
        frequency[:, np.asarray(tree.classes_, dtype=np.int64)] = arrays.value[:, 0, :]
        return cls(
            np.where(is_leaf, 0, arrays.feature).astype(np.int64),
            arrays.threshold.copy(),
            np.where(is_leaf, nodes, arrays.children_left).astype(np.int64),
            np.where(is_leaf, nodes, arrays.children_right).astype(np.int64),
            frequency / frequency.sum(axis=1, keepdims=True),
            int(arrays.max_depth),
        )

    def scores(self, X: Floats) -> Floats:
        single = X.astype(np.float32)  # scikit-learn compares single precision values with double thresholds
        node = np.zeros(len(X), dtype=np.int64)
        for _ in range(self.depth):
            low = single[np.arange(len(X)), self.feature[node]] <= self.threshold[node]
            node = np.where(low, self.left[node], self.right[node])
        return self.frequency[node]


@dataclass
class TreeFamily(Family):
    """Small decision trees; as a split, the points whose leaf is least pure go on.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0], dtype=np.int32)
    >>> TreeFamily(2).fit(X, codes, np.ones(3), 2).scores(X).argmax(axis=1)
    array([0, 1, 0])
    """

    max_depth: int = 2

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        tree = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0)
        return TreeMember.of(tree.fit(X, codes, sample_weight=weight), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        nodes = (1 << self.max_depth) - 1
        return nodes * math.log(m * n_features) + (nodes + 1) * math.log(n_classes)

    def split_log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return self.log_growth(m, n_features, 2)  # a leaf goes on or stays


# --- kernel SVMs and linear classifiers ---------------------------------------------------------------------


def pairwise_growth(growth: float, m: int, n_classes: int) -> float:
    """Log-growth of a decision among classes that is a function of all pairwise ones ([D-09])."""
    return growth if n_classes == 2 else min(m * math.log(2.0), math.comb(n_classes, 2) * growth)


@dataclass
class SvmMember(Member):
    """A fitted one-vs-one SVM."""

    predictor: Predictor
    n_classes: int

    def scores(self, X: Floats) -> Floats:
        decisions = self.predictor.decisions(X)
        if self.n_classes == 2:
            return np.column_stack([0.5 * decisions[:, 0], -0.5 * decisions[:, 0]])
        return class_scores(decisions, self.predictor.classes, self.n_classes)


@dataclass
class KernelFamily(Family):
    """Support vector machines with one kernel.

    Parameters
    ----------
    kernel : {"poly", "rbf"}
    degree : int, default=2
        Of the polynomial kernel (⟨x,x'⟩/n + 1)^degree.
    C : float, default=1
    gamma : float, optional
        Kernel width, by default 1/n. RBF SVMs realize every labeling: their complexity is the largest.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 0], dtype=np.int32)
    >>> KernelFamily("poly", 2, C=100.0).fit(X, codes, np.ones(3), 2).scores(X).argmax(axis=1)
    array([0, 1, 0])
    """

    kernel: str = "poly"
    degree: int = 2
    C: float = 1.0
    gamma: float | None = None

    def spec(self, n_features: int) -> KernelSpec:
        """The kernel for a table with this many features."""
        return KernelSpec(self.kernel, 1.0 / n_features if self.gamma is None else self.gamma, 1.0)

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        plain = bool((weight == 1.0).all())
        gram = Gram(X, max_memory=useful_limit(len(X), X.shape[1]))
        solved = solve_many(
            gram, [np.arange(len(X))], codes, [self.degree], [self.C], kernel=self.spec(X.shape[1]),
            weights=None if plain else weight,
        )  # fmt: skip
        return SvmMember(solved.predictor([0]), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        if self.kernel == "rbf":
            return m * math.log(2.0)
        return pairwise_growth(float(log_growth(vc_dimension(n_features, self.degree), m)), m, n_classes)


@dataclass
class LinearFamily(Family):
    """Linear classifiers, by logistic regression (`loss` "logistic") or as a linear SVM ("hinge").

    `C` is the inverse regularization.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[-1.0], [0.5], [1.0]]), np.array([0, 1, 1], dtype=np.int32)
    >>> LinearFamily("hinge").fit(X, codes, np.ones(3), 2).scores(X).argmax(axis=1)
    array([0, 1, 1])
    """

    loss: str = "logistic"
    C: float = 1.0

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        if self.loss == "hinge":
            as_kernel = KernelFamily(degree=1, C=self.C * X.shape[1])
            return as_kernel.fit(X, codes, weight, n_classes)
        if self.loss != "logistic":
            raise ValueError(f"loss must be 'logistic' or 'hinge', got {self.loss!r}.")
        model = LogisticRegression(C=self.C, max_iter=1000, tol=1e-6)
        return EstimatorMember(model.fit(X, codes, sample_weight=weight), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return pairwise_growth(float(log_growth(n_features + 1, m)), m, n_classes)


@dataclass
class GaussianFamily(Family):
    """Gaussian naive Bayes: every class has a mean and a variance per column.

    The difference of two classes is linear in the squares and the values of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[-1.0], [0.0], [0.1], [9.0]]), np.array([1, 0, 0, 1], dtype=np.int32)
    >>> GaussianFamily().fit(X, codes, np.ones(4), 2).scores(X).argmax(axis=1)
    array([1, 0, 0, 1])
    """

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        return EstimatorMember(GaussianNB().fit(X, codes, sample_weight=weight), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return pairwise_growth(float(log_growth(2 * n_features + 1, m)), m, n_classes)


# --- any scikit-learn classifier ----------------------------------------------------------------------------


@dataclass
class EstimatorMember(Member):
    """A fitted scikit-learn classifier."""

    estimator: Any
    n_classes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_linear_part(self.estimator)

    def scores(self, X: Floats) -> Floats:
        codes = np.asarray(self.estimator.classes_, dtype=np.int64)
        predicted = np.asarray(self.estimator.predict(X), dtype=np.int64)
        scores = np.zeros((len(X), self.n_classes))
        if hasattr(self.estimator, "predict_proba"):
            scores[:, codes] = self.estimator.predict_proba(X)
        elif hasattr(self.estimator, "decision_function"):
            values = np.asarray(self.estimator.decision_function(X), dtype=np.float64)
            values = np.column_stack([-values, values]) if values.ndim == 1 else values
            scores[:] = values.min() - 1.0 if values.size else 0.0
            scores[:, codes] = values
        else:
            scores[np.arange(len(X)), predicted] = 1.0
        # Leaves predict as their estimator does: scores are exchanged where the best one is another class.
        rows = np.flatnonzero(scores.argmax(axis=1) != predicted)
        best = scores[rows].argmax(axis=1)
        lower = scores[rows, predicted[rows]].copy()
        scores[rows, predicted[rows]] = np.nextafter(scores[rows, best], np.inf)
        scores[rows, best] = lower
        return scores


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

    @property
    def can_order(self) -> bool:  # type: ignore[override]
        return hasattr(self.estimator, "decision_function") or hasattr(self.estimator, "predict_proba")

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        model = clone(self.estimator)
        options = {"sample_weight": weight} if has_fit_parameter(model, "sample_weight") else {}
        return EstimatorMember(model.fit(X, codes, **options), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return m * math.log(2.0)  # nothing is known; `rademacher` does not use it

    def rademacher(self, X: Floats, n_classes: int) -> float:
        return self._value(self.complexity, X, n_classes)

    def split_rademacher(self, X: Floats, n_classes: int) -> float:
        complexity = self.complexity if self.split_complexity is None else self.split_complexity
        return self._value(complexity, X, n_classes)

    def _value(self, complexity: Any, X: Floats, n_classes: int) -> float:
        value = float(complexity(X, n_classes)) if callable(complexity) else float(complexity)
        if not value >= 0:
            raise ValueError(
                f"the complexity of {type(self.estimator).__name__} must be at least 0, got {value!r}."
            )
        return value


# --- families as a parameter --------------------------------------------------------------------------------

NAMED: dict[str, Callable[[], Family]] = {
    "constant": ConstantFamily,
    "threshold": ThresholdFamily,
    "stump": StumpFamily,
    "tree": TreeFamily,
    "gaussian": GaussianFamily,
    "logistic": LinearFamily,
    "linear_svm": lambda: LinearFamily("hinge"),
    "quadratic": lambda: KernelFamily("poly", 2),
    "cubic": lambda: KernelFamily("poly", 3),
    "rbf": lambda: KernelFamily("rbf"),
}


#: The rule of a parameter that has families.
FAMILIES = rules.Either(
    rules.Rule("a family", lambda value: isinstance(value, Family)),
    rules.Rule("a list of families or of their names", lambda value: isinstance(value, Iterable)),
)


def as_families(name: str, value: Any) -> Families:
    """Families from names and objects; `name` is the parameter's."""
    families: list[Family] = []
    for item in [value] if isinstance(value, str | Family) else value:
        if isinstance(item, str) and item in NAMED:
            families.append(NAMED[item]())
        elif isinstance(item, Family):
            families.append(item)
        else:
            raise ValueError(
                f"{name} must hold families, or names among {', '.join(NAMED)}, got {item!r}. "
                "Wrap a scikit-learn classifier as EstimatorFamily(classifier, complexity)."
            )
    return tuple(families)


#: Types of this module that a model file may hold.
SAVED_TYPES = tuple(
    f"surewood.families.{kind.__name__}"
    for kind in (
        ConstantFamily, ConstantMember, EstimatorFamily, EstimatorMember, GaussianFamily, KernelFamily,
        LinearFamily, StumpFamily, StumpMember, SvmMember, ThresholdFamily, TreeFamily, TreeMember,
    )
)  # fmt: skip
