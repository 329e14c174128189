"""How tasks are run: in threads, or by the workers of the joblib backend that the caller activated.

Tasks are picklable functions of arrays (``joblib.delayed``), well below a second each. After Ctrl-C no new
task starts; threads are waited for, because an interpreter that exits while the core works in a thread would
abort; remote tasks are cancelled.

joblib looks for results every ten milliseconds and starts a pool with every call. Searches make hundreds of
calls of twenty milliseconds, so threads are run here; how many there are is still joblib's to say.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from joblib.parallel import SequentialBackend, get_active_backend
from numpy.typing import NDArray

from surewood.parallel.remote import is_dask, is_ray, run_remotely, share

_PATIENCE = 0.9  # seconds that an interrupt waits for running tasks
_here = threading.local()  # .busy: this thread runs tasks of a pool


def thread_count(n_jobs: int | None) -> int:
    """Threads that `n_jobs` stands for; one inside a task, which then does its own work by itself.

    Examples
    --------
    >>> from surewood.parallel import thread_count
    >>> thread_count(1), thread_count(2)
    (1, 2)
    """
    return 1 if getattr(_here, "busy", False) else effective_n_jobs(n_jobs)


def in_threads(
    tasks: Iterable[Any], n_jobs: int | None, *, ahead: int, stop: NDArray[np.uint8] | None = None
) -> Iterator[Any]:
    """Results of ``joblib.delayed`` calls in order; `ahead` calls a thread are begun before one is taken.

    After an error or Ctrl-C `stop` is set to 1 and no further task starts. Running ones are waited for: an
    interpreter that exits while the core works in a thread would abort.

    Examples
    --------
    >>> from joblib import delayed
    >>> list(in_threads((delayed(abs)(x) for x in (-1, 2, -3)), 2, ahead=4))
    [1, 2, 3]
    """
    workers = thread_count(n_jobs)
    if workers == 1:
        for function, args, kwargs in tasks:
            yield function(*args, **kwargs)
        return
    pool = ThreadPoolExecutor(workers, "surewood", initializer=_mark_busy)
    begun: deque[Future[Any]] = deque()
    waiting, interrupted = iter(tasks), False
    try:
        for function, args, kwargs in islice(waiting, ahead * workers):
            begun.append(pool.submit(function, *args, **kwargs))
        while begun:
            result = begun.popleft().result()
            for function, args, kwargs in islice(waiting, 1):
                begun.append(pool.submit(function, *args, **kwargs))
            yield result
    except BaseException as error:
        if stop is not None:
            stop[0] = 1
        pool.shutdown(wait=False, cancel_futures=True)
        interrupted = isinstance(error, KeyboardInterrupt)
        if interrupted:
            wait(begun, timeout=_PATIENCE)
        raise
    finally:
        pool.shutdown(wait=not interrupted)


def run_in_threads(calls: Iterable[Callable[[], None]], n_jobs: int | None) -> None:
    """Call functions that write their own part of shared arrays.

    Examples
    --------
    >>> out = np.zeros(3)
    >>> run_in_threads((lambda k=k: out.__setitem__(k, k) for k in range(3)), 2)
    >>> out
    array([0., 1., 2.])
    """
    for _ in in_threads(((call, (), {}) for call in calls), n_jobs, ahead=64):
        pass


def _mark_busy() -> None:
    _here.busy = True


WORTH_SENDING = 0.5  # seconds: below, sending rows and results takes as long as the work


def over_rows(
    kernel: Callable[..., None],
    fixed: Sequence[Any],
    take: Callable[[int, int], Sequence[Any]],
    outputs: Sequence[NDArray[Any]],
    *,
    send: Callable[[int, int], Sequence[Any]] | None = None,
    n_rows: int,
    rows_a_task: int,
    n_jobs: int | None,
    seconds_a_row: float,
    shared: Sequence[Any] = (),
    stop: NDArray[np.uint8] | None = None,
    advance: Callable[[float], None] = lambda rows: None,
) -> None:
    """Run ``kernel(*fixed, *take(begin, end), *(out[begin:end] for out in outputs))`` over all rows.

    Parameters
    ----------
    kernel : importable function
        Writes its last arguments, which start as zeros.
    fixed : sequence
        Arguments that all blocks need.
    take : function of (begin, end)
        Arguments of a block of rows; views, where the kernel takes them.
    send : function of (begin, end), optional
        The same for a worker elsewhere, where `take` would name more than the block's own rows.
    outputs : sequence of ndarray, first axis of length `n_rows`
    n_rows, rows_a_task : int
    n_jobs : int or None
    seconds_a_row : float
        What a row takes, roughly.
    shared : sequence, optional
        Arrays in `fixed` that are sent to a worker elsewhere once, see :func:`surewood.parallel.share`.
    stop : ndarray of uint8, shape (1,), optional
        Set to 1 when a block failed or Ctrl-C came.
    advance : function of a number, optional
        Told of rows as they are done.

    Examples
    --------
    >>> x, out = np.arange(5.0), np.zeros(5)
    >>> over_rows(np.add, (1.0,), lambda a, b: (x[a:b],), [out], n_rows=5, rows_a_task=2, n_jobs=2,
    ...           seconds_a_row=1e-9)
    >>> out
    array([1., 2., 3., 4., 5.])
    """
    spans = [(begin, min(begin + rows_a_task, n_rows)) for begin in range(0, n_rows, rows_a_task)]
    elsewhere = worker_count(n_jobs) if len(spans) > 1 else 0
    if elsewhere and seconds_a_row * n_rows >= WORTH_SENDING:
        share(*shared)
        shapes = [(out.dtype, out.shape[1:]) for out in outputs]
        part = take if send is None else send
        tasks = [delayed(_fill)(kernel, fixed, part(*span), span[1] - span[0], shapes) for span in spans]
        filled = run_remotely(elsewhere, tasks, seconds_a_row * rows_a_task)
        for (begin, end), blocks in zip(spans, filled):
            for out, block in zip(outputs, blocks):
                out[begin:end] = block
            advance(end - begin)
        return

    def here(begin: int, end: int) -> None:
        kernel(*fixed, *take(begin, end), *(out[begin:end] for out in outputs))
        advance(end - begin)

    try:
        if len(spans) == 1:
            here(*spans[0])
        else:
            run_in_threads((partial(here, *span) for span in spans), 1 if elsewhere else n_jobs)
    except BaseException:
        if stop is not None:
            stop[0] = 1
        raise


def _fill(
    kernel: Callable[..., None], fixed: Sequence[Any], rows: Sequence[Any], n_rows: int, shapes: Sequence[Any]
) -> list[NDArray[Any]]:
    outputs = [np.zeros((n_rows, *shape), dtype=dtype) for dtype, shape in shapes]
    kernel(*fixed, *rows, *outputs)
    return outputs


_FEW, _MANY = 4, 64  # tasks a thread that are begun before the first result is taken


def run_tasks(
    tasks: Iterable[Any],
    n_jobs: int | None,
    stop: NDArray[np.uint8] | None = None,
    seconds: Any = None,
    one_by_one: bool = False,
) -> Iterator[Any]:
    """Results in order, whatever runs the tasks.

    Parameters
    ----------
    tasks : iterable of ``joblib.delayed`` calls
        Arrays that many of them read should be marked with :func:`surewood.parallel.share`.
    n_jobs : int or None
        As in joblib; 1 always means this thread.
    stop : ndarray of uint8, shape (1,), optional
        A byte that tasks in threads look at while they work: 1 when the others failed or Ctrl-C came.
    seconds : float or list of float, optional
        What a task takes, roughly. Workers get about a second of them at once, and what takes no time
        altogether is not sent away.
    one_by_one : bool
        Few results of threads are in memory together; for results that are large and soon given away.

    Examples
    --------
    >>> from joblib import delayed
    >>> list(run_tasks((delayed(abs)(x) for x in (-1, 2)), n_jobs=2))
    [1, 2]
    """
    elsewhere = worker_count(n_jobs)
    if n_jobs == 1:  # not through joblib: tasks may hand work of their own to the active backend
        for function, args, kwargs in tasks:
            yield function(*args, **kwargs)
    elif not elsewhere:
        yield from in_threads(tasks, n_jobs, ahead=_FEW if one_by_one else _MANY, stop=stop)
    else:
        yield from run_remotely(elsewhere, list(tasks), seconds)


def worker_count(n_jobs: int | None) -> int:
    """Workers in other processes that tasks go to, by the active joblib backend; 0 where threads do the work.

    Examples
    --------
    >>> worker_count(2)
    0
    """
    backend, _ = get_active_backend(prefer="threads")
    if n_jobs == 1 or getattr(backend, "supports_sharedmem", False) or isinstance(backend, SequentialBackend):
        return 0
    workers: int = effective_n_jobs(-1 if is_ray(backend) else n_jobs)  # a cluster is used whole
    return workers if workers > 1 or is_dask(backend) or is_ray(backend) else 0
