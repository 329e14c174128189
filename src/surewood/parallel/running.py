"""How tasks are run: in threads, or by the workers of the joblib backend that the caller activated.

Tasks are picklable functions of arrays (``joblib.delayed``), well below a second each. After Ctrl-C no new
task starts; threads are waited for, because an interpreter that exits while the core works in a thread would
abort; remote tasks are cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import SequentialBackend, get_active_backend
from numpy.typing import NDArray

from surewood.parallel.remote import Engine, run_remotely
from surewood.parallel.threads import in_threads

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
    engine = active_engine(n_jobs)
    if n_jobs == 1:  # not through joblib: tasks may hand work of their own to the active backend
        for function, args, kwargs in tasks:
            yield function(*args, **kwargs)
    elif engine is None:
        yield from in_threads(tasks, n_jobs, ahead=_FEW if one_by_one else _MANY, stop=stop)
    else:
        yield from run_remotely(engine, list(tasks), seconds)


def active_engine(n_jobs: int | None) -> Engine | None:
    """The engine behind the active joblib backend; None where threads do the work."""
    if n_jobs == 1:
        return None
    backend, _ = get_active_backend(prefer="threads")
    if getattr(backend, "supports_sharedmem", False) or isinstance(backend, SequentialBackend):
        return None
    kind = type(backend)
    if kind.__name__ == "DaskDistributedBackend":
        from surewood.parallel.dask_engine import DaskEngine

        return DaskEngine(backend)
    if kind.__module__.split(".")[0] == "ray":
        from surewood.parallel.ray_engine import RayEngine

        return RayEngine(backend)
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        return None
    from surewood.parallel.process_engine import ProcessEngine

    return ProcessEngine(workers)


def worker_count(n_jobs: int | None) -> int:
    """Workers in other processes that tasks would go to; 0 where threads do the work.

    Examples
    --------
    >>> worker_count(2)
    0
    """
    engine = active_engine(n_jobs)
    return 0 if engine is None else engine.n_workers


def arrays_travel(n_jobs: int | None) -> bool:
    """Whether marked arrays are sent to every worker through a connection, as Dask does.

    Examples
    --------
    >>> arrays_travel(2)
    False
    """
    engine = active_engine(n_jobs)
    return engine is not None and engine.copies
