"""`solve_many`: a batch of one-vs-one SVMs over one Gram matrix, without Python per problem.

A problem is (group of rows, degree, C). One thread solves them in one call into the core, with the GIL
released, which answers Ctrl-C and reports its progress. For several threads the batch is cut into chunks
that never split the C values of one (group, degree): results do not depend on how many there are.
`SvmBatch` is the result: flat arrays over all problems.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import ArrayLike, NDArray

from surewood import _core
from surewood._arrays import Codes, Floats
from surewood.parallel import run_tasks, share, thread_count, worker_count
from surewood.parallel.progress import Advance, ignore
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.one_vs_one import Predictor, offsets, pairs_of
from surewood.tables.workspace import GrowingArray

MAX_DEGREE = _core.MAX_DEGREE
_CHUNK_WORK = 2.5e7  # element updates per chunk, roughly: some milliseconds, so that few results wait
_SECONDS_A_UPDATE = 1e-10
# Results with an entry per point; the others have one per problem or pair.
_GROW_WITH_POINTS = ("support", "coef", "predicted", "decision")


@dataclass
class SvmBatch:
    """The SVMs of a batch, as flat arrays over problems in the order (group, degree, C).

    Attributes
    ----------
    shape : tuple
        (number of groups, number of degrees, number of C values).
    n_correct : ndarray of int32, this shape
        Training points of the group that the SVM classifies right (m⁺ of theory.md §2.1).
    converged : ndarray of bool, this shape
        False where some pair met the iteration cap.
    n_support, n_classes : ndarray of int32, this shape
    scale : ndarray of float64, this shape
        1, or the power of two by which γ⟨x,x'⟩ + c₀ was divided to keep high powers finite; the coefficients
        are then in units of scale**(-degree). Decision values are not affected.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.svm.dual import solve_many
    >>> from surewood.svm.gram import Gram
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> batch = solve_many(Gram(X), [np.arange(4)], y, degrees=[1, 2], C=[1.0, 10.0])
    >>> batch.shape, batch.n_correct.ravel().tolist()
    ((1, 2, 2), [4, 4, 4, 4])
    """

    shape: tuple[int, ...]
    kernel: KernelSpec
    gram: Gram
    points: Codes
    starts: NDArray[np.int64]
    degree: Codes
    C: Floats
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def from_parts(
        cls, parts: Iterable[dict[str, NDArray[Any]]], shape: tuple[int, ...], **batch: Any
    ) -> SvmBatch:
        """Join the results of the chunks of a batch as they come: hardly anything is held twice."""
        growing: dict[str, GrowingArray] = {}
        whole: dict[str, NDArray[Any]] = {}
        n_problems, n_points = math.prod(shape), int(batch["starts"][-1]) * math.prod(shape[1:])
        for part in parts:
            problems, points = len(part["n_correct"]), len(part["predicted"])
            if problems == n_problems:  # all of them
                whole = part
                continue
            for name, piece in part.items():
                fraction = points / n_points if name in _GROW_WITH_POINTS else problems / n_problems
                growing.setdefault(name, GrowingArray(fraction)).add(piece)
        arrays = whole or {name: array.joined() for name, array in growing.items()}
        return cls(shape=shape, arrays=arrays, **batch)

    # --- one entry per problem -----------------------------------------------------------------------------

    @property
    def n_correct(self) -> Codes:
        """Correctly classified training rows of each SVM."""
        return self.arrays["n_correct"].reshape(self.shape)

    @property
    def n_support(self) -> Codes:
        """Number of support vectors of each SVM."""
        return self.arrays["n_support"].reshape(self.shape)

    @property
    def n_classes(self) -> Codes:
        """Number of classes of each SVM."""
        return self.arrays["n_classes"].reshape(self.shape)

    @property
    def scale(self) -> Floats:
        """Power of two by which the kernel of each SVM was divided."""
        return self.arrays["scale"].reshape(self.shape)

    @cached_property
    def converged(self) -> NDArray[np.bool_]:
        capped = np.zeros(len(self.degree), dtype=bool)
        np.logical_or.at(capped, self._pair_owner, self.arrays["status"] != 0)
        return ~capped.reshape(self.shape)

    @cached_property
    def iterations(self) -> NDArray[np.int64]:
        """Solver iterations, summed over the pairs."""
        total = np.zeros(len(self.degree), dtype=np.int64)
        np.add.at(total, self._pair_owner, self.arrays["iterations"])
        return total.reshape(self.shape)

    # --- one problem ---------------------------------------------------------------------------------------

    def index(self, group: int, degree: int = 0, c: int = 0) -> int:
        """Position of a problem in the flat arrays, from its place on the three lists."""
        return int(np.ravel_multi_index((group, degree, c), self.shape))

    def predicted(self, problem: int) -> Codes:
        """Class codes that the SVM gives to its own points, in the order of the group."""
        return self._slice("predicted", self._point_at, problem)

    def decision(self, problem: int) -> Floats:
        """Decision values of a two-class SVM at its own points; positive: the higher code."""
        if not self.arrays["decision"].size:
            raise ValueError("decision values were not kept: pass decisions=True to solve_many")
        if self.arrays["n_classes"][problem] != 2:
            raise ValueError("decision values of the training points exist for two-class SVMs only")
        return -self._slice("decision", self._point_at, problem)

    def classes(self, problem: int) -> Codes:
        """Class codes present in the problem's group."""
        return self._slice("classes", self._class_at, problem)

    def support(self, problem: int) -> Codes:
        """Rows of X that are support points, by class and then in the order of the group."""
        return self._slice("support", self._support_at, problem)

    def coef(self, problem: int) -> Floats:
        """y·alpha, shape (n_support, n_classes − 1): libsvm's ``sv_coef``, transposed."""
        flat = self._slice("coef", self._coef_at, problem)
        return flat.reshape(-1, max(int(self.arrays["n_classes"][problem]) - 1, 1))

    def pair(self, name: str, problem: int) -> NDArray[Any]:
        """'bias', 'objective' (of the dual), 'gap' (KKT), 'iterations' or 'status' of each pair."""
        if name not in ("bias", "objective", "gap", "iterations", "status"):
            raise ValueError(f"unknown quantity {name!r}")
        return self._slice(name, self._pair_at, problem)

    def predictor(self, problems: ArrayLike | None = None) -> Predictor:
        """The compact form of some SVMs (default: all), numbered in the order given."""
        chosen = None if problems is None else np.atleast_1d(np.asarray(problems, dtype=np.intp))
        support = self._gathered("support", self._support_at, chosen)
        used = np.zeros(len(self.gram.X), dtype=bool)
        used[support] = True
        rows, place = np.flatnonzero(used), np.cumsum(used, dtype=np.int32) - 1
        return Predictor(
            kernel=self.kernel,
            support_rows=np.ascontiguousarray(self.gram.X[rows]),
            support_norms=np.ascontiguousarray(self.gram.norms[rows]),
            support_index=rows.astype(np.int32),
            degree=self.degree if chosen is None else self.degree[chosen],
            scale=self._of("scale", chosen),
            n_classes=self._of("n_classes", chosen),
            n_support=self._of("n_support", chosen),
            classes=self._gathered("classes", self._class_at, chosen),
            class_support=self._gathered("class_support", self._class_at, chosen),
            bias=self._gathered("bias", self._pair_at, chosen),
            support=place[support],
            coef=self._gathered("coef", self._coef_at, chosen),
        )

    # --- offsets -------------------------------------------------------------------------------------------

    def _slice(self, name: str, at: NDArray[np.int64], problem: int) -> NDArray[Any]:
        return self.arrays[name][at[problem] : at[problem + 1]]

    def _of(self, name: str, chosen: NDArray[np.intp] | None) -> NDArray[Any]:
        """One entry per problem, of the chosen ones or of all."""
        return self.arrays[name] if chosen is None else self.arrays[name][chosen]

    def _gathered(self, name: str, at: NDArray[np.int64], chosen: NDArray[np.intp] | None) -> NDArray[Any]:
        """A slice per problem, of the chosen ones or of all."""
        if chosen is None:
            return self.arrays[name]
        sizes = at[chosen + 1] - at[chosen]
        # Entry k of an SVM's slice lies k places behind the slice's beginning.
        shift = np.repeat(at[chosen] - (np.cumsum(sizes) - sizes), sizes)
        return self.arrays[name][shift + np.arange(len(shift))]

    @cached_property
    def _class_at(self) -> NDArray[np.int64]:
        return offsets(self.arrays["n_classes"])

    @cached_property
    def _pair_at(self) -> NDArray[np.int64]:
        return offsets(pairs_of(self.arrays["n_classes"]))

    @cached_property
    def _pair_owner(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.degree)), pairs_of(self.arrays["n_classes"]))

    @cached_property
    def _support_at(self) -> NDArray[np.int64]:
        return offsets(self.arrays["n_support"])

    @cached_property
    def _coef_at(self) -> NDArray[np.int64]:
        return offsets(self.arrays["n_support"].astype(np.int64) * (self.arrays["n_classes"] - 1))

    @cached_property
    def _point_at(self) -> NDArray[np.int64]:
        return offsets(np.repeat(np.diff(self.starts), self.shape[1] * self.shape[2]))


