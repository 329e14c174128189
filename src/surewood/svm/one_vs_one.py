"""One-vs-one SVMs as an estimator keeps them, and their votes on new rows.

`Predictor` is the compact form of chosen SVMs of a batch: their coefficients and the union of their support
rows. It predicts with all of them from one product of the new rows with those rows. Votes: a pair's decision
above zero is a vote for its first class, otherwise for the second; the class with the most votes wins, the
lowest code on ties, as in libsvm (theory.md [D-04]).

`class_votes`, `class_scores` and `vote_counts` turn pairwise decisions and labels into numbers per class;
`nearest_support` names the training rows that an SVM compares a row with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from surewood import _core
from surewood._arrays import ArrayTable, Codes, Floats, check_arrays, check_weights
from surewood.parallel import over_rows, worker_count
from surewood.svm.gram import KernelSpec, StoredProducts
from surewood.tables import TrainingTable, plain

_ROWS_A_TASK = 16384  # an SVM is packed once per task
_FEW_ROWS = 32  # a block of the core: not worth dividing
_SECONDS_A_TERM = 3e-10


def offsets(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Where the entries of each problem begin, and the end."""
    at = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=at[1:])
    return at


def pairs_of(n_classes: NDArray[Any]) -> NDArray[np.int64]:
    """Pairs of this many classes."""
    count = n_classes.astype(np.int64)
    return count * (count - 1) // 2


_ARRAYS: ArrayTable = {
    (np.float64, 2): ("support_rows",),
    (np.float32, 1): ("support_norms",),
    (np.int32, 1): ("degree", "n_classes", "n_support", "classes", "class_support", "support"),
    (np.float64, 1): ("scale", "bias", "coef"),
}
#: The arrays of a predictor that the core reads.
TABLE = tuple(name for names in _ARRAYS.values() for name in names)


