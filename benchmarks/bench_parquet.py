"""Tables larger than memory: a forest from a Parquet file, its peak memory, and the in-memory fit beside it.

    SUREWOOD_BENCH_ROWS=20000000 python -m benchmarks parquet   # the table of docs/research/large-tables.md

A table of 2 million rows (or as many as SUREWOOD_BENCH_ROWS says) and 40 columns (floats, integers,
categories, booleans, dates, missing values) is written to a temporary folder, part by part, and deleted
afterwards. 20 million rows take 2.5 GB there, 1.6 GB more while the forest grows, and half an hour. Each fit
runs in a process of its own, whose memory is looked at every tenth of a second: "peak" is all resident
memory, pages of mapped files included; "own" leaves those out, which the system may drop at any time.

The subset row trains the same forest twice on the first part: from the file, and from a frame in memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, PARTS = 2_000_000, 40
COLUMNS = {"float": 16, "integer": 10, "category": 8, "flag": 4, "date": 2}
FOREST = {"n_estimators": 50, "max_depth": 12, "min_samples_leaf": 100, "random_state": 0}
QUICK_ROWS = 400_000


def main(quick: bool = False) -> None:
    rows = QUICK_ROWS if quick else int(os.environ.get("SUREWOOD_BENCH_ROWS", ROWS))
    with tempfile.TemporaryDirectory(prefix="bench-parquet-") as folder:
        started = time.perf_counter()
        table = Path(folder) / "table"
        size = write_table(table, rows)
        held = Path(folder) / "held.parquet"
        pq.write_table(part_of_table(PARTS, 200_000), held)
        print(
            f"{rows:,} rows x {sum(COLUMNS.values())} columns in {PARTS} parts, {size / 1e9:.2f} GB on disk"
        )
        print(f"(written in {time.perf_counter() - started:.0f} s; as float64 {rows * 320 / 1e9:.1f} GB)")
        header = ("table", "read as", "fit s", "peak GiB", "own GiB", "accuracy")
        print(f"{header[0]:>12} {header[1]:>9} " + " ".join(f"{h:>9}" for h in header[2:]))
        whole = measure({"path": str(table), "held": str(held), "memory": False, "work": folder})
        show(f"{rows:,}", "stream", whole)
        part = str(sorted(table.iterdir())[0])
        streamed, in_memory = (
            measure({"path": part, "held": str(held), "memory": m, "work": folder}) for m in (False, True)
        )
        show(f"{rows // PARTS:,}", "stream", streamed)
        show(f"{rows // PARTS:,}", "frame", in_memory)
        print(f"peak memory of the whole table: {whole['peak'] / (rows * 320):.0%} of its size as float64")


def show(rows: str, how: str, found: dict[str, float]) -> None:
    gib = [found[k] / 2**30 for k in ("peak", "own")]
    print(f"{rows:>12} {how:>9} {found['seconds']:9.1f} {gib[0]:9.2f} {gib[1]:9.2f} {found['accuracy']:9.4f}")


def write_table(folder: Path, rows: int) -> int:
    """Write the parts; bytes on disk."""
    folder.mkdir()
    for part in range(PARTS):
        pq.write_table(part_of_table(part, rows // PARTS), folder / f"part-{part:03d}.parquet")
    return sum(file.stat().st_size for file in folder.iterdir())


def part_of_table(part: int, rows: int) -> pa.Table:
    """Rows of one part: a function of its number."""
    rng = np.random.default_rng([7, part])
    columns: dict[str, pa.Array] = {}
    score = np.zeros(rows)
    for k in range(COLUMNS["float"]):
        values = np.round(rng.normal(size=rows), 3) if k % 2 else rng.normal(size=rows).astype(np.float32)
        score += np.asarray(values, dtype=float) * (1.0 if k < 4 else 0.0)
        missing = rng.random(rows) < (0.1 if k % 4 == 3 else 0.0)
        columns[f"float_{k}"] = pa.array(values, mask=missing)
    for k in range(COLUMNS["integer"]):
        values = rng.integers(0, 10 ** (k % 5 + 1), rows)
        score += 1.5 * (values % 2 if k == 0 else values > 50 if k == 1 else 0)
        columns[f"integer_{k}"] = pa.array(values, type=pa.int32(), mask=rng.random(rows) < 0.02 * (k % 3))
    for k in range(COLUMNS["category"]):
        codes = rng.integers(0, (3, 12, 50, 400)[k % 4], rows)
        score += (codes % 3 == 0) * (2.0 if k < 3 else 0.0)
        names = pa.array([f"value {c}" for c in range(400)])
        columns[f"category_{k}"] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), names).cast(
            pa.string()
        )
    for k in range(COLUMNS["flag"]):
        columns[f"flag_{k}"] = pa.array(rng.random(rows) < 0.3)
    for k in range(COLUMNS["date"]):
        columns[f"date_{k}"] = pa.array(rng.integers(10_000, 20_000, rows).astype(np.int32)).cast(pa.date32())
    noise = rng.normal(scale=1.5, size=rows)
    labels = pa.array(["low", "middle", "high"])
    codes = np.digitize(score + noise, [3.0, 6.0]).astype(np.int32)
    columns["label"] = pa.DictionaryArray.from_arrays(pa.array(codes), labels).cast(pa.string())
    return pa.table(columns)


def measure(task: dict[str, object]) -> dict[str, float]:
    """Run a fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_parquet", json.dumps(task)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def one_fit(path: str, held: str, memory: bool, work: str) -> dict[str, float]:
    """Fit, and look at the memory of this process while it lasts."""
    from surewood import BinnedForestClassifier
    from surewood.tables import ParquetTable

    watch = MemoryWatch()
    started = time.perf_counter()
    forest = BinnedForestClassifier(**FOREST, n_jobs=2, verbose=1)
    if memory:
        frame = pq.read_table(path).to_pandas()
        forest.fit(frame.drop(columns="label"), frame["label"])
    else:
        forest.fit(ParquetTable(path, target="label", workdir=work))
    seconds = time.perf_counter() - started
    peak, own = watch.stop()
    right = forest.predict(held) == ParquetTable(held, target="label").read_target()
    return {"seconds": seconds, "peak": peak, "own": own, "accuracy": float(right.mean())}


class MemoryWatch(threading.Thread):
    """Peak resident memory of this process, all of it and without mapped files, in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = self.own = 0
        self._done = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._done.wait(0.1):
            self._look()

    def _look(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        _, resident, shared, *_ = (int(x) * page for x in Path("/proc/self/statm").read_text().split())
        self.peak, self.own = max(self.peak, resident), max(self.own, resident - shared)

    def stop(self) -> tuple[int, int]:
        self._done.set()
        self.join()
        self._look()
        return self.peak, self.own


if __name__ == "__main__":
    print(json.dumps(one_fit(**json.loads(sys.argv[1]))))
