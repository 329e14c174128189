"""How tasks are run: joblib, threads unless the caller chose another backend; interrupts end cleanly.

Tasks are picklable functions of arrays, well below a second each. After Ctrl-C no new task starts; those
under way are waited for, because an interpreter that exits while the core works in a thread would abort.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from joblib import Parallel
from numpy.typing import NDArray

_PATIENCE = 0.9  # seconds that an interrupt waits for running tasks


def run_tasks(
    tasks: Iterable[Any], n_jobs: int | None, verbose: int = 0, stop: NDArray[np.uint8] | None = None
) -> Iterator[Any]:
    """Results in order; one after another as they come when there is a progress bar to move.

    `stop` is a byte that tasks look at while they work: it becomes 1 when the others failed or Ctrl-C came.

    Examples
    --------
    >>> from joblib import delayed
    >>> list(run_tasks((delayed(abs)(x) for x in (-1, 2)), n_jobs=2))
    [1, 2]
    """
    before = set(threading.enumerate())
    try:
        if verbose < 1:
            yield from Parallel(n_jobs=n_jobs, prefer="threads")(tasks)
        else:
            yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(tasks)
    except BaseException as error:
        if stop is not None:
            stop[0] = 1
        if not isinstance(error, KeyboardInterrupt):
            raise
        deadline = time.monotonic() + _PATIENCE
        for thread in set(threading.enumerate()) - before:
            thread.join(max(0.0, deadline - time.monotonic()))
        raise
