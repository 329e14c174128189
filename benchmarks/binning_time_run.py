"""Binning of one table in a process of its own: `bench_binning --against` starts it.

    python benchmarks/binning_time_run.py har float32 5

prints the shape of the table and the median of so many runs in milliseconds of processor time: learning the
bins and coding the table, one thread. The installed package, or the source folder in PYTHONPATH, is measured.
"""

import statistics
import sys
import time

import numpy as np

from papers.datasets import load
from surewood.trees.binning import bin_array


def main(name: str, dtype: str, repeats: int) -> None:
    X = np.ascontiguousarray(load(name).train[0], dtype=dtype)
    times = []
    for _ in range(repeats):
        started = time.process_time()
        bin_array(X)
        times.append(1000 * (time.process_time() - started))
    print(f"{X.shape[0]} x {X.shape[1]},{statistics.median(times):.1f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
