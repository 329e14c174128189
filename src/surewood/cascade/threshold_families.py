"""Thresholds on one feature, fixed or chosen, as leaves and as splits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surewood._arrays import Codes, Floats
from surewood.bounds import interval_rademacher, monte_carlo_rademacher, threshold_rademacher
from surewood.cascade.families import Family, Member
from surewood.cascade.stumps import best_stump, largest_stump_correlation


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

    Parameters
    ----------
    complexity : {"massart", "monte_carlo"}
        Bound of the complexity by counting, or (two classes) its estimate from `n_draws` random signs, with
        the supremum over all stumps computed exactly.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> StumpFamily("monte_carlo").rademacher(X, 2) < StumpFamily().rademacher(X, 2)
    True
    """

    complexity: str = "massart"
    n_draws: int = 200

    def fit(self, X: Floats, codes: Codes, weight: Floats, n_classes: int) -> Member:
        return StumpMember(*best_stump(X, codes, weight, n_classes, range(X.shape[1])), n_classes, False)

    def log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return math.log(m * n_features * n_classes**2)

    def split_log_growth(self, m: int, n_features: int, n_classes: int) -> float:
        return math.log(n_features * (m * (m + 1) / 2 + 1))  # intervals on one of the features

    def rademacher(self, X: Floats, n_classes: int) -> float:
        if self.complexity not in ("massart", "monte_carlo"):
            raise ValueError(f"complexity must be 'massart' or 'monte_carlo', got {self.complexity!r}.")
        if self.complexity == "massart" or n_classes > 2:
            return super().rademacher(X, n_classes)
        order = np.argsort(X, axis=0, kind="stable")
        drawn = monte_carlo_rademacher(
            supremum=lambda signs: largest_stump_correlation(X, order, signs), m=len(X), n_draws=self.n_draws
        )
        return drawn.estimate

    def split_rademacher(self, X: Floats, n_classes: int) -> float:
        if X.shape[1] == 1:  # exact for distinct values
            return interval_rademacher(len(X))
        return super().split_rademacher(X, n_classes)
