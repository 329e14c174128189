"""How work is run: threads, or whatever joblib backend the caller activated, with the same results.

* :func:`run_tasks` runs picklable functions and returns their results in order;
* :func:`run_in_threads` calls functions that write into shared arrays;
* :func:`in_threads` runs functions in threads of this process whatever the backend;
* :func:`over_rows` fills arrays block of rows by block of rows;
* :func:`worker_count` tells whether other processes do, and how many;
* :func:`share` marks arrays that travel beside the tasks instead of with each of them;
* :func:`cluster` connects to a running Dask or Ray.

Inside ``joblib.parallel_config("dask")``, ``("ray")`` or ``("loky")`` tasks go to the workers of that backend
(:mod:`surewood.parallel.remote`).
"""

from surewood.parallel.clusters import cluster
from surewood.parallel.remote import WorkerLost, share
from surewood.parallel.running import (
    in_threads,
    over_rows,
    run_in_threads,
    run_tasks,
    thread_count,
    worker_count,
)

# Public, beside `cluster` of surewood itself; the other names of this package are for the engines.
__all__ = ["WorkerLost"]
