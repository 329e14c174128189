"""How work is run: threads, or whatever joblib backend the caller activated, with the same results.

* :func:`run_tasks` runs picklable functions and returns their results in order (parallel/running.py);
* :func:`run_in_threads` calls functions that write into shared arrays (parallel/threads.py);
* :func:`in_threads` runs functions in threads of this process whatever the backend;
* :func:`over_rows` fills arrays block of rows by block of rows (parallel/rows.py);
* :func:`worker_count` tells whether other processes do, and how many;
* :func:`share` marks arrays that travel to a worker once instead of with every task (parallel/sharing.py);
* :func:`cluster` connects to a running Dask or Ray (parallel/clusters.py).

Inside ``joblib.parallel_config("dask")``, ``("ray")`` or ``("loky")`` tasks go to the engine's own workers
through parallel/dask_engine.py, ray_engine.py and process_engine.py; parallel/remote.py is what these have in
common.
"""

from typing import TYPE_CHECKING

from surewood._lazy import lazy_names as _lazy_names

if TYPE_CHECKING:
    from surewood.parallel.clusters import cluster
    from surewood.parallel.remote import WorkerLost
    from surewood.parallel.rows import over_rows
    from surewood.parallel.running import arrays_travel, run_tasks, worker_count
    from surewood.parallel.sharing import share
    from surewood.parallel.threads import in_threads, run_in_threads, thread_count

# Imported when first used: commands and progress bars need none of it to begin.
_HOME = {
    "WorkerLost": "surewood.parallel.remote",
    "arrays_travel": "surewood.parallel.running",
    "cluster": "surewood.parallel.clusters",
    "in_threads": "surewood.parallel.threads",
    "over_rows": "surewood.parallel.rows",
    "run_in_threads": "surewood.parallel.threads",
    "run_tasks": "surewood.parallel.running",
    "share": "surewood.parallel.sharing",
    "thread_count": "surewood.parallel.threads",
    "worker_count": "surewood.parallel.running",
}

__all__ = [
    "WorkerLost",
    "arrays_travel",
    "cluster",
    "in_threads",
    "over_rows",
    "run_in_threads",
    "run_tasks",
    "share",
    "thread_count",
    "worker_count",
]
__getattr__, __dir__ = _lazy_names(__name__, _HOME)
