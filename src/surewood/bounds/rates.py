"""Limits of rates counted on a holdout, per class and per group (theory.md §11.1).

For a classifier fixed in advance, the rows of a conditioning event (a class, a predicted class, a group) are
independent draws from the conditional law, whatever their number (11.1a). So each limit is the exact
binomial one, `clopper_pearson` from above or `clopper_pearson_lower` from below; combined quantities divide
delta among their parts. No row at all gives the limit that says nothing: 1 from above, 0 from below.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surewood._arrays import Counts, Floats

from . import _arguments as check
from .certificates import binomial_tail_inverse


class GroupLimits(NamedTuple):
    """Upper limits of the error in every group, all valid together, and which group has the largest.

    Examples
    --------
    >>> from surewood.bounds import worst_group_limit
    >>> result = worst_group_limit(errors=[3, 9], sizes=[100, 90])
    >>> result.limits.round(3).tolist(), result.worst
    ([0.085, 0.181], 1)
    """

    limits: Floats
    worst: int

    @property
    def value(self) -> float:
        """The largest limit."""
        return float(self.limits[self.worst])


def clopper_pearson_lower(successes: int, n: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Lower confidence limit of a probability from `successes` among `n` independent rows (6.1).

    Accuracy among all rows, recall among the rows of a class, precision among the rows predicted as it: each
    is such a probability (§11.1); 0 without a row.

    Examples
    --------
    >>> from surewood.bounds import clopper_pearson, clopper_pearson_lower
    >>> round(clopper_pearson_lower(388, 400), 7) == round(1 - clopper_pearson(12, 400), 7)
    True
    """
    n = check.count(n, "n")
    k = check.count(successes, "successes")
    if k > n:
        raise ValueError(f"successes must be <= n={n}, got {k}")
    return 1.0 - _upper(n - k, n, delta, n_models)


def _upper(k: int, n: int, delta: float, n_models: int = 1) -> float:
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    return binomial_tail_inverse(k, n, log_delta)


def error_limit(errors: int, n: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Upper limit of an error rate: of all rows, or false positives among the rows of other classes (§11.1).

    Examples
    --------
    >>> from surewood.bounds import error_limit
    >>> round(error_limit(12, 400), 7), error_limit(0, 0)
    (0.0481539, 1.0)
    """
    return _upper(errors, n, delta, n_models)


def f1_limit(hits: int, n_class: int, n_predicted: int, *, delta: float = 0.05, n_models: int = 1) -> float:
    """Lower limit of the F1 score of a class: precision and recall at delta/2 each (§11.1).

    Examples
    --------
    >>> from surewood.bounds import f1_limit
    >>> round(f1_limit(45, 50, 60), 4)
    0.6925
    """
    precision = clopper_pearson_lower(hits, n_predicted, delta=delta / 2, n_models=n_models)
    recall = clopper_pearson_lower(hits, n_class, delta=delta / 2, n_models=n_models)
    return 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def balanced_accuracy_limit(
    hits: ArrayLike, class_sizes: ArrayLike, *, delta: float = 0.05, n_models: int = 1
) -> float:
    """Lower limit of the mean recall over K classes: each recall at delta/K (§11.1).

    Examples
    --------
    >>> from surewood.bounds import balanced_accuracy_limit
    >>> round(balanced_accuracy_limit([45, 180], [50, 200]), 4)
    0.8158
    """
    found, sizes = _pairs(hits, class_sizes, "hits", "class_sizes")
    share = delta / found.size
    recalls = [
        clopper_pearson_lower(int(k), int(n), delta=share, n_models=n_models) for k, n in zip(found, sizes)
    ]
    return float(np.mean(recalls))


def worst_group_limit(
    errors: ArrayLike, sizes: ArrayLike, *, delta: float = 0.05, n_models: int = 1
) -> GroupLimits:
    """Upper limits of the error in each of G groups at delta/G, and the group with the largest (§11.1).

    Examples
    --------
    >>> from surewood.bounds import worst_group_limit
    >>> result = worst_group_limit([3, 9], [100, 90])
    >>> result.worst, round(result.value, 4)
    (1, 0.1814)
    """
    wrong, counts = _pairs(errors, sizes, "errors", "sizes")
    share = delta / wrong.size
    limits = np.array(
        [error_limit(int(k), int(n), delta=share, n_models=n_models) for k, n in zip(wrong, counts)]
    )
    return GroupLimits(limits, int(limits.argmax()))


def _pairs(first: ArrayLike, second: ArrayLike, name: str, other: str) -> tuple[Counts, Counts]:
    a, b = check.counts(first, name), check.counts(second, other)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise ValueError(f"{name} and {other} must have the same length >= 1, got {a.size} and {b.size}")
    return a, b
