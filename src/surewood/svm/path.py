"""A whole grid of degrees and C from one Gram matrix: training and held-out errors of every SVM.

Kernels of all degrees are elementwise functions of the same inner products, the kernel rows of a degree serve
all its C values, and every C starts from the solution of the smaller one. Folds are sets of rows of the same
matrix. Scaling uses all rows of X, held-out ones included (never their labels): that is what lets them share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats
from surewood.svm.dual import SvmBatch, solve_many
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.penalty import best_C, held_out_errors


@dataclass
class DegreePath:
    """SVMs and errors of a degree × C grid.

    Attributes
    ----------
    degrees : ndarray of int, shape (D,)
    Cs : ndarray of float, shape (K,)
        Ascending.
    train_errors : ndarray of shape (D, K)
        (Weighted) fraction of the training rows that each SVM gets wrong.
    fold_errors : ndarray of shape (folds, D, K), or None
        Errors on the held-out rows of each fold.
    converged : ndarray of bool, shape (D, K)
        Whether the SVM on all rows met the stopping rule within `max_iter`.
    batch : SvmBatch
        The SVMs on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import PolySVC
    >>> X, y = load_iris(return_X_y=True)
    >>> path = PolySVC().path(X, y, degrees=[1, 2], Cs=[0.1, 1.0])
    >>> path.train_errors.shape, path.converged.all().item()
    ((2, 2), True)
    """

    degrees: NDArray[np.int32]
    Cs: Floats
    train_errors: Floats
    fold_errors: Floats | None
    batch: SvmBatch

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Whether each SVM of the grid converged."""
        return np.asarray(self.batch.converged[0])

    @property
    def errors(self) -> Floats:
        """Mean held-out errors where there are folds, else training errors; shape (D, K)."""
        return self.train_errors if self.fold_errors is None else self.fold_errors.mean(axis=0)

    @property
    def best_C(self) -> Floats:
        """For each degree the C of smallest error, the smaller one on ties (theory.md [D-12])."""
        return best_C(self.errors.round(12), self.Cs)  # equal sums may differ in the last bit

    @property
    def best(self) -> tuple[int, float]:
        """Degree and C of smallest error; the smaller degree, then the smaller C on ties."""
        d, k = np.unravel_index(self.errors.round(12).argmin(), self.errors.shape)
        return int(self.degrees[d]), float(self.Cs[k])


def solve_path(
    gram: Gram,
    codes: NDArray[np.int32],
    degrees: ArrayLike,
    Cs: ArrayLike,
    *,
    kernel: KernelSpec,
    folds: Sequence[tuple[NDArray[Any], NDArray[Any]]] = (),
    weights: Floats | None = None,
    **options: Any,
) -> DegreePath:
    """Solve the grid on all rows and on the training rows of each fold; predict the held-out rows.

    Parameters
    ----------
    gram, codes, degrees, kernel, weights
        As in `solve_many`.
    Cs : array-like of shape (K,)
        Sorted before use.
    folds : sequence of (training rows, held-out rows)
    **options
        `tol`, `max_iter`, `cache_size`, `n_jobs` of `solve_many`.
    """
    sorted_Cs = np.unique(np.asarray(Cs, dtype=np.float64))
    if not sorted_Cs.size:
        raise ValueError("Cs must name at least one value")
    options |= {"kernel": kernel, "weights": weights, "warm_start": True}
    batch = solve_many(gram, [np.arange(gram.n_rows)], codes, degrees, sorted_Cs, **options)
    weight = np.ones(gram.n_rows) if weights is None else weights
    n_degrees, n_C = batch.shape[1:]
    predicted = np.stack([batch.predicted(q) for q in range(n_degrees * n_C)])
    train_errors = ((predicted != codes) @ weight / weight.sum()).reshape(n_degrees, n_C)
    fold_errors = None
    if folds:
        parts = [(train, (gram.X[held], codes[held], weight[held])) for train, held in folds]
        errors = held_out_errors(gram, codes, parts, degrees, sorted_Cs, **options)
        fold_errors = errors / np.array([weight[held].sum() for _, held in folds])[:, None, None]
    return DegreePath(
        np.atleast_1d(np.asarray(degrees, dtype=np.int32)), sorted_Cs, train_errors, fold_errors, batch
    )
