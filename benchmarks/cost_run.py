"""One fit in a process of its own: its estimate beforehand, its peak memory and its time.

    python benchmarks/cost_run.py NAME ROWS COLUMNS CLASSES '{"parameter": value}'

The peak is the kernel's own high-water mark, reset just before the fit (Linux).
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def data(n_rows: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, 0] + 0.5 * X[:, 1 % n_columns] ** 2 + 0.5 * rng.normal(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def high_water() -> int:
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main() -> None:
    import surewood

    warnings.simplefilter("ignore")
    name, n_rows, n_columns, n_classes, parameters = sys.argv[1:]
    cls = getattr(surewood, name)
    model = cls(**json.loads(parameters))
    warm = data(60, int(n_columns), int(n_classes))
    model.fit(*warm)  # imports and thread pools are no part of a fit
    X, y = data(int(n_rows), int(n_columns), int(n_classes))
    Path("/proc/self/clear_refs").write_text("5")
    before = high_water()
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    peak = high_water() - before
    started = time.perf_counter()
    cost = model.estimate_cost(X, y)  # after the fit: memory that it leaves behind would be used by the fit
    asked = time.perf_counter() - started
    print(json.dumps({"estimate": cost.memory_bytes, "peak": peak, "low": cost.seconds[0],
                      "high": cost.seconds[1], "seconds": seconds, "asked": asked,
                      "parts": cost.parts}))  # fmt: skip


if __name__ == "__main__":
    main()
