"""One-vs-one SVMs as an estimator keeps them, and their votes on new rows.

`Predictor` is the compact form of chosen SVMs of a batch: their coefficients and the union of their support
rows. It predicts with all of them from one product of the new rows with those rows. Votes: a pair's decision
above zero is a vote for its first class, otherwise for the second; the class with the most votes wins, the
lowest code on ties, as in libsvm (theory.md [D-04]).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from surewood import _core
from surewood._arrays import Floats
from surewood.parallel import over_rows, share, worker_count
from surewood.svm.checking import TABLE, check_predictor
from surewood.svm.gram import KernelSpec, StoredProducts

__all__ = ["Predictor"]

_ROWS_A_TASK = 16384  # an SVM is packed once per task
_SECONDS_A_TERM = 3e-10
IntArray = NDArray[np.int32]


def offsets(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Where the entries of each problem begin, and the end."""
    at = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=at[1:])
    return at


def pairs_of(n_classes: NDArray[Any]) -> NDArray[np.int64]:
    """Pairs of this many classes."""
    count = n_classes.astype(np.int64)
    return count * (count - 1) // 2


@dataclass
class Predictor:
    """SVMs and their support rows, ready to vote on new rows; picklable plain arrays.

    `support` points into `support_rows`; the other arrays are those of `SvmBatch`, for the chosen ones only.
    `support_index` are the numbers of the support rows in the training table.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.svm import Gram, solve_many
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> predictor = solve_many(Gram(X), [np.arange(4)], y, degrees=[1], C=[10.0]).predictor()
    >>> predictor.n_svms, predictor.predict(np.array([[-3.0], [3.0]])).ravel().tolist()
    (1, [0, 1])
    """

    kernel: KernelSpec
    support_rows: Floats
    support_norms: NDArray[np.float32]
    support_index: IntArray
    degree: IntArray
    scale: Floats
    n_classes: IntArray
    n_support: IntArray
    classes: IntArray
    class_support: IntArray
    bias: Floats
    support: IntArray
    coef: Floats

    def __post_init__(self) -> None:
        check_predictor(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: state[name] for name in _FIELDS if name in state})
        self._hold(check_predictor(self))

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @property
    def in_core(self) -> Any:
        """The SVMs as the core takes them, checked; made once, since rows may come one by one.

        Arrays that were checked must not change: they become read-only.
        """
        held = self.__dict__.get("_in_core")
        if held is None or any(held[0][name] is not getattr(self, name) for name in TABLE):
            held = self._hold(_core.SvmTable(**{name: getattr(self, name) for name in TABLE}))
        return held[1]

    def _hold(self, table: Any) -> tuple[dict[str, NDArray[Any]], Any]:
        """Keep the checked table of today's arrays."""
        arrays = {name: getattr(self, name) for name in TABLE}
        for array in arrays.values():
            array.setflags(write=False)
        self.__dict__["_in_core"] = arrays, table
        return arrays, table

    @property
    def n_svms(self) -> int:
        """Number of SVMs."""
        return len(self.degree)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(getattr(self, f.name).nbytes for f in fields(self) if f.name != "kernel")

    def predict(
        self,
        X: ArrayLike,
        assign: ArrayLike | None = None,
        *,
        n_jobs: int | None = None,
        stored: StoredProducts | None = None,
    ) -> IntArray:
        """Class codes of shape (rows, tasks): task t of row r is put to SVM ``assign[r, t]``.

        `assign` (default: SVM 0 for every row) may hold -1 for "no SVM"; the code is then -1. Numbers
        below that are constants: ``-2 - c`` is class c without an SVM. Tasks of a row that share an SVM are
        computed once. `stored`: where the rows of `X` are in the table that the SVMs were trained on, if its
        inner products are at hand; the codes are the same.
        """
        X, assign = self._checked(X, assign)
        codes = np.empty(assign.shape, dtype=np.int32)
        self._run(X, assign, n_jobs, stored, codes=codes)
        return codes

    def vote_fractions(
        self, X: ArrayLike, assign: ArrayLike | None = None, *, n_classes: int, n_jobs: int | None = None
    ) -> Floats:
        """Sum over tasks of the fraction of pairs that each class wins, shape (rows, n_classes)."""
        X, assign = self._checked(X, assign)
        if self.classes.size and n_classes <= int(self.classes.max()):
            raise ValueError(f"n_classes={n_classes}, but the SVMs know class {int(self.classes.max())}")
        fractions = np.zeros((len(X), n_classes))
        self._run(X, assign, n_jobs, None, vote_fractions=fractions)
        return fractions

    def decisions(self, X: ArrayLike, svm: int = 0, *, n_jobs: int | None = None) -> Floats:
        """Decision values of one SVM, shape (rows, pairs); positive: the first class of the pair."""
        width = int(pairs_of(self.n_classes[svm : svm + 1])[0])
        X, assign = self._checked(X, None)
        out = np.zeros((len(X), 1, max(width, 1)))
        self._run(X, np.full_like(assign, svm), n_jobs, None, decisions=out)
        return out[:, 0, :width]

    def _checked(self, X: ArrayLike, assign: ArrayLike | None) -> tuple[Floats, IntArray]:
        rows = np.ascontiguousarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.support_rows.shape[1]:
            raise ValueError(f"X must have {self.support_rows.shape[1]} columns, got shape {rows.shape}")
        if assign is None:
            return rows, np.zeros((len(rows), 1), dtype=np.int32)
        chosen = np.ascontiguousarray(assign, dtype=np.int32)
        if chosen.ndim != 2 or len(chosen) != len(rows):
            raise ValueError(f"assign must have one row per row of X ({len(rows)}), got shape {chosen.shape}")
        if chosen.size and chosen.max() >= self.n_svms:
            raise ValueError(f"assign names SVM {int(chosen.max())} of {self.n_svms}")
        return rows, chosen

    def _run(
        self,
        X: Floats,
        assign: IntArray,
        n_jobs: int | None,
        stored: StoredProducts | None,
        **out: NDArray[Any],
    ) -> None:
        stop = np.zeros(1, dtype=np.uint8)
        if worker_count(n_jobs) > 0:  # workers form products sooner than they would receive them
            stored = None
        share(*(getattr(self, name) for name in TABLE))
        rows_a_task = max(1, min(_ROWS_A_TASK, -(-len(X) // effective_n_jobs(n_jobs))))
        # Each task sums the coefficients of its SVM's support rows for every pair of classes.
        several = self.n_svms and len(X) > rows_a_task  # else nobody asks what a row takes
        terms = float(np.mean(self.n_support * (self.n_classes - 1.0))) if several else 0.0
        over_rows(
            _predict,
            (self, stop, tuple(out), None if stored is None else stored.matrix),
            lambda first, last: (
                X[first:last],
                assign[first:last],
                None if stored is None else stored.rows[first:last],
            ),
            list(out.values()),
            n_rows=len(X),
            rows_a_task=rows_a_task,
            n_jobs=n_jobs,
            seconds_a_row=_SECONDS_A_TERM * (terms * assign.shape[1] + self.support_rows.size),
            stop=stop,
        )


_FIELDS = tuple(field.name for field in fields(Predictor))


def _predict(
    svms: Predictor,
    stop: NDArray[np.uint8],
    wanted: tuple[str, ...],
    products: NDArray[np.float32] | None,
    X: Floats,
    assign: IntArray,
    rows: IntArray | None,
    *outputs: NDArray[Any],
) -> None:
    arguments: dict[str, Any] = dict(zip(wanted, outputs))
    if products is not None:
        arguments |= {"products": products, "product_rows": rows, "support_index": svms.support_index}
    _core.svm_predict(svms.in_core, svms.kernel.in_core, X, assign, stop=stop, **arguments)
