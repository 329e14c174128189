"""Growth functions, VC dimensions and Rademacher complexities (theory.md §1).

Growth and VC dimension of the leaf and split families, Massart's step from growth to complexity, products of
classes and random splits; then the empirical Rademacher complexity of a sample: by enumeration, by Monte
Carlo, and in closed form for thresholds, intervals and kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from surewood._arrays import Floats

from . import _arguments as check


def vc_dimension(n_features: int, degree: Any, *, homogeneous: bool = False) -> Any:
    """VC dimension of polynomial-kernel classifiers, in exact integer arithmetic (1.2).

    Parameters
    ----------
    n_features : int
        Number of features the kernel sees.
    degree : int or array of int
        Polynomial degree(s), 0 for the constant classifier.
    homogeneous : bool, default=False
        Kernel without constant term (``coef0=0``) plus the bias of the SVM.

    Returns
    -------
    int or ndarray
        int64 where every value fits, Python integers (dtype object) otherwise.

    Examples
    --------
    >>> from surewood.bounds import vc_dimension
    >>> vc_dimension(16, 2)
    153
    >>> vc_dimension(180, 9)
    698878653009537
    """
    n = check.count(n_features, "n_features", 1)
    if np.ndim(degree) == 0:
        return _polynomial_dimension(n, check.count(degree, "degree"), homogeneous)
    distinct, position = np.unique(check.counts(degree, "degree"), return_inverse=True)
    values = [_polynomial_dimension(n, int(d), homogeneous) for d in distinct]
    fits = max(values, default=0) <= np.iinfo(np.int64).max
    return np.array(values, dtype=np.int64 if fits else object)[position]


def _polynomial_dimension(n: int, degree: int, homogeneous: bool) -> int:
    if homogeneous and degree > 0:  # degree 0 is the constant, which the bias already is
        return math.comb(n + degree - 1, degree) + 1
    return math.comb(n + degree, degree)


def log_growth(vc: Any, m: int, *, mode: str = "capped", force: bool = False) -> Any:
    r"""Bound on the log of the number of labelings of `m` points by a class of VC dimension `vc` (1.1).

    Parameters
    ----------
    vc : int or array of int
        VC dimension(s) >= 0; Python integers of any size.
    m : int
        Number of points.
    mode : {"capped", "sum", "raw"}
        ``capped``: :math:`\min\{m\log2, d\log(em/d)\}`, and :math:`m\log2` for :math:`d\ge m`.
        ``sum``: Sauer's sum itself, tighter and always valid.
        ``raw``: the printed :math:`d\log(em/d)`, which is false for :math:`d>m`; refused there unless
        `force`.
    force : bool, default=False
        Evaluate ``raw`` outside its validity, to show the defect.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> from surewood.bounds import log_growth
    >>> round(log_growth(153, 600), 6), round(log_growth(153, 600, mode="sum"), 6)
    (362.073235, 337.785039)
    """
    m = check.count(m, "m", 1)
    check.choice(mode, "mode", ("capped", "sum", "raw"))
    scalar = np.ndim(vc) == 0
    d = _dimensions(vc)
    if mode == "raw":
        if not force and d.size and d.max() > m:
            raise ValueError(
                f"raw growth needs vc <= m, got vc={d.max()} > m={m}; the formula is false there"
            )
        value = _sauer_exponential(d.astype(np.float64), m)
    else:
        within = np.minimum(d, m).astype(np.int64)
        value = _sauer_sum(within, m) if mode == "sum" else _capped_growth(within, m)
    return float(value[0]) if scalar else value


def _dimensions(vc: Any) -> NDArray[Any]:
    """One-dimensional array of dimensions; those beyond int64 stay Python integers."""
    d = np.atleast_1d(np.asarray(vc))
    if d.dtype == object or (d.dtype.kind in "uf" and d.size and d.max() >= 2**63):
        entries = vc if isinstance(vc, list | tuple) else d  # a mixed list of large integers became floats
        return np.array([check.count(v, "vc") for v in entries], dtype=object)
    return check.counts(d, "vc")


def _sauer_exponential(d: Floats, m: int) -> Floats:
    """``d log(em/d)``, with its limit 0 at d = 0."""
    safe = np.where(d > 0, d, 1.0)
    return np.where(d > 0, safe * (1.0 + np.log(m) - np.log(safe)), 0.0)


def _capped_growth(d: NDArray[np.int64], m: int) -> Floats:
    # theory.md (1.1), [D-01]
    return np.where(
        d >= m, m * math.log(2), np.minimum(m * math.log(2), _sauer_exponential(d.astype(float), m))
    )


def _sauer_sum(d: NDArray[np.int64], m: int) -> Floats:
    """``log sum_{i<=d} binom(m, i)``; the log of the running sum serves every entry of d."""
    partial = d < m  # all 2^m labelings from d = m on
    i = np.arange(int(d.max(initial=0, where=partial)) + 1)
    log_binomial = gammaln(m + 1) - gammaln(i + 1) - gammaln(m - i + 1)
    running = np.asarray(np.logaddexp.accumulate(log_binomial), dtype=np.float64)
    everything = m * math.log(2)
    return np.where(partial, np.minimum(running[np.where(partial, d, 0)], everything), everything)


def leaf_log_growth(
    degree: Any,
    n_features: int,
    m: int,
    n_classes: int = 2,
    *,
    svm: str = "paper",
    growth: str = "capped",
    homogeneous: bool = False,
) -> Any:
    r"""Log-growth of a leaf's classifiers, one degree or one per leaf ([D-09], [D-13]).

    Parameters
    ----------
    degree : int or array of int
        Degree at each leaf; 0 is a constant leaf with two labelings.
    n_features, m, n_classes : int
        Features of the kernel, sample size, classes of the whole problem.
    svm : {"paper", "ovo"}
        ``paper`` counts a single polynomial classifier (CRITERION). ``ovo`` counts all pairs of a one-vs-one
        SVM, :math:`\min\{m\log2,\log c+\binom c2\Lambda\}` for more than two classes (GUARANTEE).
    growth : {"capped", "sum", "raw"}
        Form of :func:`log_growth`; ``raw``, which is false for d > m, is at least log 2 here.
    homogeneous : bool, default=False
        See :func:`vc_dimension`.

    Examples
    --------
    >>> from surewood.bounds import leaf_log_growth
    >>> leaf_log_growth([0, 1, 2], n_features=16, m=600).round(3)
    array([  0.693,  77.583, 362.073])
    """
    c = check.count(n_classes, "n_classes", 2)
    check.choice(svm, "svm", ("paper", "ovo"))
    check.choice(growth, "growth", ("capped", "sum", "raw"))
    scalar = np.ndim(degree) == 0
    degrees = check.counts(degree, "degree")
    m = check.count(m, "m", 1)
    distinct, position = np.unique(degrees, return_inverse=True)
    dimension = vc_dimension(n_features, distinct, homogeneous=homogeneous)
    value = np.asarray(log_growth(dimension, m, mode=growth, force=True))
    if growth == "raw":
        value = np.maximum(value, math.log(2))
    if svm == "ovo" and c > 2:
        value = np.minimum(m * math.log(2), math.log(c) + math.comb(c, 2) * value)
    value = np.where(distinct == 0, math.log(2), value)[position]
    return float(value[0]) if scalar else value


def family_log_growth(number: ArrayLike, family_complexity: Sequence[float], m: int) -> Any:
    """Log-growth of a leaf's classifiers that has the complexity of its family by (1.3).

    Parameters
    ----------
    number : int or array of int
        Family of each leaf, from 1 on; 0 is a constant leaf with two labelings.
    family_complexity : sequence of float
        Rademacher complexity of each family.
    m : int
        Sample size.

    Examples
    --------
    >>> from surewood.bounds.complexity import family_log_growth
    >>> family_log_growth([0, 1], (0.2,), 100).round(3).tolist()
    [0.693, 2.0]
    """
    numbers = check.counts(number, "number")
    growth = 0.5 * m * np.square((0.0, *family_complexity))[numbers]
    return np.where(numbers == 0, math.log(2.0), growth)


def split_log_growth(m: int, max_features: int, n_features: int, *, mode: str = "paper") -> float:
    """Log-growth of a random threshold split ``x[j] <= t`` or its complement (1.5a, 1.5b).

    Parameters
    ----------
    m : int
        Sample size.
    max_features : int
        Number r of features drawn at a node.
    n_features : int
        Number of features ``|F|`` offered.
    mode : {"paper", "union", "cond"}
        ``paper`` (1.5a) for the CRITERION; ``union`` for a GUARANTEE, whatever subset was drawn; ``cond``
        when the subsets were drawn independently of the data, and then each leaf is a family of its own
        ([D-03]).

    Examples
    --------
    >>> from surewood.bounds import split_log_growth
    >>> [round(split_log_growth(600, 4, 16, mode=k), 6) for k in ("paper", "union", "cond")]
    [18.021549, 9.862666, 8.476371]
    """
    m = check.count(m, "m", 1)
    total = check.count(n_features, "n_features", 1)
    r = check.count(max_features, "max_features", 1)
    if r > total:
        raise ValueError(f"max_features must be <= n_features={total}, got {r}")
    check.choice(mode, "mode", ("paper", "union", "cond"))
    if mode == "union":
        return math.log(2 * m * total)
    drawn = math.log(2 * m * r)
    return drawn if mode == "cond" else r * (1.0 + math.log(total / r)) + drawn


def massart(log_growth: ArrayLike, m: int, *, values: str = "signed") -> Any:
    r"""Rademacher complexity from growth, by Massart's lemma (1.3).

    Parameters
    ----------
    log_growth : float or array
        Log of the number of value vectors on the sample.
    m : int
        Sample size.
    values : {"signed", "binary"}
        ``signed`` for values in [-1, 1]: :math:`\sqrt{2\log\Pi/m}`; ``binary`` for values in {0, 1}: half of
        it.

    Examples
    --------
    >>> from surewood.bounds import massart
    >>> massart(18.0, 100, values="signed"), massart(18.0, 100, values="binary")
    (0.6, 0.3)
    """
    m = check.count(m, "m", 1)
    check.choice(values, "values", ("signed", "binary"))
    growth = check.finite(log_growth, "log_growth", minimum=0.0)
    root = np.sqrt(2.0 * growth / m) * (1.0 if values == "signed" else 0.5)
    return float(root) if root.ndim == 0 else root


def product_rademacher(first: float, second: float, *, values: str = "two_valued") -> float:
    """Bound on the complexity of products of members of two classes (§1.3).

    Parameters
    ----------
    first, second : float
        Complexities of the two classes.
    values : {"two_valued", "unit", "signed", "binary_unit", "binary_signed"}
        ``two_valued``: {0,1} times {0,1} or {-1,1}, factor 1. ``unit``: both in [0,1], factor 3/2.
        ``signed``: both in [-1,1], factor 2. ``binary_unit``: first in {0,1}, second in [0,1], factor 1.
        ``binary_signed``: first in {0,1}, second in [-1,1], the smaller of 2a+2b and 3a+b.

    Examples
    --------
    >>> from surewood.bounds import product_rademacher
    >>> product_rademacher(0.125, 0.5, values="binary_signed")
    0.875
    """
    a, b = (float(check.finite(v, name, minimum=0.0)) for v, name in ((first, "first"), (second, "second")))
    factors = {"two_valued": 1.0, "binary_unit": 1.0, "unit": 1.5, "signed": 2.0}
    check.choice(values, "values", (*factors, "binary_signed"))
    if values == "binary_signed":
        return min(2 * a + 2 * b, 3 * a + b)
    return factors[values] * (a + b)


def path_rademacher(splits: ArrayLike, leaf: float, *, leaf_values: str = "two_valued") -> float:
    """Complexity of a leaf behind splits: their sum, doubled for leaves with values in [-1, 1] (§1.3).

    Examples
    --------
    >>> from surewood.bounds import path_rademacher
    >>> path_rademacher([0.125, 0.25], 0.5), path_rademacher([0.125, 0.25], 0.5, leaf_values="signed")
    (0.875, 1.75)
    """
    check.choice(leaf_values, "leaf_values", ("two_valued", "signed"))
    total = float(check.finite(splits, "splits", minimum=0.0, ndim=1).sum())
    total += float(check.finite(leaf, "leaf", minimum=0.0))
    return total if leaf_values == "two_valued" else 2.0 * total


_BLOCK = 1 << 12


class MonteCarlo(NamedTuple):
    """A Monte Carlo mean and its standard error.

    Examples
    --------
    >>> from surewood.bounds import monte_carlo_rademacher
    >>> result = monte_carlo_rademacher([[1, 1, 1], [-1, 1, -1]], n_draws=2000)  # exactly 1/3
    >>> abs(result.estimate - 1 / 3) < 4 * result.standard_error
    True
    """

    estimate: float
    standard_error: float


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
