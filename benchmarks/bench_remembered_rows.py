"""What it costs that models remember their training rows ([D-34]): seconds of `fit`, bytes of the model file.

Run: python benchmarks/bench_remembered_rows.py [ROWS]

Fits with and without `remember_rows` alternate, so that both meet the same load of the computer; medians.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from surewood import BinnedForestClassifier, save

REPEATS = 5


def main(n_rows: int = 50_000, n_columns: int = 20) -> None:
    """Print one line per setting."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    size: dict[bool, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(REPEATS):
            for remember in (True, False):
                model = BinnedForestClassifier(50, remember_rows=remember, random_state=0, n_jobs=1)
                started = time.perf_counter()
                model.fit(X, y)
                seconds[remember].append(time.perf_counter() - started)
                path = Path(folder) / f"{remember}.surewood"
                save(model, path)
                size[remember] = path.stat().st_size
    for remember in (True, False):
        print(f"remember_rows={remember!s:5}  fit {statistics.median(seconds[remember]):.2f} s")
    print(f"bytes per row in the file: {(size[True] - size[False]) / n_rows:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