def solve_many(
    gram: Gram,
    groups: Sequence[ArrayLike],
    labels: ArrayLike,
    degrees: ArrayLike,
    C: ArrayLike,
    *,
    kernel: KernelSpec | None = None,
    weights: ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000,
    warm_start: bool = False,
    decisions: bool = False,
    cache_size: int = 64 << 20,
    n_jobs: int | None = None,
    advance: Advance = ignore,
) -> SvmBatch:
    """Train a one-vs-one C-SVM on every group of rows, for every degree and C.

    Parameters
    ----------
    gram : Gram
        The training rows and their inner products.
    groups : sequence of integer arrays
        Row numbers of each group (a leaf, a fold, all rows); not empty, without repeats.
    labels : array-like of int, shape (n,)
        Class codes 0, 1, ... of all training rows.
    degrees : array-like of int, shape (D,)
        Degrees of the polynomial kernel, 0 to 100. The rbf kernel does not use them: give one.
    C : array-like
        Positive, may be infinite; broadcast to (number of groups, D, number of C values). A plain array is
        thus a list of C values for all, an array of shape (groups, D, 1) gives each its own.
    kernel : KernelSpec, optional
        Default: theory.md [D-02], γ = 1 / d and c₀ = 1.
    weights : array-like of shape (n,), optional
        Positive; point i has the box C · weights[i].
    tol : float, default=1e-3
        libsvm's stopping tolerance.
    max_iter : int, default=10000
        Iterations per pair of classes; an SVM that needs more is kept and flagged (`SvmBatch.converged`).
        Negative: no cap.
    warm_start : bool, default=False
        Start each C from the solution of the one before it on the list where that is smaller. Saves
        iterations, and makes the last digits depend on the list.
    decisions : bool, default=False
        Keep the decision values of two-class SVMs at their own points.
    cache_size : int, default=64 MiB
        Bytes of kernel rows that a thread may hold; larger problems rebuild the rows used longest ago.
    n_jobs : int, optional
        Threads, or workers of the active joblib backend. The result is the same for any number.
    advance : function of a number, optional
        Told of SVMs as they are done.

    Returns
    -------
    SvmBatch
        Indexed by (group, degree, C).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0], [5.0], [6.0]])
    >>> y = np.array([0, 0, 1, 1, 0, 0])
    >>> batch = solve_many(Gram(X), [np.arange(4), np.arange(6)], y, degrees=[1, 2], C=[10.0])
    >>> batch.shape
    (2, 2, 1)
    >>> batch.n_correct[:, :, 0]  # a parabola tells the classes of the second group apart, a line does not
    array([[4, 4],
           [4, 6]], dtype=int32)
    """
    codes = _class_codes(labels, gram.n_rows)
    points, starts = _flatten_groups(groups, gram.n_rows)
    degree_list = _degrees(degrees)
    boxes = _boxes(C, len(groups), len(degree_list))
    weight = None if weights is None else _positive_weights(weights, gram.n_rows)
    if not tol > 0:
        raise ValueError(f"tol must be positive, got {tol!r}")
    shape = boxes.shape
    group, degree = np.broadcast_arrays(
        np.arange(shape[0], dtype=np.int32)[:, None, None], degree_list[None, :, None], boxes
    )[:2]
    problems = (group.ravel(), degree.ravel(), boxes.ravel())
    options = {
        "tol": float(tol),
        "max_iter": int(max_iter) if max_iter >= 0 else np.iinfo(np.int64).max,
        "cache_bytes": int(cache_size),
        "warm": bool(warm_start),
        "decisions": bool(decisions),
    }
    spec = KernelSpec.default(gram.X.shape[1]) if kernel is None else kernel
    chunks = _run_chunks(gram, spec, points, starts, codes, weight, problems, shape, options, n_jobs, advance)
    return SvmBatch.from_parts(
        chunks, shape, degree=problems[1], C=problems[2], kernel=spec, gram=gram, points=points, starts=starts
    )


