"""What it costs that models remember their training rows ([D-34]): time of `fit`, bytes of the model file.

Run: python benchmarks/bench_remembered_rows.py [REPEATS]

Fits with and without `remember_rows` alternate, so that both meet the same load of the computer; medians of
processor time on one thread. The ratio is the median of the ratios of neighbouring fits.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from surewood import BinnedForestClassifier, save


def tables(quick: bool = False) -> dict[str, tuple[Any, Any, int]]:
    """Name to table, labels and number of trees."""
    rng = np.random.default_rng(0)
    n, n_images = (5_000, 3_000) if quick else (50_000, 60_000)
    X = rng.normal(size=(n, 20))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    images = np.where(rng.random((n_images, 784)) < 0.2, rng.integers(0, 256, (n_images, 784)), 0)
    digits = rng.integers(0, 10, n_images)
    return {
        f"{n:,} x 20 float64, 50 trees": (X, y, 50),
        f"{n:,} x 20 float32, 50 trees": (X.astype(np.float32), y, 50),
        f"{n_images:,} x 784 uint8, 5 trees": (images.astype(np.uint8), digits, 5),
        f"{n_images:,} x 784 float64, 5 trees": (images.astype(np.float64), digits, 5),
    }


def main(quick: bool = False, repeats: int | None = None) -> None:
    """Print one line per table."""
    repeats = repeats or (2 if quick else 7)
    print(f"{'':32s} {'with':>8s} {'without':>8s} {'ratio':>6s} {'bytes per row':>14s}")
    for name, (X, y, n_trees) in tables(quick).items():
        seconds: dict[bool, list[float]] = {True: [], False: []}
        size: dict[bool, int] = {}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(repeats):
                for remember in (True, False):
                    model = BinnedForestClassifier(n_trees, remember_rows=remember, random_state=0, n_jobs=1)
                    started = time.process_time()
                    model.fit(X, y)
                    seconds[remember].append(time.process_time() - started)
                    path = Path(folder) / f"{remember}.surewood"
                    save(model, path)
                    size[remember] = path.stat().st_size
        ratio = statistics.median(a / b for a, b in zip(seconds[True], seconds[False]))
        times = " ".join(f"{statistics.median(seconds[remember]):6.3f} s" for remember in (True, False))
        print(f"{name:32s} {times} {ratio:6.3f} {(size[True] - size[False]) / len(X):14.2f}")


if __name__ == "__main__":
    main(repeats=int(sys.argv[1]) if len(sys.argv) > 1 else None)
