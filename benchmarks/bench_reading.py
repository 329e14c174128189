"""A million-row CSV read and planned, beside ``pyarrow.csv`` reading it.

Fourteen columns: numbers, ISO dates, categories, truth values in words, prices with a currency and thousands
marks, and numbers with a code for missing values. The bar: at most 1.5 times pyarrow's time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv as arrow_csv

from surewood.tables import plan, read_table

ROWS, QUICK_ROWS, REPEATS, BAR = 1_000_000, 50_000, 5, 1.5


def main(quick: bool = False) -> None:
    rows = QUICK_ROWS if quick else ROWS
    with tempfile.TemporaryDirectory(prefix="bench-reading-") as folder:
        path = Path(folder) / "table.csv"
        write_table(path, rows)
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB; seconds, best of {REPEATS}")
        work: dict[str, Callable[[], object]] = {
            "pyarrow.csv": lambda: arrow_csv.read_csv(path),
            "read_table": lambda: read_table(path),
            "read_table and plan": lambda: plan(read_table(path), target="label"),
        }
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
        for _ in range(REPEATS):  # in turn: other programs disturb all of them
            for name, one in work.items():
                taken[name].append(seconds(one))
        peer_wall, peer_processor = best(taken["pyarrow.csv"])
        print(f"{'':>24} {'wall clock':>20} {'processor time':>20}")
        for name, runs in taken.items():
            wall, processor = best(runs)
            print(
                f"{name:>24} {wall:12.2f} ({wall / peer_wall:4.2f}x) "
                f"{processor:12.2f} ({processor / peer_processor:4.2f}x)"
            )
        print(f"bar: read and planned in at most {BAR} times the time of pyarrow.csv")


def best(runs: list[tuple[float, float]]) -> tuple[float, float]:
    """The shortest wall clock time and the shortest processor time."""
    return min(wall for wall, _ in runs), min(processor for _, processor in runs)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall clock and processor time, all threads included."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def write_table(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"f{k}": rng.normal(size=rows).round(4) for k in range(5)})
    for k in range(3):
        frame[f"n{k}"] = rng.integers(0, 10 ** (k + 2), rows)
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, rows), unit="D")
    frame["city"] = rng.choice(["Rome", "Oslo", "Bern", "Lima"], rows)
    frame["active"] = rng.choice(["yes", "no"], rows)
    frame["price"] = [f"${value:,}.50" for value in rng.integers(500, 20_000, rows)]
    level = rng.integers(0, 5000, rows).astype(str).astype(object)
    level[rng.random(rows) < 0.02] = "?"
    frame["level"] = level
    frame["label"] = rng.choice(["a", "b"], rows)
    frame.to_csv(path, index=False)


if __name__ == "__main__":
    main()
