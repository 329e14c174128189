"""Empirical Rademacher complexity (theory.md (0.1)): by enumeration, by Monte Carlo, and in closed form.

Finite sets of value vectors: `exact_rademacher`, `monte_carlo_rademacher`.
Closed forms: `threshold_rademacher`, `interval_rademacher` (exact, from counting walks in a strip),
`linear_rademacher`, `kernel_rademacher`, `sparse_linear_rademacher` (upper bounds).

These serve the generic cascade, whose families report a complexity of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats

from . import _arguments as check

_MAX_ENUMERATED = 22  # 2^22 sign vectors; beyond that use Monte Carlo
_BLOCK = 1 << 12


class MonteCarlo(NamedTuple):
    """A Monte Carlo mean and its standard error.

    Examples
    --------
    >>> from surewood.bounds import exact_rademacher, monte_carlo_rademacher
    >>> values = [[1, 1, 1], [-1, 1, -1]]
    >>> result = monte_carlo_rademacher(values, n_draws=2000)
    >>> abs(result.estimate - exact_rademacher(values)) < 4 * result.standard_error
    True
    """

    estimate: float
    standard_error: float


def exact_rademacher(values: ArrayLike) -> float:
    """Empirical Rademacher complexity of finitely many value vectors, over all sign vectors (0.1).

    Parameters
    ----------
    values : array of shape (n_functions, m)
        One row per function, one column per point; at most 22 points.

    Examples
    --------
    >>> from surewood.bounds import exact_rademacher
    >>> exact_rademacher([[1.0, 1.0], [-1.0, -1.0]])
    0.5
    """
    table = _value_table(values)
    m = table.shape[1]
    if m > _MAX_ENUMERATED:
        raise ValueError(
            f"values must have at most {_MAX_ENUMERATED} columns to enumerate all signs, got {m}"
        )
    total = 0.0
    for start in range(0, 1 << m, _BLOCK):
        codes = np.arange(start, min(start + _BLOCK, 1 << m))
        signs = 1.0 - 2.0 * ((codes[:, None] >> np.arange(m)) & 1)
        total += float((signs @ table.T).max(axis=1).sum())
    return max(0.0, total) / float(m * 2.0**m)  # a single function sums to 0 up to rounding


def monte_carlo_rademacher(
    values: ArrayLike | None = None,
    *,
    supremum: Callable[[Floats], float] | None = None,
    m: int | None = None,
    n_draws: int = 1000,
    seed: int = 0,
) -> MonteCarlo:
    """Empirical Rademacher complexity by drawing signs, with its standard error.

    Parameters
    ----------
    values : array of shape (n_functions, m), optional
        A finite class by its value vectors.
    supremum : callable, optional
        For any other class: maps a sign vector to the supremum over the class of ``sum_i sign_i g(x_i)``;
        give `m` with it.
    m : int, optional
        Number of points, with `supremum`.
    n_draws : int, default=1000
        Number of sign vectors, at least 2.
    seed : int, default=0
        Seed of the signs.

    Examples
    --------
    >>> from surewood.bounds import monte_carlo_rademacher
    >>> result = monte_carlo_rademacher(supremum=lambda signs: abs(signs.sum()), m=2, n_draws=4000)
    >>> abs(result.estimate - 0.5) < 4 * result.standard_error
    True
    """
    if (values is None) == (supremum is None):
        raise ValueError("give exactly one of values and supremum")
    n_draws = check.count(n_draws, "n_draws", 2)
    rng = np.random.default_rng(check.count(seed, "seed"))
    if values is not None:
        table = _value_table(values)
        m = table.shape[1]
        blocks = [
            (_signs(rng, min(_BLOCK, n_draws - start), m) @ table.T).max(axis=1)
            for start in range(0, n_draws, _BLOCK)
        ]
        suprema = np.concatenate(blocks)
    else:
        assert supremum is not None
        m = check.count(m, "m", 1)
        suprema = np.array([supremum(_signs(rng, 1, m)[0]) for _ in range(n_draws)], dtype=np.float64)
    scaled = suprema / m
    return MonteCarlo(float(scaled.mean()), float(scaled.std(ddof=1) / math.sqrt(n_draws)))


def _signs(rng: np.random.Generator, n: int, m: int) -> Floats:
    return np.asarray(2.0 * rng.integers(0, 2, size=(n, m)) - 1.0, dtype=np.float64)


def _value_table(values: ArrayLike) -> Floats:
    table = check.finite(values, "values", ndim=2)
    if 0 in table.shape:
        raise ValueError(f"values must have at least one row and one column, got shape {table.shape}")
    return table


def threshold_rademacher(m: int, *, orientations: int = 2, values: str = "signed") -> float:
    r"""Exact complexity of threshold splits on `m` distinct numbers; an upper bound when some are tied.

    Parameters
    ----------
    m : int
        Number of points.
    orientations : {1, 2}
        1: ``x <= t`` only. 2: their complements too (2m labelings).
    values : {"signed", "binary"}
        Functions with values in {-1, 1} or {0, 1}.

    Notes
    -----
    One orientation: the supremum is the maximum of a simple walk, whose mean is :math:`E|S_m|-\Pr[S_m>0]`.
    Two: prefix minus suffix sum is a walk from :math:`-S_m` to :math:`S_m`, and the number of such walks
    inside :math:`[-a,a]` is the trace of a power of a path graph times its reflection, hence
    :math:`\Pr[\max\le a]=\sum_j(-1)^{j+1}\cos^m(\pi j/(a+2))`.

    Examples
    --------
    >>> from surewood.bounds import threshold_rademacher
    >>> round(threshold_rademacher(2, orientations=1, values="binary"), 12), threshold_rademacher(2)
    (0.375, 1.0)
    """
    m = check.count(m, "m", 1)
    if orientations not in (1, 2):
        raise ValueError(f"orientations must be 1 or 2, got {orientations!r}")
    check.choice(values, "values", ("signed", "binary"))
    binary = _mean_walk_maximum(m) / m if orientations == 1 else _mean_split_maximum(m) / (2 * m)
    return binary if values == "binary" else 2.0 * binary


def _mean_walk_maximum(m: int) -> float:
    """Mean of the maximum (at least 0) of a simple walk of m steps."""
    half = m // 2
    central = math.exp(math.lgamma(2 * half + 1) - 2 * math.lgamma(half + 1) - 2 * half * math.log(2))
    if m % 2:
        # E|S_{2h+1}| = (2h+1) C(2h,h) / 4^h, and an odd walk never ends at 0
        return m * central - 0.5
    return m * central - (1.0 - central) / 2.0


def _mean_split_maximum(m: int) -> float:
    """Mean over signs of max_k |prefix sum - suffix sum|: levels a = m mod 2, +2, ... and P[max <= a]."""
    mean, a = float(m % 2), m % 2
    while a < m:
        # j and a + 2 - j give the same term, as a and m have the same parity; the middle one is 0
        j = np.arange(1, min((a + 1) // 2, _relevant_angles(a + 2, m)) + 1)
        inside = 2.0 * float(((-1.0) ** (j + 1) * np.cos(np.pi * j / (a + 2)) ** m).sum())
        outside = min(1.0, max(0.0, 1.0 - inside))
        mean += 2.0 * outside
        if outside < 1e-13:
            break
        a += 2
    return mean


def _relevant_angles(n: int, m: int) -> int:
    """Largest j with cos(pi j / n)^m above 1e-22, by cos(x) <= exp(-x^2/2) on [0, pi/2]."""
    return int(n / math.pi * math.sqrt(2.0 * 51.0 / m)) + 1


def _odd_relevant(n: int, m: int) -> NDArray[np.int64]:
    """Odd j below the odd n whose cosine to the power m is not negligible: near 0 and near n."""
    reach = _relevant_angles(n, m)
    if 2 * reach >= n:
        return np.arange(1, n, 2)
    return np.concatenate((np.arange(1, reach + 1, 2), np.arange(n - 2 * (reach // 2 + 1), n, 2)))


def interval_rademacher(m: int, *, values: str = "binary") -> float:
    r"""Exact complexity of intervals on `m` distinct numbers; an upper bound when some are tied.

    Notes
    -----
    The supremum is the largest rise of a walk. The walk above its running minimum, unfolded at
    :math:`\pm\frac12`, is a simple walk in a strip of :math:`2a+2` sites; counting those that stay inside
    gives :math:`\Pr[\text{rise}\le a]` as a sum of cosines.

    Examples
    --------
    >>> from surewood.bounds import interval_rademacher
    >>> round(interval_rademacher(2), 12)
    0.5
    """
    m = check.count(m, "m", 1)
    check.choice(values, "values", ("signed", "binary"))
    mean = 0.0
    for a in range(m):
        n = 2 * a + 3
        j = _odd_relevant(n, m)
        angle = np.pi * j / n
        weight = np.sin((a + 1) * angle) / np.tan(angle / 2.0)
        outside = min(1.0, max(0.0, 1.0 - float((2.0 / n) * (weight * np.cos(angle) ** m).sum())))
        mean += outside
        if outside < 1e-13:
            break
    return mean / m * (1.0 if values == "binary" else 2.0)


def kernel_rademacher(kernel_diagonal: ArrayLike, *, norm: float = 1.0) -> float:
    r"""Trace bound for a ball of radius `norm` in a kernel's space: :math:`B\sqrt{\mathrm{tr}K}/m`.

    Examples
    --------
    >>> from surewood.bounds import kernel_rademacher
    >>> kernel_rademacher([1.0, 1.0, 1.0, 1.0], norm=2.0)
    1.0
    """
    diagonal = check.finite(kernel_diagonal, "kernel_diagonal", minimum=0.0, ndim=1)
    check.count(diagonal.size, "number of points", 1)
    return check.positive(norm, "norm") * math.sqrt(diagonal.sum()) / diagonal.size


def linear_rademacher(X: ArrayLike, *, norm: float = 1.0) -> float:
    """Trace bound for linear functions with Euclidean norm at most `norm`.

    Examples
    --------
    >>> from surewood.bounds import linear_rademacher
    >>> linear_rademacher([[3.0, 4.0], [0.0, 0.0]])
    2.5
    """
    points = check.finite(X, "X", ndim=2)
    return kernel_rademacher(np.einsum("ij,ij->i", points, points), norm=norm)


def sparse_linear_rademacher(X: ArrayLike, *, norm: float = 1.0) -> float:
    """Massart bound for linear functions whose absolute coefficients sum to at most `norm`.

    Examples
    --------
    >>> from surewood.bounds import sparse_linear_rademacher
    >>> round(sparse_linear_rademacher([[1.0, 0.0], [0.0, 1.0]]), 6)
    0.832555
    """
    points = check.finite(X, "X", ndim=2)
    m = check.count(points.shape[0], "number of points", 1)
    largest = math.sqrt(float(np.einsum("ij,ij->j", points, points).max(initial=0.0)))
    return check.positive(norm, "norm") * largest * math.sqrt(2 * math.log(2 * max(points.shape[1], 1))) / m
