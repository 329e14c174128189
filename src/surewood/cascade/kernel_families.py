"""Linear and kernel machines as families of a generic cascade."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from surewood.bounds import kernel_rademacher, log_growth, vc_dimension
from surewood.cascade.families import (
    Codes,
    ConstantFamily,
    EstimatorMember,
    Family,
    Member,
    StumpFamily,
    ThresholdFamily,
    TreeFamily,
)
from surewood.cascade.prefix_tree import Floats
from surewood.svm import Gram, KernelSpec, Predictor, solve_many
from surewood.svm.class_scores import class_scores


def pairwise_growth(growth: float, m: int, n_classes: int) -> float:
    """Log-growth of a decision among classes that is a function of all pairwise ones ([D-09])."""
    return growth if n_classes == 2 else min(m * math.log(2.0), math.comb(n_classes, 2) * growth)


@dataclass
class MachineMember(Member):
    """A fitted one-vs-one machine."""

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
        Kernel width, 1/n unless given.
    norm : float, optional
        Take the trace bound of a ball of this radius in the kernel's space as complexity instead of the
        growth function. An RBF machine may label points at will, so that without `norm` its complexity is the
        largest possible; with it the number is a HEURISTIC, since nothing keeps machines inside the ball.
    """

    kernel: str = "poly"
    degree: int = 2
    C: float = 1.0
    gamma: float | None = None
    norm: float | None = None

    def spec(self, n_features: int) -> KernelSpec:
        return KernelSpec(self.kernel, 1.0 / n_features if self.gamma is None else self.gamma, 1.0)

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        plain = bool((weight == 1.0).all())
        machines = solve_many(
            Gram(X), [np.arange(len(X))], codes, [self.degree], [self.C], kernel=self.spec(X.shape[1]),
            weights=None if plain else weight,
        )  # fmt: skip
        return MachineMember(machines.predictor([0]), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        if self.kernel == "rbf":
            return m * math.log(2.0)
        return pairwise_growth(float(log_growth(vc_dimension(n_features, self.degree), m)), m, n_classes)

    def rademacher(self, X: Floats, n_classes: int) -> float:
        return super().rademacher(X, n_classes) if self.norm is None else self._trace(X)

    def question_rademacher(self, X: Floats, n_classes: int) -> float:
        return super().question_rademacher(X, n_classes) if self.norm is None else self._trace(X)

    def _trace(self, X: Floats) -> float:
        inner, spec = np.einsum("ij,ij->i", X, X), self.spec(X.shape[1])
        diagonal = (
            np.ones(len(X)) if self.kernel == "rbf" else (spec.gamma * inner + spec.coef0) ** self.degree
        )
        return kernel_rademacher(diagonal, norm=self.norm)


@dataclass
class LinearFamily(Family):
    """Linear classifiers, by logistic regression or as a linear support vector machine.

    Parameters
    ----------
    loss : {"logistic", "hinge"}
    C : float, default=1
        Inverse regularisation.
    """

    loss: str = "logistic"
    C: float = 1.0

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        if self.loss == "hinge":
            return KernelFamily(degree=1, C=self.C * X.shape[1]).fit(X, codes, weight, n_classes)
        if self.loss != "logistic":
            raise ValueError(f"loss must be 'logistic' or 'hinge'; got {self.loss!r}.")
        model = LogisticRegression(C=self.C, max_iter=1000, tol=1e-6)
        return EstimatorMember(model.fit(X, codes, sample_weight=weight), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return pairwise_growth(float(log_growth(n_features + 1, m)), m, n_classes)


#: What a user may write instead of an object.
NAMED = {
    "constant": ConstantFamily,
    "threshold": ThresholdFamily,
    "stump": StumpFamily,
    "tree": TreeFamily,
    "logistic": LinearFamily,
    "linear_svm": lambda: LinearFamily("hinge"),
    "quadratic": lambda: KernelFamily("poly", 2),
    "cubic": lambda: KernelFamily("poly", 3),
    "rbf": lambda: KernelFamily("rbf"),
}


def as_families(name: str, given: Any) -> list[Family]:
    """Families from names and objects."""
    items = [given] if isinstance(given, str | Family) else given
    if not hasattr(items, "__iter__"):
        raise ValueError(f"{name} must be a list of families or of their names; got {given!r}.")
    families = []
    for item in items:
        if isinstance(item, str) and item in NAMED:
            families.append(NAMED[item]())
        elif isinstance(item, Family):
            families.append(item)
        else:
            raise ValueError(
                f"{name} must hold families, or names among {', '.join(NAMED)}; got {item!r}. "
                "Wrap a scikit-learn classifier as EstimatorFamily(classifier, complexity)."
            )
    return families
