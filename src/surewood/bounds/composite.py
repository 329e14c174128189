"""Bounds and selection criterion of composite trees (theory.md §2).

Bounds: `composite_theorem` (2.2), (2.5), (2.6), `composite_ensemble_term` (2.4), `composite_family_count`
[D-08]. Complexity of a leaf: `composite_complexity` (2.7), (2.8) and its sharper forms. The score that
selects degrees, in counts: `composite_criterion_counts` (2.11), `composite_criterion` (2.9),
`select_degrees` [D-10]. Leaves with real values (2.10) are in `real_leaves`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats

from . import _arguments as check
from .risk_bound import LeafTheorem, leaf_fractions


def composite_family_count(n_degrees: int, max_depth: int) -> int:
    """Number of families fixed before seeing data: one per (degree, depth), constants included ([D-08]).

    Parameters
    ----------
    n_degrees : int
        Number of degrees offered to leaves, degree 0 not counted.
    max_depth : int
        Largest depth a leaf may have.

    Examples
    --------
    >>> from surewood.bounds import composite_family_count
    >>> composite_family_count(9, 3)
    40
    """
    return (check.count(n_degrees, "n_degrees") + 1) * (check.count(max_depth, "max_depth") + 1)


def composite_ensemble_term(m: int, n_families: int, rho: float, n_classes: int) -> float:
    r"""The term :math:`C(m,p,\rho)` of Theorem 1 (2.4), with the edge rules of [D-05].

    Parameters
    ----------
    m : int
        Sample size.
    n_families : int
        :math:`pl`, or the number of families fixed in advance for a GUARANTEE.
    rho : float
        Margin parameter.
    n_classes : int
        Classes of the whole problem.

    Examples
    --------
    >>> from surewood.bounds import composite_ensemble_term
    >>> round(composite_ensemble_term(10_000, 9 * 4, 0.5, 3), 6)
    0.230875
    """
    inverse = np.array([check.inverse_of(rho)])
    return float(ensemble_terms(inverse, m, n_families, n_classes)[0])


def ensemble_terms(inverse_rho: Floats, m: int, n_families: int, n_classes: int) -> Floats:
    """(2.4) for several 1/rho at once."""
    m, c = check.count(m, "m", 1), check.count(n_classes, "n_classes", 2)
    log_families = math.log(check.count(n_families, "n_families", 1))
    # theory.md [D-05]: a single family has C = 0, and the ceiling is at least 1
    if log_families == 0.0:
        return np.zeros_like(inverse_rho)
    root = inverse_rho * math.sqrt(log_families / m)
    inner = 2.0 * (math.log(c / 2.0) - np.log(root))
    # where the logarithm is not positive the product may overflow, and the ceiling is 1 whatever it is
    ceiling = np.ceil(4.0 * np.where(inner > 0, inverse_rho, 0.0) ** 2 * inner)
    return 2.0 / c * root + np.sqrt(np.maximum(1.0, ceiling) * (log_families / m))


def composite_complexity(
    depth: ArrayLike,
    leaf_log_growth: ArrayLike,
    split_log_growth: float,
    m: int,
    *,
    form: str = "two_roots",
) -> Any:
    r"""Complexity of the functions a leaf can contribute, :math:`A_k` (2.8) or :math:`D_{H_k}` (2.7).

    Parameters
    ----------
    depth : int or array
        Number of splits on the path to the leaf.
    leaf_log_growth : float or array
        Log-growth of the leaf's classifiers, see :func:`leaf_log_growth`.
    split_log_growth : float
        Log-growth of one split, see :func:`split_log_growth`.
    m : int
        Size of the whole sample.
    form : {"two_roots", "single_root", "half_root"}
        ``two_roots`` as printed; ``single_root`` by counting products (1.4); ``half_root`` for one-hot
        leaves, whose products have values in {0, 1}: half of the single root, the tightest valid form (§2.6).

    Examples
    --------
    >>> from surewood.bounds import composite_complexity
    >>> forms = ("two_roots", "single_root")
    >>> [round(composite_complexity(2, 362.073235, 18.021549, 600, form=f), 6) for f in forms]
    [1.445212, 1.151978]
    """
    m = check.count(m, "m", 1)
    check.choice(form, "form", ("two_roots", "single_root", "half_root"))
    leaf = check.finite(leaf_log_growth, "leaf_log_growth", minimum=0.0)
    path = check.finite(depth, "depth", minimum=0.0) * float(
        check.finite(split_log_growth, "split_log_growth", minimum=0.0)
    )
    if form == "two_roots":
        value = np.sqrt(2.0 * path / m) + np.sqrt(2.0 * leaf / m)
    else:
        value = np.sqrt(2.0 * (path + leaf) / m) * (1.0 if form == "single_root" else 0.5)
    return float(value) if np.ndim(value) == 0 else value


def composite_theorem(
    correct: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, n_classes: int, n_families: int
) -> LeafTheorem:
    """Theorem 1 of RCF (2.2).

    Parameters
    ----------
    correct, errors : array of int, shape (n_leaves,)
        Correctly and wrongly classified training points at each leaf; together the whole sample.
    complexity : array of shape (n_leaves,)
        Upper bounds ``r_k`` of the leaves' Rademacher complexities.
    n_classes, n_families : int
        See :func:`composite_ensemble_term`.

    Returns
    -------
    LeafTheorem
        Its methods give the bound at a rho fixed in advance (``at``), the smallest over rho = 1/j
        (``uniform``) and the simple form (``simple``): a GUARANTEE when complexities are valid and
        `n_families` was fixed in advance.

    Examples
    --------
    >>> from surewood.bounds import composite_theorem
    >>> correct, errors, r = [600_000, 390_000], [5_000, 5_000], [1e-4, 1e-4]
    >>> theorem = composite_theorem(correct, errors, r, n_classes=2, n_families=4)
    >>> round(theorem.at(rho_inverse=2).value, 4), round(theorem.uniform(max_rho_inverse=4).value, 4)
    (0.0333, 0.0336)
    >>> theorem.simple().l_term, theorem.simple().rho_inverse
    (0.0, 2.0)
    """
    m, training_error, plus = leaf_fractions(correct, errors)
    c, charge = leaf_charge(complexity, n_classes)
    return LeafTheorem(
        m, training_error, plus, charge, lambda inverse: ensemble_terms(inverse, m, n_families, c), 2.0
    )


def leaf_charge(complexity: ArrayLike, n_classes: int) -> tuple[int, Floats]:
    """Classes, and the charge 8 c r_k of every leaf."""
    c = check.count(n_classes, "n_classes", 2)
    return c, 8.0 * c * np.atleast_1d(check.finite(complexity, "complexity", minimum=0.0))


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
