"""What tasks and transfers cost, a model of time against workers, and what it says about clusters.

    python -m benchmarks.study_scale [--rows 3000]

Prints the figures of docs/internals/scale.md. Times of fits are critical paths (CPU time of this process
plus that of the busiest worker), which can also be measured where cores are few or busy.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

import joblib
import numpy as np
from scipy.optimize import nnls

from benchmarks.bench_cluster import Cost, measure, rows_of

WORKERS = (1, 2, 4)
FAR = 100
NETWORK = 1.25e9  # bytes a second: 10 Gbit/s


def empty_task(k: int) -> int:
    return k


def bytes_of(n: int) -> np.ndarray:
    return np.zeros(n, dtype=np.uint8)


def transfer_costs(client: Any, n_workers: int) -> dict[str, float]:
    """Seconds of a round trip, and bytes a second to all workers and back from one."""
    from surewood.parallel.engines import DaskEngine
    from surewood.parallel.remote import Package, pack

    with joblib.parallel_config("dask", client=client):
        engine = DaskEngine(joblib.parallel.get_active_backend()[0])
        trips = []
        for k in range(20):
            blob, arrays = pack([(empty_task, (k,), {})])
            started = time.perf_counter()
            list(engine.run(iter([Package(0, blob, arrays)])))
            trips.append(time.perf_counter() - started)
        array = np.random.default_rng(0).integers(0, 255, 64 << 20, dtype=np.uint8)
        ups, backs = [], []
        for _ in range(3):
            started = time.perf_counter()
            kept = engine.upload([array])
            ups.append(time.perf_counter() - started)
            del kept
            blob, arrays = pack([(bytes_of, (64 << 20,), {})])
            started = time.perf_counter()
            list(engine.run(iter([Package(0, blob, arrays)])))
            backs.append(time.perf_counter() - started)
    return {
        "round trip s": statistics.median(trips),
        "copies out B/s": n_workers * array.nbytes / statistics.median(ups),
        "results back B/s": array.nbytes / statistics.median(backs),
    }


def fits(n_rows: int) -> dict[str, Any]:
    from surewood import MarginDeepForestClassifier, RandomCompositeForestClassifierCV

    letter = [part[:n_rows] for part in rows_of("letter")]
    pendigits = [part[:n_rows] for part in rows_of("pendigits")]
    return {
        "margin forest": lambda n_jobs: MarginDeepForestClassifier(
            n_estimators=20, max_layers=2, random_state=0, n_jobs=n_jobs
        ).fit(*letter),
        "composite grid": lambda n_jobs: RandomCompositeForestClassifierCV(
            max_features=(2, 4),
            max_depth=(1, 2, 3),
            n_estimators=(10, 20),
            cv=4,
            random_state=0,
            n_jobs=n_jobs,
        ).fit(*pendigits),
    }


def model(costs: dict[int, Cost]) -> tuple[float, float, float]:
    """T(w) = a + b / w + c w: work here, work that is shared out, what every further worker costs."""
    w = np.array(list(costs), dtype=np.float64)
    time_ = np.array([cost.critical for cost in costs.values()])
    (a, b, c), _ = nnls(np.column_stack([np.ones_like(w), 1.0 / w, w]), time_)
    return float(a), float(b), float(c)


def main(n_rows: int = 3000) -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=max(WORKERS), threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        transfers = transfer_costs(client, max(WORKERS))
        for name, value in transfers.items():
            print(f"{name:18} {value:12.3g}")
        addresses = sorted(client.nthreads())
        for name, fit in fits(n_rows).items():
            measure(fit, None, client, addresses)  # warm-up
            costs = {w: measure(fit, None, client, addresses[:w]) for w in WORKERS}
            a, b, c = model(costs)
            print(f"\n{name}, {n_rows} rows: T(w) = {a:.2f} + {b:.2f} / w + {c:.3f} w")
            for w, cost in costs.items():
                said = a + b / w + c * w
                print(
                    f"  {w} workers: here {cost.here:.2f}, busiest worker {cost.there:.2f}, model {said:.2f}"
                )
            best = np.sqrt(b / c) if c > 0 else np.inf
            print(f"  {FAR} workers: {a + b / FAR + c * FAR:.2f} s; fastest with {best:.0f} workers")
    billion_rows()


def billion_rows(n_rows: float = 1e9, n_columns: int = 40, n_classes: int = 2, n_members: int = 6) -> None:
    """A layer of a margin forest on a table that no machine holds as numbers."""
    from surewood.trees.growing import TreeParams, grow_seconds

    n_trees, n_folds = 100, 5
    params = TreeParams(max_features=6, sampling="bootstrap")
    seconds_a_tree = grow_seconds(int(0.8 * n_rows), params, 1)
    growth = n_folds * n_members * n_trees * seconds_a_tree / FAR
    matrix = n_rows * n_columns
    vectors = n_members * n_rows * n_classes * 8
    one_result = n_rows / n_folds * n_classes * 8
    back = n_folds * n_members * n_trees * one_result
    print(f"\n{n_rows:.0e} rows x {n_columns} columns, {n_classes} classes, {FAR} workers, a layer of")
    print(f"  {n_members} forests x {n_folds} folds x {n_trees} trees (one tree a task):")
    print(f"  growth           {growth / 3600:8.1f} h on every worker ({seconds_a_tree / 60:.0f} min a tree)")
    copies = matrix * np.log2(FAR) / NETWORK
    print(f"  matrix           {matrix / 2**30:8.1f} GiB on every worker, {copies / 60:.1f} min to all")
    print(f"  results          {back / 2**40:8.1f} TiB into this process, {back / NETWORK / 3600:.1f} h")
    print(f"  held-out vectors {vectors / 2**30:8.1f} GiB here")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="costs and a model for docs/internals/scale.md")
    parser.add_argument("--rows", type=int, default=3000)
    main(parser.parse_args().rows)
