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
        theirs: list[float] = []
        read: list[float] = []
        both: list[float] = []
        for _ in range(REPEATS):
            theirs.append(seconds(lambda: arrow_csv.read_csv(path)))
            read.append(seconds(lambda: read_table(path)))
            both.append(seconds(lambda: plan(read_table(path), target="label")))
        peer, ours = min(theirs), min(both)
        print(f"{'pyarrow.csv':>24} {peer:7.2f}")
        print(f"{'read_table':>24} {min(read):7.2f}")
        print(f"{'read_table and plan':>24} {ours:7.2f}   {ours / peer:.2f} times pyarrow.csv (bar {BAR})")


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


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
