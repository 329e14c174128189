"""Bounds and selection criterion of deep cascades (theory.md §3).

Structure: `cascade_depths`, `cascade_leaf` (3.7). Complexity: `cascade_complexity` (3.8) with the variants
of [D-24]. Bounds: `cascade_ensemble_term` (3.3) with the readings of [D-19], `cascade_theorem` (3.2), (3.4),
`cascade_family_count`; `native_cascade_complexity` for cascades of several classes [D-47]. The score that
selects a cascade (3.8), in counts, and the bound that prunes its search (3.9). Leaves with real values (3.5)
are in `real_leaves`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Counts, Floats

from . import _arguments as check
from .risk_bound import LeafTheorem, leaf_fractions

_READINGS = ("theorem", "print_in", "print_out")

_COMPLEXITIES = ("printed", "rigorous", "single_root", "smaller")


def cascade_depths(n_leaves: int) -> Counts:
    """Splits on the path to each leaf of a chain: 1, 2, ..., l-1, l-1 ([D-22]).

    Examples
    --------
    >>> from surewood.bounds.cascade import cascade_depths
    >>> cascade_depths(4).tolist(), cascade_depths(1).tolist()
    ([1, 2, 3, 3], [0])
    """
    n = check.count(n_leaves, "n_leaves", 1)
    return np.minimum(np.arange(1, n + 1), n - 1).astype(np.int64)


def cascade_leaf(answers: ArrayLike) -> NDArray[np.intp]:
    """Leaf of each point: that of the first split answered 0, the last leaf if none was (3.7).

    Parameters
    ----------
    answers : array of shape (n_points, n_leaves - 1)
        Answers q_1, ..., q_{l-1}; 1 goes on.

    Examples
    --------
    >>> from surewood.bounds import cascade_leaf
    >>> cascade_leaf([[0, 1], [1, 0], [1, 1]]).tolist()
    [0, 1, 2]
    """
    table = np.asarray(answers)
    if table.ndim != 2 or not np.isin(table, (0, 1)).all():
        raise ValueError("answers must be a table of 0 and 1, one column per split")
    stops = np.hstack([table == 0, np.ones((table.shape[0], 1), dtype=bool)])
    return np.asarray(stops.argmax(axis=1))


def cascade_complexity(log_growth: ArrayLike, m: int, *, variant: str = "printed") -> Floats:
    r"""Complexity of each leaf's functions in an SVM cascade, the bracket of (3.8).

    Parameters
    ----------
    log_growth : array of shape (n_leaves,)
        :math:`\Lambda(\mathsf d_j,m)` of the polynomial class at node j; the node's split uses the same
        class.
    m : int
        Size of the whole sample.
    variant : {"printed", "rigorous", "single_root", "smaller"}
        ``printed``: :math:`\sum_j\sqrt{\Lambda_j/m}+\sqrt{\Lambda_k/m}` (CRITERION). ``rigorous``: the leaf's
        root gets Massart's factor 2. ``single_root``: :math:`\sqrt{2(\sum_j2\Lambda_j+\Lambda_k)/m}`.
        ``smaller``: the smaller of the two valid ones (GUARANTEE). See [D-24].

    Examples
    --------
    >>> from surewood.bounds import cascade_complexity
    >>> cascade_complexity([246.041122, 60.445564], 500).round(6).tolist()
    [1.402971, 1.04918]
    """
    m = check.count(m, "m", 1)
    check.choice(variant, "variant", _COMPLEXITIES)
    growth = np.atleast_1d(check.finite(log_growth, "log_growth", minimum=0.0))
    check.count(growth.size, "number of leaves", 1)
    depth = cascade_depths(growth.size)

    def along_path(per_split: Floats) -> Floats:
        return np.concatenate(([0.0], np.cumsum(per_split)))[depth]

    if variant == "printed":
        return np.asarray(along_path(np.sqrt(growth / m)) + np.sqrt(growth / m))
    # splits are strips: log-growth 2 Lambda, values in {0,1}; leaves have values in {-1,1}
    rigorous = along_path(np.sqrt(growth / m)) + np.sqrt(2.0 * growth / m)
    single = np.sqrt(2.0 * (along_path(2.0 * growth) + growth) / m)
    return np.asarray(
        {"rigorous": rigorous, "single_root": single, "smaller": np.minimum(rigorous, single)}[variant]
    )


def native_cascade_complexity(vc: ArrayLike, m: int, n_classes: int) -> Floats:
    """Complexity of each leaf of a chain of one-vs-one SVMs, for Theorem 1 of composite trees ([D-47]).

    A node's labels and the rows that it sends on are functions of the signs of polynomials in its parameters,
    whose number Warren's theorem bounds.

    Parameters
    ----------
    vc : array of int, shape (n_leaves,)
        Dimension of the space of decision functions at each node.
    m : int
        Size of the whole sample.
    n_classes : int
        At least 3.

    Examples
    --------
    >>> from surewood.bounds.cascade import native_cascade_complexity
    >>> native_cascade_complexity([3, 3], 4_000_000, 3).round(4).tolist()
    [0.0056, 0.0079]
    """
    m, c = check.count(m, "m", 1), check.count(n_classes, "n_classes", 3)
    pairs = math.comb(c, 2)
    parameters = pairs * np.asarray(check.finite(vc, "vc", minimum=1.0, ndim=1)) + 2.0
    signs = m * (pairs + c + 16.0 * pairs * (2 * c - 1))
    counted = c * math.log(2.0) + parameters * np.log(24.0 * math.e * signs / parameters)
    growth = math.log(c) + np.cumsum(np.where(parameters <= signs, counted, np.inf))
    return np.asarray(np.sqrt(np.minimum(growth, m * math.log(2.0)) / (2.0 * m)))


def cascade_family_count(n_degrees: int, max_leaves: int) -> int:
    """Number of families of SVM cascades fixed in advance: degree sequences of the leaves ([D-08]).

    An inner leaf k is determined by the degrees of nodes 1..k, a last leaf likewise (but without a split
    of its own).

    Examples
    --------
    >>> from surewood.bounds import cascade_family_count
    >>> cascade_family_count(4, 1), cascade_family_count(4, 2)
    (4, 24)
    """
    g = check.count(n_degrees, "n_degrees", 1)
    last = check.count(max_leaves, "max_leaves", 1)
    inner: int = sum(g**k for k in range(1, last))
    return 2 * inner + int(g**last)


def cascade_ensemble_term(m: int, n_families: int, rho: float, *, reading: str = "theorem") -> float:
    r"""The term :math:`C(m,p,\rho)` for cascades (3.3), and the two printed readings of it ([D-19]).

    Parameters
    ----------
    m : int
        Sample size.
    n_families : int
        :math:`pl`; :math:`p^l` when each node chooses among p families of splits.
    rho : float
    reading : {"theorem", "print_in", "print_out"}
        Only ``theorem`` may enter a GUARANTEE. The printed readings need :math:`\rho^2m>\log pl`.

    Examples
    --------
    >>> from surewood.bounds import cascade_ensemble_term
    >>> readings = ("theorem", "print_in", "print_out")
    >>> [round(cascade_ensemble_term(10_000, 12, 1 / 3, reading=r), 6) for r in readings]
    [0.328393, 0.211409, 0.383191]
    """
    inverse = np.array([check.inverse_of(rho)])
    return float(ensemble_terms(inverse, m, n_families, reading)[0])


def ensemble_terms(inverse_rho: Floats, m: int, n_families: int, reading: str) -> Floats:
    """(3.3), or a printed reading, for several 1/rho at once."""
    m = check.count(m, "m", 1)
    log_families = math.log(check.count(n_families, "n_families", 1))
    check.choice(reading, "reading", _READINGS)
    if log_families == 0.0:
        return np.zeros_like(inverse_rho)
    root = inverse_rho * math.sqrt(log_families / m)
    inner = -2.0 * np.log(root)
    if reading == "theorem":
        # where the logarithm is not positive the product may overflow, and the ceiling is 1 whatever it is
        ceiling = np.ceil(4.0 * np.where(inner > 0, inverse_rho, 0.0) ** 2 * inner)
        return np.asarray(2.0 * root + np.sqrt(np.maximum(1.0, ceiling) * (log_families / m)))
    if np.any(inner < 0):
        raise ValueError(f"rho must satisfy rho^2 m >= log(n_families) for reading={reading!r}")
    return np.asarray(2.0 * root + root * (np.sqrt(inner) if reading == "print_in" else inner))


def cascade_theorem(
    correct: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, n_families: int, reading: str = "theorem"
) -> LeafTheorem:
    """Theorem 1 of DC (3.2), for leaves with values -1 or 1.

    Parameters
    ----------
    correct, errors : array of int, shape (n_leaves,)
        Training points each leaf classifies correctly and wrongly (output 0 is wrong).
    complexity : array of shape (n_leaves,)
        Bounds ``r_k`` valid for every sample ([D-20]), see :func:`cascade_complexity` with
        ``variant="smaller"``.
    n_families : int
        See :func:`cascade_ensemble_term`.
    reading : {"theorem", "print_in", "print_out"}
        A printed reading proves nothing (``proved=False``).

    Returns
    -------
    LeafTheorem
        As for :func:`composite_theorem`; its ``simple`` form is (3.4).

    Examples
    --------
    >>> from surewood.bounds import cascade_theorem
    >>> theorem = cascade_theorem([600_000, 390_000], [5_000, 5_000], [1e-3, 1e-3], n_families=4)
    >>> round(theorem.at(rho_inverse=2).value, 4), theorem.uniform(max_rho_inverse=4).proved
    (0.0406, True)
    """
    m, training_error, plus = leaf_fractions(correct, errors)
    return LeafTheorem(
        m,
        training_error,
        plus,
        leaf_charge(complexity),
        lambda inverse: ensemble_terms(inverse, m, n_families, reading),
        4.0,
        proved=reading == "theorem",
    )


def leaf_charge(complexity: ArrayLike) -> Floats:
    """The charge 4 r_k of every leaf."""
    return 4.0 * np.atleast_1d(check.finite(complexity, "complexity", minimum=0.0))


def cascade_criterion_counts(
    correct: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, m: float, gamma_scale: float
) -> Floats:
    """``T_k = m_k- + min(4 gamma m a_k, m_k+)`` of every leaf (§3.7); exactly m_k where the leaf is inert.

    Parameters
    ----------
    correct, errors : array
        Counts, or sums of sample weights.
    complexity : array
        The bracket of (3.8), see :func:`cascade_complexity`.
    m : float
        Size (or total weight) of the whole sample.
    gamma_scale : float

    Examples
    --------
    >>> from surewood.bounds.cascade import cascade_criterion_counts
    >>> cascade_criterion_counts([380, 60], [20, 40], [1.5, 1.0], m=500, gamma_scale=0.02).tolist()
    [80.0, 80.0]
    """
    plus = check.finite(correct, "correct", minimum=0.0)
    minus = check.finite(errors, "errors", minimum=0.0)
    cost = check.finite(complexity, "complexity", minimum=0.0)
    scale = 4.0 * check.positive(gamma_scale, "gamma_scale") * check.positive(m, "m")
    return np.asarray(minus + np.minimum(scale * cost, plus))


def cascade_criterion(
    correct: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, gamma_scale: float
) -> float:
    """Selection score of a cascade (3.8); not a bound. Exactly 1 when no leaf is active.

    Examples
    --------
    >>> from surewood.bounds import cascade_complexity, cascade_criterion
    >>> a = cascade_complexity([246.041122, 60.445564], 500)
    >>> round(cascade_criterion([380, 60], [20, 40], a, gamma_scale=0.02), 6)
    0.316172
    """
    plus = np.atleast_1d(check.finite(correct, "correct", minimum=0.0))
    minus = np.atleast_1d(check.finite(errors, "errors", minimum=0.0))
    m = check.positive(float(plus.sum() + minus.sum()), "m")
    return float(cascade_criterion_counts(plus, minus, complexity, m=m, gamma_scale=gamma_scale).sum()) / m


def cascade_completion_bound(
    partial: ArrayLike,
    remaining: ArrayLike,
    path_complexity: ArrayLike,
    smallest_complexity: float,
    *,
    m: float,
    gamma_scale: float,
) -> Floats:
    """Lower bound of the score, in counts, of every completion of a cascade's prefix (3.9).

    Parameters
    ----------
    partial : float or array
        P, the sum of ``T_j`` over the leaves already fixed.
    remaining : float or array
        Number of points that go on, ``|S_k|``.
    path_complexity : float or array
        Q, the sum of the complexities of the splits so far.
    smallest_complexity : float
        Smallest leaf complexity over the degrees.
    m, gamma_scale : float
        As in :func:`cascade_criterion_counts`.

    Examples
    --------
    >>> from surewood.bounds import cascade_completion_bound
    >>> float(cascade_completion_bound(80.0, 100, 0.25, 0.5, m=500, gamma_scale=0.02))
    110.0
    """
    fixed = check.finite(partial, "partial", minimum=0.0)
    left = check.finite(remaining, "remaining", minimum=0.0)
    path = check.finite(path_complexity, "path_complexity", minimum=0.0)
    smallest = float(check.finite(smallest_complexity, "smallest_complexity", minimum=0.0))
    scale = 4.0 * check.positive(gamma_scale, "gamma_scale") * check.positive(m, "m")
    return np.asarray(fixed + np.minimum(left, scale * (path + smallest)))
