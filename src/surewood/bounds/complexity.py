"""Growth functions, VC dimensions and what follows from them (theory.md §1).

Growth: `vc_dimension`, `log_growth`, `leaf_log_growth`, `split_log_growth`.
Rademacher: `massart`, `counting_rademacher`, `vc_rademacher`.
Products of classes: `product_rademacher`, `path_rademacher`.
"""

from __future__ import annotations

import math
from typing import Any

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
    growth : {"capped", "sum"}
        Form of :func:`log_growth`.
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
    check.choice(growth, "growth", ("capped", "sum"))
    scalar = np.ndim(degree) == 0
    degrees = check.counts(degree, "degree")
    m = check.count(m, "m", 1)
    distinct, position = np.unique(degrees, return_inverse=True)
    dimension = vc_dimension(n_features, distinct, homogeneous=homogeneous)
    value = np.asarray(log_growth(dimension, m, mode=growth))
    if svm == "ovo" and c > 2:
        value = np.minimum(m * math.log(2), math.log(c) + math.comb(c, 2) * value)
    value = np.where(distinct == 0, math.log(2), value)[position]
    return float(value[0]) if scalar else value


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


def counting_rademacher(log_growths: ArrayLike, m: int, *, values: str = "signed") -> float:
    """Complexity of a product of classes by counting value vectors: one root of summed log-growths (1.4).

    Examples
    --------
    >>> from surewood.bounds import counting_rademacher
    >>> counting_rademacher([8.0, 10.0], 100)
    0.6
    """
    growths = check.finite(log_growths, "log_growths", minimum=0.0, ndim=1)
    return float(massart(growths.sum(), m, values=values))


def vc_rademacher(vc: ArrayLike, m: int) -> Any:
    r"""The simpler :math:`\sqrt{2d\log(m+1)/m}` offered by a remark of RCF (§1.2).

    Examples
    --------
    >>> from surewood.bounds import vc_rademacher
    >>> round(vc_rademacher(3, 1000), 6)
    0.203599
    """
    m = check.count(m, "m", 1)
    d = check.finite(vc, "vc", minimum=0.0)
    value = np.sqrt(2.0 * d * math.log(m + 1) / m)
    return float(value) if value.ndim == 0 else value


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
