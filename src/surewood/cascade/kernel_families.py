"""Linear classifiers and kernel SVMs as families of a generic cascade."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from surewood._arrays import Codes, Floats
from surewood.bounds import kernel_rademacher, log_growth, vc_dimension
from surewood.cascade.families import EstimatorMember, Family, Member
from surewood.svm import Gram, KernelSpec, Predictor, solve_many, useful_limit
from surewood.svm.class_scores import class_scores


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
        Kernel width, by default 1/n.
    norm : float, optional
        Take the trace bound of a ball of this radius in the kernel's space as complexity instead of the
        growth function. An RBF SVM realizes every labeling, so that without `norm` its complexity is the
        largest possible; with it the number is a HEURISTIC, since nothing keeps SVMs inside the ball.

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
    norm: float | None = None

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

    def rademacher(self, X: Floats, n_classes: int) -> float:
        return super().rademacher(X, n_classes) if self.norm is None else self._trace(X, self.norm)

    def split_rademacher(self, X: Floats, n_classes: int) -> float:
        return super().split_rademacher(X, n_classes) if self.norm is None else self._trace(X, self.norm)

    def _trace(self, X: Floats, norm: float) -> float:
        inner, spec = np.einsum("ij,ij->i", X, X), self.spec(X.shape[1])
        diagonal = (
            np.ones(len(X)) if self.kernel == "rbf" else (spec.gamma * inner + spec.coef0) ** self.degree
        )
        return kernel_rademacher(diagonal, norm=norm)


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

    def as_kernel(self, n_features: int) -> KernelFamily:
        """The linear SVM as a kernel SVM."""
        return KernelFamily(degree=1, C=self.C * n_features)

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        if self.loss == "hinge":
            return self.as_kernel(X.shape[1]).fit(X, codes, weight, n_classes)
        if self.loss != "logistic":
            raise ValueError(f"loss must be 'logistic' or 'hinge', got {self.loss!r}.")
        model = LogisticRegression(C=self.C, max_iter=1000, tol=1e-6)
        return EstimatorMember(model.fit(X, codes, sample_weight=weight), n_classes)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return pairwise_growth(float(log_growth(n_features + 1, m)), m, n_classes)
