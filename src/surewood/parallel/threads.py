"""Tasks in threads of this process, results in order.

joblib looks for results every ten milliseconds and starts a pool with every call. Searches make hundreds of
calls of twenty milliseconds, so threads are run here; how many there are is still joblib's to say.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

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
