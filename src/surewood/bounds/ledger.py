"""One row per leaf: what it holds, how rich its classifier is, and which side of the minimum decided.

`LeafLedger` is a set of parallel arrays; `composite_ledger` fills it from counts, depths and degrees;
`path_in_words` writes the splits that lead to a leaf.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Counts, Floats, Mask

from . import _arguments as check
from .complexity import family_log_growth, leaf_log_growth, split_log_growth, vc_dimension
from .composite import composite_complexity

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class LeafLedger:
    """Parallel arrays over leaves; `to_frame` gives the table.

    Attributes
    ----------
    depth, degree : ndarray of int
    path : ndarray of str
        The splits in words.
    correct, errors : ndarray
        Training points (or weights) classified correctly and wrongly.
    vc_dimension, log_growth : ndarray
        Of the leaf's own classifiers.
    complexity_term : ndarray
        Constant times gamma_scale times the complexity of the leaf.
    gamma_scale : float
        The multiplier inside `complexity_term`; below 1 the terms are a selection score, not a bound.

    Examples
    --------
    >>> from surewood.bounds import composite_ledger
    >>> ledger = composite_ledger([50, 40], [5, 5], [1, 1], [1, 2], n_features=3, n_classes=2, max_features=2)
    >>> len(ledger), ledger.to_frame()["points"].tolist()
    (2, [55, 45])
    """

    depth: Counts
    path: NDArray[Any]
    correct: Floats
    errors: Floats
    degree: Counts
    vc_dimension: NDArray[Any]
    log_growth: Floats
    complexity_term: Floats
    gamma_scale: float

    def __len__(self) -> int:
        return int(self.depth.size)

    @property
    def points(self) -> Floats:
        """Training points of each leaf."""
        return self.correct + self.errors

    @property
    def sample_term(self) -> Floats:
        """Correctly classified fraction of the whole sample."""
        total = float(self.points.sum())
        return self.correct / total if total > 0 else np.zeros_like(self.correct)

    @property
    def active(self) -> Mask:
        """Leaves where the complexity side is the smaller one."""
        return np.asarray(self.sample_term > self.complexity_term)

    @property
    def active_fraction(self) -> float:
        """Fraction of leaves with an active complexity penalty; at 0 ties decided the degrees (§2.9)."""
        return float(self.active.mean())

    @property
    def term(self) -> Floats:
        """The smaller side."""
        return np.minimum(self.complexity_term, self.sample_term)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per leaf."""
        import pandas as pd

        whole = all(np.array_equal(part, np.floor(part)) for part in (self.correct, self.errors))
        kind = np.int64 if whole else np.float64
        columns = {
            "depth": self.depth,
            "path": self.path,
            "points": self.points.astype(kind),
            "correct": self.correct.astype(kind),
            "errors": self.errors.astype(kind),
            "degree": self.degree,
            "vc_dimension": self.vc_dimension,
            "log_growth": self.log_growth,
            "complexity_term": self.complexity_term,
            "sample_term": self.sample_term,
            "term": self.term,
            "side": np.where(self.active, "complexity", "sample"),
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="leaf"))


def composite_ledger(
    correct: ArrayLike,
    errors: ArrayLike,
    depth: ArrayLike,
    degree: ArrayLike,
    *,
    n_features: int,
    n_classes: int,
    max_features: int,
    n_split_features: int | None = None,
    gamma_scale: float = 1.0,
    paths: Sequence[str] | None = None,
    homogeneous: bool = False,
    family_complexity: Sequence[float] = (),
) -> LeafLedger:
    """Ledger of a composite tree, with the complexities of the criterion (2.8).

    Parameters
    ----------
    correct, errors, depth, degree : array of shape (n_leaves,)
    n_features : int
        Features the leaf SVMs see.
    n_classes : int
        Classes of the whole problem.
    max_features : int
        Features drawn at a node.
    n_split_features : int, optional
        Features offered to splits; by default `n_features`.
    gamma_scale : float, default=1
    paths : sequence of str, optional
        See :func:`path_in_words`.
    homogeneous : bool, default=False
        See :func:`vc_dimension`.
    family_complexity : sequence of float, optional
        Complexities of families of classifiers; `degree` are then their numbers from 1 on.

    Examples
    --------
    >>> from surewood.bounds import composite_ledger
    >>> ledger = composite_ledger([50, 40], [5, 5], [1, 1], [1, 2], n_features=3, n_classes=2, max_features=2,
    ...                           gamma_scale=1e-3, paths=["x0 <= 1", "x0 > 1"])
    >>> ledger.to_frame()[["path", "points", "degree", "vc_dimension", "side"]].to_dict("list")
    {'path': ['x0 <= 1', 'x0 > 1'], 'points': [55, 45], 'degree': [1, 2], 'vc_dimension': [4, 10], \
'side': ['complexity', 'complexity']}
    """
    plus, minus, m = _leaf_counts(correct, errors)
    depths, degrees = check.counts(depth, "depth"), check.counts(degree, "degree")
    check.same_length(correct=plus, depth=depths, degree=degrees)
    offered = n_features if n_split_features is None else n_split_features
    if len(family_complexity):
        growth = family_log_growth(degrees, family_complexity, m)
    else:
        growth = leaf_log_growth(degrees, n_features, m, n_classes, homogeneous=homogeneous)
    split_growth = split_log_growth(m, max_features, offered)
    complexity = composite_complexity(depths, growth, split_growth, m)
    return LeafLedger(
        depth=depths,
        path=_path_column(paths, depths.size),
        correct=plus,
        errors=minus,
        degree=degrees,
        vc_dimension=vc_dimension(n_features, degrees, homogeneous=homogeneous),
        log_growth=growth,
        complexity_term=8.0 * n_classes * check.positive(gamma_scale, "gamma_scale") * complexity,
        gamma_scale=float(gamma_scale),
    )


def path_in_words(steps: Iterable[tuple[str, str, object]]) -> str:
    """Write the splits on a path, such as ``age <= 37.5 and job in {clerk, cook}``.

    Parameters
    ----------
    steps : iterable of (name, relation, value)
        Relation is any word or sign; a value that is a set, list or tuple is written in braces.

    Examples
    --------
    >>> from surewood.bounds.ledger import path_in_words
    >>> path_in_words([("age", "<=", 37.5), ("job", "in", ("clerk", "cook"))])
    'age <= 37.5 and job in {clerk, cook}'
    >>> path_in_words([])
    'all points'
    """
    parts = [f"{name} {relation} {_value_in_words(value)}" for name, relation, value in steps]
    return " and ".join(parts) if parts else "all points"


def _value_in_words(value: object) -> str:
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(str(v) for v in value)) + "}"
    if isinstance(value, list | tuple):
        return "{" + ", ".join(str(v) for v in value) + "}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _leaf_counts(correct: ArrayLike, errors: ArrayLike) -> tuple[Floats, Floats, int]:
    """Counts or weights over leaves, and the sample size for the growth functions (weights rounded up)."""
    plus = np.atleast_1d(check.finite(correct, "correct", minimum=0.0))
    minus = np.atleast_1d(check.finite(errors, "errors", minimum=0.0))
    check.same_length(correct=plus, errors=minus)
    total = float(plus.sum() + minus.sum())
    return plus, minus, int(np.ceil(check.positive(total, "correct and errors together")))


def _path_column(paths: Sequence[str] | None, n: int) -> NDArray[Any]:
    words = [""] * n if paths is None else list(paths)
    if len(words) != n:
        raise ValueError(f"paths must have one entry per leaf ({n}), got {len(words)}")
    return np.array(words, dtype=object)
