"""`solve_many`: a batch of one-vs-one SVMs over one Gram matrix, without Python per problem.

A problem is (group of rows, degree, C). One thread solves them in one call into the core, with the GIL
released, which answers Ctrl-C and tells of its progress. For several threads the batch is cut into chunks
that never split the C values of one (group, degree): results do not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import ArrayLike, NDArray

from surewood import _core
from surewood.parallel import arrays_travel, run_tasks, share, thread_count, worker_count
from surewood.parallel.progress import Advance, ignore
from surewood.svm.batch import SvmBatch
from surewood.svm.gram import Gram, KernelSpec, products_of, remember_products

__all__ = ["MAX_DEGREE", "solve_many"]

MAX_DEGREE = _core.MAX_DEGREE
_CHUNK_WORK = 2.5e7  # element updates per chunk, roughly: some milliseconds, so that few results wait
_SECONDS_A_UPDATE = 1e-10
_FEATURES_WORTH_FORMING = 128  # up to here a worker forms inner products sooner than it gets them


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
    problems = (_flat(group, np.int32), _flat(degree, np.int32), _flat(boxes, np.float64))
    options = {
        "tol": float(tol),
        "max_iter": _cap(max_iter),
        "cache_bytes": int(cache_size),
        "warm": bool(warm_start),
        "decisions": bool(decisions),
    }
    spec = KernelSpec.default(gram.X.shape[1]) if kernel is None else kernel
    parts = _run_chunks(gram, spec, points, starts, codes, weight, problems, shape, options, n_jobs, advance)
    return SvmBatch.from_parts(parts, shape, degree=problems[1], C=problems[2],
                               kernel=spec, gram=gram, points=points, starts=starts)  # fmt: skip


def _run_chunks(
    gram: Gram,
    spec: KernelSpec,
    points: NDArray[np.int32],
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    problems: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    shape: tuple[int, ...],
    options: dict[str, Any],
    n_jobs: int | None,
    advance: Advance,
) -> Iterator[dict[str, NDArray[Any]]]:
    stop = np.zeros(1, dtype=np.uint8)
    group, degree, C = problems
    if worker_count(n_jobs) == 0 and thread_count(n_jobs) == 1:
        rows = (gram.products, False, gram.X, gram.norms, spec)
        yield _solve_chunk(rows, (points, starts), codes, weight, problems, options, stop, advance)
        return
    products, form = gram.products, False
    if products is not None and gram.X.shape[1] <= _FEATURES_WORTH_FORMING and arrays_travel(n_jobs):
        remember_products(gram.X, products)  # for chunks that stay here
        products, form = None, True
    share(products, gram.X, gram.norms)
    rows = (products, form, gram.X, gram.norms, spec)
    chunks, work = _chunks(np.diff(starts), shape)

    def chunk(first: int, last: int) -> Any:
        """A task with its own groups only: their rows are long where groups are many."""
        low, high = int(group[first]), int(group[last - 1]) + 1
        own = points[starts[low] : starts[high]], starts[low : high + 1] - starts[low]
        part = slice(first, last)
        return delayed(_solve_chunk)(
            rows, own, codes, weight, (group[part] - low, degree[part], C[part]), options, stop
        )

    tasks = (chunk(first, last) for first, last in chunks)
    seconds = [_SECONDS_A_UPDATE * w for w in work]
    for part in run_tasks(tasks, n_jobs, stop=stop, seconds=seconds, one_by_one=True):
        yield part
        advance(len(part["n_correct"]))


def _solve_chunk(
    rows: tuple[Any, ...],
    own: tuple[NDArray[np.int32], NDArray[np.int64]],
    codes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    problems: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    options: dict[str, Any],
    stop: NDArray[np.uint8],
    advance: Advance | None = None,
) -> dict[str, NDArray[Any]]:
    products, form, X, norms, spec = rows
    if form:
        products = products_of(X)
    points, starts = own
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


def _flat(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    return np.ascontiguousarray(values, dtype=dtype).ravel()


def _cap(max_iter: int) -> int:
    return int(max_iter) if max_iter >= 0 else np.iinfo(np.int64).max


def _class_codes(labels: ArrayLike, n: int) -> NDArray[np.int32]:
    codes = np.asarray(labels)
    if codes.shape != (n,) or not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(f"labels must be {n} integer class codes, got {codes.dtype} of shape {codes.shape}")
    if codes.min() < 0 or codes.max() > np.iinfo(np.int32).max:
        raise ValueError("labels must be class codes 0, 1, ...: found a negative or huge one")
    return np.ascontiguousarray(codes, dtype=np.int32)


def _flatten_groups(groups: Sequence[ArrayLike], n: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
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


def _degrees(degrees: ArrayLike) -> NDArray[np.int32]:
    values = np.atleast_1d(np.asarray(degrees))
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"degrees must be a list of integers, got {degrees!r}")
    if values.size and (values.min() < 0 or values.max() > MAX_DEGREE):
        raise ValueError(f"degrees must lie between 0 and {MAX_DEGREE}, got {values.tolist()}")
    return values.astype(np.int32)


def _boxes(C: ArrayLike, n_groups: int, n_degrees: int) -> NDArray[np.float64]:
    values = np.asarray(C, dtype=np.float64)
    if np.isnan(values).any() or (values <= 0).any():
        raise ValueError("C must be positive (it may be infinite)")
    try:
        return np.broadcast_to(values, (n_groups, n_degrees, values.shape[-1] if values.ndim else 1))
    except ValueError as error:
        raise ValueError(
            f"C of shape {values.shape} does not fit ({n_groups} groups, {n_degrees} degrees, C values)"
        ) from error


def _positive_weights(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    values = np.ascontiguousarray(weights, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), got {values.shape}")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError("weights must be positive and finite: leave out rows of weight zero")
    return values