def _run_chunks(
    gram: Gram,
    spec: KernelSpec,
    points: Codes,
    starts: NDArray[np.int64],
    codes: Codes,
    weight: Floats | None,
    problems: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    shape: tuple[int, ...],
    options: dict[str, Any],
    n_jobs: int | None,
    advance: Advance,
) -> Iterator[dict[str, NDArray[Any]]]:
    stop = np.zeros(1, dtype=np.uint8)
    group, degree, C = problems
    elsewhere = worker_count(n_jobs) > 0
    # Workers elsewhere form the products of a chunk sooner than they would receive those of all rows.
    rows = (None if elsewhere else gram.products, gram.X, gram.norms, spec)
    if not elsewhere and thread_count(n_jobs) == 1:
        yield _solve_chunk(rows, (points, starts), codes, weight, problems, options, stop, advance)
        return
    share(gram.X, gram.norms)
    chunks, work = _chunks(np.diff(starts), shape)

    def chunk(first: int, last: int) -> Any:
        """A task with the groups of its problems only: the rows of all would be long."""
        low, high = int(group[first]), int(group[last - 1]) + 1
        in_chunk = points[starts[low] : starts[high]], starts[low : high + 1] - starts[low]
        part = slice(first, last)
        return delayed(_solve_chunk)(
            rows, in_chunk, codes, weight, (group[part] - low, degree[part], C[part]), options, stop
        )

    tasks = (chunk(first, last) for first, last in chunks)
    seconds = [_SECONDS_A_UPDATE * w for w in work]
    for part in run_tasks(tasks, n_jobs, stop=stop, seconds=seconds, one_by_one=True):
        yield part
        advance(len(part["n_correct"]))


