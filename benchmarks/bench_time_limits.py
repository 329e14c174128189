"""Whether `time_limit` limits the fit: every estimator that has one, on tables that take it far longer.

Seconds of the whole fit by the wall clock, which the limit counts, and of the processor; one thread. The bar:
the limit, 20 % more, and a second.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

import surewood

LIMIT = 3.0  # seconds
BAR = 1.2 * LIMIT + 1.0


def estimators() -> dict[str, Any]:
    """Every public classifier with the parameter `time_limit`, at its default settings otherwise."""
    every = {name: getattr(surewood, name) for name in surewood.__all__}
    kinds = {name: kind for name, kind in every.items() if hasattr(kind, "get_params")}
    return {name: kind for name, kind in kinds.items() if "time_limit" in kind().get_params()}


def tables(quick: bool) -> dict[str, tuple[Any, Any]]:
    n = 5_000 if quick else 20_000
    noisy = {"n_informative": 10, "flip_y": 0.2, "random_state": 0}
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 4, (n, 8)).astype(float)
    return {
        f"{n:,} x 20, 2 classes": make_classification(n, 20, **noisy),
        f"{n:,} x 20, 10 classes": make_classification(n, 20, n_classes=10, **noisy),
        f"{n // 10:,} x 300, 2 classes": make_classification(n // 10, 300, **noisy),
        f"{n:,} x 8, few values": (coarse, (coarse.sum(axis=1) + rng.normal(0, 3, n) > 12).astype(int)),
    }


def main(quick: bool = False) -> None:
    samples = tables(quick)
    print(f"{'seconds (of the processor)':>34} " + " ".join(f"{name:>24}" for name in samples))
    for name, kind in estimators().items():
        cells = []
        for X, y in samples.values():
            options = {key: value for key, value in {"random_state": 0, "n_jobs": 1}.items()
                       if key in kind().get_params()}  # fmt: skip
            started, processor = time.perf_counter(), time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kind(time_limit=LIMIT, **options).fit(X, y)
            seconds, processor = time.perf_counter() - started, time.process_time() - processor
            cells.append(f"{seconds:.1f} ({processor:.1f}){'' if seconds <= BAR else ' TOO LONG'}")
        print(f"{name:>34} " + " ".join(f"{cell:>24}" for cell in cells), flush=True)
    print(f"time_limit={LIMIT:g}; bar {BAR:.1f} s")


if __name__ == "__main__":
    main()
