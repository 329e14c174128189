"""Inner products of the training rows, computed once for all SVMs.

`Gram` holds the rows and, when it fits in `max_memory`, the float32 matrix of their inner products;
`KernelSpec` says which elementwise function of them is the kernel. An inner product is summed in double over
the features in their order and rounded once, by one routine of the core for every block shape, thread count
and instruction set: without the stored matrix the same numbers are formed leaf by leaf. (A BLAS product does
not promise this: its last bits depend on the shape of the block.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood import _core
from surewood.parallel import run_in_threads

DEFAULT_MAX_MEMORY = 1 << 30
_BLOCK_ROWS = 512


@dataclass(frozen=True)
class KernelSpec:
    """A kernel as a function of inner products: ``(γ⟨x,x'⟩ + c₀)^degree``, or ``exp(−γ|x − x'|²)``.

    Parameters
    ----------
    kind : {"poly", "rbf"}
        A linear kernel is ``KernelSpec("poly", 1.0, 0.0)`` with degree 1.
    gamma : float
        Positive and the same for all subsets of the training rows (theory.md [D-02]).
    coef0 : float
        The constant c₀ of the polynomial kernel.

    Examples
    --------
    >>> KernelSpec.default(n_features=4)
    KernelSpec(kind='poly', gamma=0.25, coef0=1.0)
    """

    kind: str = "poly"
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("poly", "rbf"):
            raise ValueError(f"kind must be 'poly' or 'rbf', got {self.kind!r}")
        if not 0 < np.float32(self.gamma) < np.inf:
            raise ValueError(f"gamma must be positive and finite in single precision, got {self.gamma!r}")
        if not np.isfinite(np.float32(self.coef0)):
            raise ValueError(f"coef0 must be finite in single precision, got {self.coef0!r}")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def in_core(self) -> _core.Kernel:
        """The form the core takes."""
        return _core.Kernel(self.kind, self.gamma, self.coef0)

    @classmethod
    def default(cls, n_features: int) -> KernelSpec:
        """The kernel of theory.md [D-02]: γ = 1 / n_features, c₀ = 1."""
        return cls("poly", 1.0 / n_features, 1.0)


def unit_rows(design: NDArray[Any], gamma: float, coef0: float) -> NDArray[np.float64]:
    """Rows of norm 1 in feature space: their inner products are those of the normalized polynomial kernel.

    ⟨u, u'⟩ = (γ⟨x,x'⟩ + c₀) / √(k(x,x) k(x',x')), the kernel of degree 1; a row of norm 0 stays.

    Examples
    --------
    >>> u = unit_rows(np.array([[1.0, 0.0], [2.0, 2.0]]), 0.5, 1.0)
    >>> (u @ u.T).round(6).tolist()
    [[1.0, 0.730297], [0.730297, 1.0]]
    """
    rows = np.column_stack([np.sqrt(gamma) * design, np.full(len(design), np.sqrt(coef0))])
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(norms > 0.0, norms, 1.0))


@dataclass(frozen=True)
class StoredProducts:
    """The stored matrix of a table's inner products, and the numbers of some of its rows.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], dtype=np.float32)
    >>> stored = StoredProducts(X @ X.T, np.array([0, 2], dtype=np.int32))
    >>> stored.matrix[stored.rows].tolist()
    [[1.0, 0.0, 1.0], [1.0, 2.0, 2.0]]
    """

    matrix: NDArray[np.float32]
    rows: NDArray[np.int32]


class Gram:
    """Training rows and their inner products.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers; converted to C-contiguous float64.
    max_memory : int, optional
        Bytes the stored matrix may take (default 1 GiB). A larger one is not stored: solvers then
        form the products they need leaf by leaf, with the same results.
    n_jobs : int, optional
        Threads that compute the matrix, as in joblib.

    Attributes
    ----------
    X : ndarray of shape (n, d), float64
    norms : ndarray of shape (n,), float32
        Squared norms of the rows.
    products : ndarray of shape (n, n), float32, or None
        The inner products, when they are stored.

    Examples
    --------
    >>> import numpy as np
    >>> gram = Gram(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> gram.products
    array([[ 5., 11.],
           [11., 25.]], dtype=float32)
    >>> Gram(np.eye(3), max_memory=0).products is None
    True
    """

    def __init__(self, X: ArrayLike, *, max_memory: int | None = None, n_jobs: int | None = None) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        if self.X.ndim != 2 or self.X.shape[0] == 0 or self.X.shape[1] == 0:
            raise ValueError(f"X must be a table with rows and columns, got shape {self.X.shape}")
        with np.errstate(over="ignore"):
            self.norms = _core.squared_norms(self.X)
        if not np.isfinite(self.norms).all():
            row = int(np.flatnonzero(~np.isfinite(self.norms))[0])
            raise ValueError(
                f"inner products are not finite in single precision (first at row {row}): "
                "X has missing, infinite or huge values; scale the features"
            )
        limit = DEFAULT_MAX_MEMORY if max_memory is None else max_memory
        self.products: NDArray[np.float32] | None = None
        if 4 * self.n_rows**2 <= limit:
            self.products = products(self.X, self.X, n_jobs=n_jobs)

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.X.shape[0])

    def stored(self, rows: ArrayLike) -> StoredProducts | None:
        """What a prediction of these rows by SVMs on this table need not form again; None without a matrix.

        Examples
        --------
        >>> Gram(np.eye(3)).stored([2]).rows, Gram(np.eye(3), max_memory=0).stored([2])
        (array([2], dtype=int32), None)
        """
        if self.products is None:
            return None
        return StoredProducts(self.products, np.asarray(rows, dtype=np.int32))


def formed_sooner(n_rows: int, n_columns: int) -> bool:
    """Whether solvers form the products among some rows anew, even where those of all rows are stored.

    Examples
    --------
    >>> formed_sooner(10_000, 20), formed_sooner(10_000, 200)
    (True, False)
    """
    return _core.formed_sooner(n_rows, n_columns)


def useful_limit(n_rows: int, n_columns: int, limit: int | None = None) -> int:
    """Bytes that stored products may take: none where solvers would form them anew all the same.

    Examples
    --------
    >>> useful_limit(3000, 10), useful_limit(3000, 100, 5000)
    (0, 5000)
    """
    if formed_sooner(n_rows, n_columns):
        return 0
    return DEFAULT_MAX_MEMORY if limit is None else limit


def products(
    a: NDArray[np.float64], b: NDArray[np.float64], *, n_jobs: int | None = None
) -> NDArray[np.float32]:
    """``a @ b.T`` rounded to float32, every element by the same sequence of operations in any block."""
    out = np.empty((a.shape[0], b.shape[0]), dtype=np.float32)
    blocks = [(k, min(k + _BLOCK_ROWS, a.shape[0])) for k in range(0, a.shape[0], _BLOCK_ROWS)]
    run_in_threads(
        (partial(_core.inner_products_into, a, b, first, last, out) for first, last in blocks),
        1 if len(blocks) == 1 else n_jobs,
    )
    return out