def _solve_chunk(
    rows: tuple[Any, ...],
    groups: tuple[Codes, NDArray[np.int64]],
    codes: Codes,
    weight: Floats | None,
    problems: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    options: dict[str, Any],
    stop: NDArray[np.uint8],
    advance: Advance | None = None,
) -> dict[str, NDArray[Any]]:
    products, X, norms, spec = rows
    points, starts = groups
    group, degree, C = problems
    return _core.svm_solve(
        _core.TrainingRows(x=X, norms=norms, gram=products),
        spec.in_core,
        _core.Problems(points=points, starts=starts, group=group, degree=degree, C=C),
        codes,
        weight,
        _core.SolveOptions(**options),
        stop,
        advance,
    )


def _chunks(sizes: NDArray[np.int64], shape: tuple[int, ...]) -> tuple[list[tuple[int, int]], list[float]]:
    """Ranges of problems and their work; cuts fall between (group, degree) runs only."""
    _, n_degrees, n_C = shape
    size = sizes.astype(np.float64)
    work = np.repeat(n_C * (4.0 * size * size + 2000.0 * size + 2000.0), n_degrees)
    before = np.concatenate([[0.0], np.cumsum(work)])
    cuts = [0]
    while cuts[-1] < len(work):
        first = cuts[-1]
        last = int(np.searchsorted(before, before[first] + _CHUNK_WORK, side="right")) - 1
        cuts.append(max(first + 1, last))
    spans = [(first * n_C, last * n_C) for first, last in pairwise(cuts)]
    return spans, [float(before[last] - before[first]) for first, last in pairwise(cuts)]


def _class_codes(labels: ArrayLike, n: int) -> Codes:
    codes = np.asarray(labels)
    if codes.shape != (n,) or not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(f"labels must be {n} integer class codes, got {codes.dtype} of shape {codes.shape}")
    if codes.min() < 0 or codes.max() > np.iinfo(np.int32).max:
        raise ValueError("labels must be class codes 0, 1, ...: found a negative or huge one")
    return np.ascontiguousarray(codes, dtype=np.int32)


def _flatten_groups(groups: Sequence[ArrayLike], n: int) -> tuple[Codes, NDArray[np.int64]]:
    arrays = [np.asarray(group) for group in groups]
    for k, rows in enumerate(arrays):
        if rows.ndim != 1 or rows.size == 0:
            raise ValueError(f"group {k} must be a non-empty list of row numbers, got shape {rows.shape}")
        if not np.issubdtype(rows.dtype, np.integer):
            raise ValueError(f"group {k} must hold integer row numbers, got {rows.dtype}")
    starts = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([rows.size for rows in arrays], out=starts[1:])
    if any(rows.min() < 0 or rows.max() >= n for rows in arrays):
        raise ValueError(f"groups name rows outside 0..{n - 1}")
    points = np.empty(starts[-1], dtype=np.int32)
    if arrays:
        np.concatenate(arrays, out=points, casting="unsafe")
    return points, starts


def _degrees(degrees: ArrayLike) -> Codes:
    values = np.atleast_1d(np.asarray(degrees))
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"degrees must be a list of integers, got {degrees!r}")
    if values.size and (values.min() < 0 or values.max() > MAX_DEGREE):
        raise ValueError(f"degrees must lie between 0 and {MAX_DEGREE}, got {values.tolist()}")
    return values.astype(np.int32)


def _boxes(C: ArrayLike, n_groups: int, n_degrees: int) -> Floats:
    values = np.asarray(C, dtype=np.float64)
    if np.isnan(values).any() or (values <= 0).any():
        raise ValueError("C must be positive (it may be infinite)")
    try:
        return np.broadcast_to(values, (n_groups, n_degrees, values.shape[-1] if values.ndim else 1))
    except ValueError as error:
        raise ValueError(
            f"C of shape {values.shape} does not fit ({n_groups} groups, {n_degrees} degrees, C values)"
        ) from error


def _positive_weights(weights: ArrayLike, n: int) -> Floats:
    values = np.ascontiguousarray(weights, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), got {values.shape}")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError("weights must be positive and finite: leave out rows of weight zero")
    return values