@dataclass(frozen=True)
class Predictor:
    """SVMs and their support rows, ready to vote on new rows; picklable plain arrays.

    `support` points into `support_rows`; the other arrays are those of `SvmBatch`, for the chosen ones only.
    `support_index` are the numbers of the support rows in the training table.

    The core follows every count and row number without looking, and a model file is not trusted: all arrays
    are checked in one pass when a predictor is made, unpickled or loaded, and are read-only from then on.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.svm.dual import solve_many
    >>> from surewood.svm.gram import Gram
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> predictor = solve_many(Gram(X), [np.arange(4)], y, degrees=[1], C=[10.0]).predictor()
    >>> predictor.n_svms, predictor.predict(np.array([[-3.0], [3.0]])).ravel().tolist()
    (1, [0, 1])
    """

    kernel: KernelSpec
    support_rows: Floats
    support_norms: NDArray[np.float32]
    support_index: Codes
    degree: Codes
    scale: Floats
    n_classes: Codes
    n_support: Codes
    classes: Codes
    class_support: Codes
    bias: Floats
    support: Codes
    coef: Floats

    def __post_init__(self) -> None:
        arrays = {name: getattr(self, name) for name in TABLE}
        try:
            self.__dict__["_in_core"] = _core.SvmTable(**arrays)
        except TypeError as error:  # a wrong type, or lengths that do not agree
            check_arrays(self, _ARRAYS)
            raise ValueError(f"SVMs: {error}.") from None
        index: Any = self.support_index
        if not isinstance(index, np.ndarray) or index.shape != (len(self.support_rows),):
            raise ValueError("support_index must have one entry per support row.")
        for name in ("support_rows", "support_norms"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} must be finite.")
        for name in ("bias", "coef"):
            check_weights(name, getattr(self, name))
        for array in arrays.values():
            array.setflags(write=False)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_in_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def in_core(self) -> _core.SvmTable:
        """The SVMs as the core takes them."""
        table: _core.SvmTable = self.__dict__["_in_core"]
        return table

    @property
    def n_svms(self) -> int:
        """Number of SVMs."""
        return len(self.degree)

    @property
    def support_classes(self) -> Codes:
        """Class of each support row."""
        owner = np.zeros(len(self.support_rows), dtype=np.int32)
        owner[self.support] = np.repeat(self.classes, self.class_support)
        return owner

    def predict(
        self,
        X: ArrayLike,
        assign: ArrayLike | None = None,
        *,
        n_jobs: int | None = None,
        stored: StoredProducts | None = None,
    ) -> Codes:
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
        return self.decisions_and_codes(X, svm, n_jobs=n_jobs)[0]

    def decisions_and_codes(
        self, X: ArrayLike, svm: int = 0, *, n_jobs: int | None = None
    ) -> tuple[Floats, Codes]:
        """The same and, with no more work, the class with the most votes."""
        width = int(pairs_of(self.n_classes[svm : svm + 1])[0])
        X, assign = self._checked(X, None)
        out, codes = np.zeros((len(X), 1, max(width, 1))), np.empty_like(assign)
        self._run(X, np.full_like(assign, svm), n_jobs, None, decisions=out, codes=codes)
        return out[:, 0, :width], codes[:, 0]

    def _checked(self, X: ArrayLike, assign: ArrayLike | None) -> tuple[Floats, Codes]:
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
        assign: Codes,
        n_jobs: int | None,
        stored: StoredProducts | None,
        **out: NDArray[Any],
    ) -> None:
        stop = np.zeros(1, dtype=np.uint8)
        rows_a_task, terms = _FEW_ROWS, 0.0
        if len(X) > _FEW_ROWS:  # rows may come one by one
            if worker_count(n_jobs) > 0:  # workers form products sooner than they would receive them
                stored = None
            rows_a_task = max(_FEW_ROWS, min(_ROWS_A_TASK, -(-len(X) // effective_n_jobs(n_jobs))))
            # Each task sums the coefficients of its SVM's support rows for every pair of classes.
            terms = float(np.mean(self.n_support * (self.n_classes - 1.0))) if self.n_svms else 0.0
        over_rows(
            _predict_block,
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
            shared=[getattr(self, name) for name in TABLE],
            stop=stop,
        )


def _predict_block(
    svms: Predictor,
    stop: NDArray[np.uint8],
    wanted: tuple[str, ...],
    products: NDArray[np.float32] | None,
    X: Floats,
    assign: Codes,
    rows: Codes | None,
    *outputs: NDArray[Any],
) -> None:
    arguments: dict[str, Any] = dict(zip(wanted, outputs))
    if products is not None:
        arguments |= {"products": products, "product_rows": rows, "support_index": svms.support_index}
    _core.svm_predict(svms.in_core, svms.kernel.in_core, X, assign, stop=stop, **arguments)


def sums_of_pairs(
    n_classes: int, start: NDArray[Any], values: Callable[[slice], tuple[NDArray[Any], NDArray[Any]]]
) -> NDArray[Any]:
    """Add to `start`, shape (rows, n_classes), what every pair of classes gives to its two classes.

    `values` is asked for the pairs of one class with all later ones, as a slice of the columns of
    ``triu_indices``, and answers what the first and what the second class of each gets. Numbers are added one
    by one, in the order of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> decisions = np.array([[1.0, 2.0, 4.0]])  # pairs (0, 1), (0, 2), (1, 2)
    >>> sums_of_pairs(3, np.zeros((1, 3)), lambda pairs: (decisions[:, pairs], -decisions[:, pairs]))
    array([[ 3.,  3., -6.]])
    """
    first = 0
    for a in range(n_classes - 1):
        pairs = slice(first, first + n_classes - 1 - a)
        to_first, to_second = values(pairs)
        start[:, a] = np.cumsum(np.column_stack([start[:, a], to_first]), axis=1, dtype=start.dtype)[:, -1]
        start[:, a + 1 :] += to_second
        first = pairs.stop
    return start


def class_votes(decisions: Floats, n_classes: int) -> NDArray[np.int64]:
    """Pairs won by each class, shape (rows, n_classes); a decision of 0 is a vote for the second class."""
    return sums_of_pairs(
        n_classes,
        np.zeros((len(decisions), n_classes), dtype=np.int64),
        lambda pairs: (decisions[:, pairs] > 0, ~(decisions[:, pairs] > 0)),
    )


def vote_counts(codes: NDArray[np.int32], n_classes: int) -> Floats:
    """How many entries of each row are class c, shape (rows, n_classes); entries below 0 do not vote.

    Examples
    --------
    >>> import numpy as np
    >>> vote_counts(np.array([[0, 1, 1], [-1, 2, -1]], dtype=np.int32), 3)
    array([[1., 2., 0.],
           [0., 0., 1.]])
    """
    counts = np.zeros((len(codes), n_classes))
    _core.count_votes(np.ascontiguousarray(codes, dtype=np.int32), counts)
    return counts


def class_scores(decisions: Floats, classes: NDArray[np.int32], n_total: int) -> Floats:
    """One score per class: votes, and sums of decisions squeezed below half a vote (as in scikit-learn).

    `classes` are the codes that the SVM knows; the others of the `n_total` classes get a score below all.

    Examples
    --------
    >>> import numpy as np
    >>> class_scores(np.array([[2.0]]), np.array([0, 1]), 2).round(3)
    array([[ 1.222, -0.222]])
    """
    n_known = len(classes)
    scores = np.full((len(decisions), n_total), -1.0)
    if n_known == 1:
        scores[:, classes[0]] = 1.0
        return scores
    confidence = sums_of_pairs(
        n_known,
        np.zeros((len(decisions), n_known)),
        lambda pairs: (decisions[:, pairs], -decisions[:, pairs]),
    )
    squeezed = confidence / (3.0 * (np.abs(confidence) + 1.0))
    scores[:, classes] = class_votes(decisions, n_known) + squeezed
    return scores


NEAREST = 5  # support points that an explanation shows


def nearest_support(
    predictor: Predictor, design: NDArray[np.float64], labels: Any, rows: NDArray[Any] | None = None
) -> list[dict[str, Any]]:
    """The support points nearest to one row, as ``row``, ``distance`` and ``label``.

    Distances are those of the design matrix: standardized numbers, one-hot categories.

    Parameters
    ----------
    predictor : Predictor
        All its SVMs count.
    design : ndarray, shape (d,)
        The row as SVMs see it.
    labels : ndarray
        Labels by class code.
    rows : ndarray of int, optional
        Training row of each support point, where it is known.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.svm.dual import solve_many
    >>> from surewood.svm.gram import Gram
    >>> from surewood.svm.one_vs_one import nearest_support
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> predictor = solve_many(Gram(X), [np.arange(4)], y, degrees=[1], C=[10.0]).predictor()
    >>> nearest_support(predictor, np.array([0.5]), ["no", "yes"])[0]
    {'row': None, 'distance': 0.5, 'label': 'yes'}
    """
    with np.errstate(over="ignore"):
        distance = np.sqrt(((predictor.support_rows - design) ** 2).sum(axis=1))
    owner, order = predictor.support_classes, np.argsort(distance, kind="stable")[:NEAREST]
    return [
        {
            "row": None if rows is None else int(rows[k]),
            "distance": plain(distance[k]),
            "label": plain(labels[owner[k]]),
        }
        for k in order
    ]


def first_rows(inputs: TrainingTable) -> NDArray[np.int64]:
    """The first row of X that became each row of the table of a fit.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from surewood.svm.one_vs_one import first_rows
    >>> from surewood.tables import begin_fit
    >>> inputs = begin_fit(DummyClassifier(), [[2.0], [2.0], [1.0]], ["yes", "yes", "no"])
    >>> sorted(first_rows(inputs).tolist())
    [0, 2]
    """
    if inputs.inverse is None:
        return np.arange(inputs.table.n_rows)
    merged, first = np.unique(inputs.inverse, return_index=True)
    return np.asarray(first[merged >= 0])
