"""One fit in a process of its own: its estimate, its peak memory and its time.

    python -m benchmarks.cost_run NAME ROWS COLUMNS CLASSES '{"parameter": value}'

What counts as the memory of a fit: the interpreter, the imports and the user's table are there before it and
do not count. A small fit comes first, so that imports and thread pools are there, too; then freed memory goes
back to the system, the kernel's high-water mark is set back, and the peak is its rise during the fit (Linux).
A transformer's ``transform`` counts as well.

Seconds are processor seconds of this process (one thread), for the fit and for the probes of the estimate:
other programs on the computer do not matter.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peak_memory import peak_of


def data(n_rows: int, n_columns: int, n_classes: int, categories: int = 0) -> tuple[Any, np.ndarray]:
    """Normal columns of which two say something of the class; some of them, at will, as categories."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, 0] + 0.5 * X[:, 1 % n_columns] ** 2 + 0.5 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    if not categories:
        return X, y
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(n_columns)])
    for name in frame.columns[: n_columns // 2]:
        level = np.digitize(frame[name], np.linspace(-2, 2, categories - 1))
        frame[name] = pd.Categorical([f"level {k}" for k in level])
    return frame, y


def main() -> None:
    import surewood

    warnings.simplefilter("ignore")
    time.perf_counter = time.process_time  # probes, too
    name, *shape, given = sys.argv[1:]
    parameters = json.loads(given)
    categories = parameters.pop("categories", 0)
    n_rows, n_columns, n_classes = map(int, shape)
    cls = getattr(surewood, name)
    if "random_state" in cls._get_param_names():
        parameters["random_state"] = 0
    model = cls(**parameters)

    def work() -> float:
        started = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - started
        if not hasattr(model, "predict"):
            model.transform(X)
        return seconds

    X, y = data(60, n_columns, min(n_classes, 20), categories)
    work()
    X, y = data(n_rows, n_columns, n_classes, categories)
    peak, seconds = peak_of(work)
    cost = model.estimate_cost(X, y)  # after the fit: memory that it leaves behind would be used by the fit
    print(json.dumps({"estimate": cost.memory_bytes, "peak": peak, "low": cost.seconds[0],
                      "high": cost.seconds[1], "seconds": seconds, "parts": cost.parts}))  # fmt: skip


if __name__ == "__main__":
    main()
