"""Default fits as the rows grow: composite forest, cascade by cross-validation, mixture.

    python -m benchmarks growth

Processor seconds on one thread, 20 columns, three classes.
"""

from __future__ import annotations

import math
import time
from typing import Any

from benchmarks.bench_large import synthetic
from benchmarks.targets import measured
from surewood import DeepCascadeSVMClassifierCV, RandomCompositeForestClassifier, SurewoodClassifier

SIZES = 1000, 2000, 4000
LARGE = 50_000


def main(quick: bool = False) -> None:
    sizes = tuple(size // 10 for size in SIZES) if quick else SIZES
    seconds: dict[str, list[float]] = {}
    for kind in (RandomCompositeForestClassifier, DeepCascadeSVMClassifierCV):
        name = kind.__name__
        seconds[name] = [fit_seconds(kind(random_state=0, n_jobs=1), size) for size in sizes]
        growth = [math.log2(after / before) for before, after in zip(seconds[name], seconds[name][1:])]
        times = ", ".join(f"{size} rows {spent:.2f} s" for size, spent in zip(sizes, seconds[name]))
        print(f"{name}: {times}; exponents {growth[0]:.1f}, {growth[1]:.1f}", flush=True)
    large = fit_seconds(SurewoodClassifier(random_state=0, n_jobs=1), sizes[0] if quick else LARGE)
    print(f"mixture, {LARGE} rows: {large:.1f} s")
    if not quick:
        first, second, _ = seconds["RandomCompositeForestClassifier"]
        measured("composite growth", second / first)
        measured("cascade", seconds["DeepCascadeSVMClassifierCV"][-1])
        measured("50,000 rows", large)


def fit_seconds(model: Any, n_rows: int) -> float:
    X, y, _, _ = synthetic(n_rows, 0)
    started = time.process_time()
    model.fit(X, y)
    return time.process_time() - started


if __name__ == "__main__":
    main()
