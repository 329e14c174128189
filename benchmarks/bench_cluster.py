"""Dask with one and two single-thread workers against local threads: speed-up and overhead.

    python -m benchmarks cluster
    python -m benchmarks.bench_cluster --workers 1 2 4
    python -m benchmarks.bench_cluster --pool      # Ray: plain tasks against joblib's own pool of actors

A margin forest on letter and a grid of composite forests on pendigits, the four ways interleaved after a
warm-up of each. Ratios by the clock mean little on a busy machine, so CPU time stands beside them: the
*critical path* is the CPU time of this process plus that of its busiest worker. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import joblib
import numpy as np


class Cost(NamedTuple):
    """Seconds: by the clock, of CPU here, and of CPU of the busiest worker."""

    wall: float
    here: float
    there: float

    @property
    def critical(self) -> float:
        return self.here + self.there


def problems(quick: bool) -> dict[str, Callable[[int | None], Any]]:
    """Name and fit of each problem."""
    from surewood import MarginDeepForestClassifier, RandomCompositeForestClassifierCV

    letter, pendigits = rows_of("letter"), rows_of("pendigits")
    if quick:
        letter, pendigits = [part[:2000] for part in letter], [part[:800] for part in pendigits]

    def margin_forest(n_jobs: int | None) -> Any:
        model = MarginDeepForestClassifier(n_estimators=50, max_layers=2, random_state=0, n_jobs=n_jobs)
        return model.fit(*letter)

    def grid(n_jobs: int | None) -> Any:
        model = RandomCompositeForestClassifierCV(
            max_features=(2, 4), max_depth=(1, 2, 3), n_estimators=(30, 60), random_state=0, n_jobs=n_jobs
        )
        return model.fit(*pendigits)

    return {"margin forest, letter": margin_forest, "composite grid, pendigits": grid}


def rows_of(name: str) -> list[np.ndarray]:
    from papers.datasets import load

    X, y = load(name).train
    return [np.asarray(X, dtype=np.float64), np.asarray(y)]


def measure(fit: Callable[[int | None], Any], n_jobs: int | None, client: Any, workers: list[str]) -> Cost:
    """One fit: in threads without a client, else on the named workers."""
    if client is None:
        wall, here = time.perf_counter(), time.process_time()
        fit(n_jobs)
        return Cost(time.perf_counter() - wall, time.process_time() - here, 0.0)
    before = client.run(time.process_time)
    wall, here = time.perf_counter(), time.process_time()
    with joblib.parallel_config("dask", client=client, workers=workers):
        fit(None)
    wall, here = time.perf_counter() - wall, time.process_time() - here
    after = client.run(time.process_time)
    return Cost(wall, here, max(after[address] - before[address] for address in workers))


def main(quick: bool = False, workers: tuple[int, ...] = (1, 2), repeats: int | None = None) -> None:
    if not os.environ.get("SUREWOOD_DATA", "").strip():
        print("needs real data: set SUREWOOD_DATA to the folder of Parquet files")
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("needs Dask: pip install 'surewood[dask]'")
        return
    repeats = repeats or (1 if quick else 3)
    with (
        LocalCluster(
            n_workers=max(workers), threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        for name, fit in problems(quick).items():
            compare(name, fit, client, workers, repeats)


def compare(
    name: str, fit: Callable[[int | None], Any], client: Any, workers: tuple[int, ...], repeats: int
) -> None:
    addresses = sorted(client.nthreads())
    ways: dict[str, tuple[int | None, Any, list[str]]] = {
        "1 thread": (1, None, []),
        "2 threads": (2, None, []),
    }
    ways |= {f"Dask, {n}": (None, client, addresses[:n]) for n in workers}
    costs: dict[str, list[Cost]] = {way: [] for way in ways}
    print(name, flush=True)
    measure(fit, *ways[f"Dask, {max(workers)}"])  # warm-up: imports, and copies of the data on all workers
    for _ in range(repeats):
        for way, setting in ways.items():
            costs[way].append(measure(fit, *setting))
            print(f"  {way:12} {costs[way][-1].wall:8.2f} s", flush=True)
    print(f"  (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, medians of {repeats})")
    print(f"  {'':12} {'wall s':>8} {'CPU here':>9} {'CPU worker':>11} {'critical':>9}")
    for way, found in costs.items():
        values = [
            statistics.median(getattr(c, k) for c in found) for k in ("wall", "here", "there", "critical")
        ]
        print(f"  {way:12} {values[0]:8.2f} {values[1]:9.2f} {values[2]:11.2f} {values[3]:9.2f}")
    for label, top, bottom in (
        ("2 workers against 1: speed-up", "Dask, 1", "Dask, 2"),
        ("2 workers against 2 threads: time", "Dask, 2", "2 threads"),
    ):
        wall = ratio(costs[top], costs[bottom], "wall")
        print(f"  {label} {wall:.2f} by the clock", end="")
        if top == "Dask, 1":
            print(f", {ratio(costs[top], costs[bottom], 'critical'):.2f} on the critical path", end="")
        print()


def pools(repeats: int = 2) -> None:
    """Seconds of two fits on two Ray workers: bundles as plain tasks, and through joblib's Ray backend."""
    import ray
    from ray.util.joblib import register_ray
    from sklearn.datasets import make_classification

    from surewood import MarginDeepForestClassifier, RandomCompositeForestClassifierCV
    from surewood.parallel import remote

    X, y = make_classification(4000, 16, n_informative=8, n_classes=4, random_state=0)
    grid = {"max_features": (2, 4), "max_depth": (1, 2), "n_estimators": (20,)}
    fits = {
        "margin forest": lambda: MarginDeepForestClassifier(15, max_layers=2, random_state=0).fit(X, y),
        "composite grid": lambda: RandomCompositeForestClassifierCV(random_state=0, **grid).fit(
            X[:800], y[:800]
        ),
    }
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    is_ray = remote.is_ray
    try:
        for name, fit in fits.items():
            for _ in range(repeats):
                for way, test in (("plain tasks", is_ray), ("joblib's pool", lambda backend: False)):
                    remote.is_ray = test
                    started = time.perf_counter()
                    with joblib.parallel_config("ray"):
                        fit()
                    print(f"{name:15} {way:14} {time.perf_counter() - started:7.2f} s", flush=True)
    finally:
        remote.is_ray = is_ray
        ray.shutdown()


def ratio(top: list[Cost], bottom: list[Cost], field: str) -> float:
    return statistics.median(getattr(a, field) / getattr(b, field) for a, b in zip(top, bottom))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="fits on Dask against local threads")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pool", action="store_true")
    arguments = parser.parse_args()
    if arguments.pool:
        pools()
    else:
        main(arguments.quick, tuple(arguments.workers), arguments.repeats)
