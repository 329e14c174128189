"""The score that selects the degrees of a composite tree, in count units (theory.md §2.7-§2.9).

`composite_criterion_counts` (2.11), `composite_criterion` (2.9), `select_degrees` [D-10],
`largest_active_gamma` (§2.9).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats

from . import _arguments as check


def composite_criterion_counts(
    correct: ArrayLike,
    errors: ArrayLike,
    complexity: ArrayLike,
    *,
    m: float,
    n_classes: int,
    gamma_scale: float,
) -> Floats:
    """``T_k`` of (2.11): errors plus the smaller of scaled complexity and correct points, in counts.

    Arrays of any common shape, such as (n_leaves, n_degrees). Where the complexity side is not the smaller
    one the value is exactly the number of points in the leaf, so that inert ties stay exact.

    Parameters
    ----------
    correct, errors : array
        Counts, or sums of sample weights.
    complexity : array
        ``A_k`` (2.8).
    m : float
        Size (or total weight) of the whole sample.
    n_classes : int
    gamma_scale : float
        Multiplier of the complexity, in (0, 1] for a bound-like score, any positive number for study.

    Examples
    --------
    >>> from surewood.bounds import composite_criterion_counts
    >>> correct, errors, A = [90, 40], [10, 10], [0.01, 0.5]
    >>> composite_criterion_counts(correct, errors, A, m=150, n_classes=2, gamma_scale=0.5).tolist()
    [22.0, 50.0]
    """
    plus = check.finite(correct, "correct", minimum=0.0)
    minus = check.finite(errors, "errors", minimum=0.0)
    cost = check.finite(complexity, "complexity", minimum=0.0)
    c = check.count(n_classes, "n_classes", 2)
    scale = 8.0 * c * check.positive(gamma_scale, "gamma_scale") * check.positive(m, "m")
    return np.asarray(minus + np.minimum(scale * cost, plus))


def composite_criterion(
    correct: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, n_classes: int, gamma_scale: float
) -> float:
    """Selection score of a composite tree (2.9); not a bound. Exactly 1 when no leaf is active.

    Examples
    --------
    >>> from surewood.bounds import composite_criterion
    >>> composite_criterion([90, 40], [10, 10], [0.5, 0.5], n_classes=2, gamma_scale=1.0)
    1.0
    """
    plus = np.atleast_1d(check.finite(correct, "correct", minimum=0.0))
    minus = np.atleast_1d(check.finite(errors, "errors", minimum=0.0))
    m = float(plus.sum() + minus.sum())
    terms = composite_criterion_counts(
        plus, minus, complexity, m=check.positive(m, "m"), n_classes=n_classes, gamma_scale=gamma_scale
    )
    return float(terms.sum()) / m


def select_degrees(criterion_counts: ArrayLike) -> NDArray[np.intp]:
    """Column with the smallest ``T_k`` for each leaf; ties, to 1e-12, go to the smallest degree ([D-10]).

    Parameters
    ----------
    criterion_counts : array of shape (n_leaves, n_degrees)
        Columns in ascending order of degree.

    Examples
    --------
    >>> from surewood.bounds import select_degrees
    >>> select_degrees([[5.0, 3.0, 3.0], [7.0, 7.0, 7.0]]).tolist()
    [1, 0]
    """
    table = check.finite(criterion_counts, "criterion_counts", ndim=2)
    if table.shape[1] == 0:
        raise ValueError("criterion_counts must have at least one column")
    smallest = table.min(axis=1, keepdims=True)
    tied = table <= smallest + 1e-12 * np.maximum(1.0, np.abs(smallest))
    return np.asarray(tied.argmax(axis=1))


def largest_active_gamma(correct: ArrayLike, complexity: ArrayLike, *, n_classes: int) -> Any:
    """Scale below which a leaf's complexity penalty is active: ``(m_k+/m) / (8 c A_k)`` (§2.9).

    Parameters
    ----------
    correct : float or array
        Correctly classified fraction of the whole sample at the leaf.
    complexity : float or array
        ``A_k`` > 0.
    n_classes : int

    Examples
    --------
    >>> from surewood.bounds import largest_active_gamma
    >>> round(largest_active_gamma(0.25, 28.5 / 80, n_classes=10), 4)
    0.0088
    """
    plus = check.unit(correct, "correct")
    cost = check.finite(complexity, "complexity", minimum=0.0)
    if np.any(cost <= 0):
        raise ValueError("complexity must be > 0")
    value = plus / (8.0 * check.count(n_classes, "n_classes", 2) * cost)
    return float(value) if np.ndim(value) == 0 else value
