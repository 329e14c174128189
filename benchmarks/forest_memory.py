"""Peak memory of growing a forest, measured in a process of its own.

    python -m benchmarks.forest_memory letter

Binning and imports do not count (peak_memory.py says how).
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.peak_memory import CAN_MEASURE, peak_of

N_TREES = {"mnist": 30}


def report(names: tuple[str, ...]) -> None:
    """A line a data set: what growing added at its peak, its row-major copy and model apart."""
    if not CAN_MEASURE:
        print("\npeak memory of a fit: needs Linux")
        return
    print("\npeak memory that growing a forest adds, MB")
    print(f"{'set':9} {'trees':>6} {'peak':>8} {'row copy':>9} {'model':>6} {'rest':>6}")
    for name in names:
        run = [sys.executable, "-m", "benchmarks.forest_memory", name]
        print(subprocess.run(run, capture_output=True, text=True, check=True).stdout, end="", flush=True)


def measure(name: str) -> None:
    from benchmarks.forest_data import load
    from surewood.trees.binning import bin_array
    from surewood.trees.growing import TreeParams, grow_forest

    X, y, _, _ = load(name)
    matrix = bin_array(X)
    params = TreeParams(max_features=int(X.shape[1] ** 0.5), sampling="bootstrap")
    n_classes, n_trees = int(y.max()) + 1, N_TREES.get(name, 100)
    grow_forest(
        bin_array(X[:100]), y[:100], n_classes, params, n_trees=1, seed=0
    )  # what the first call loads
    del X
    peak, grown = peak_of(lambda: grow_forest(matrix, y, n_classes, params, n_trees=n_trees, seed=0))
    copied = matrix.nbytes if matrix.n_columns > 1 and matrix.nbytes > 2**24 else 0
    model = grown.forest.nbytes
    cells = (peak, copied, model, peak - copied - model)
    numbers = " ".join(f"{value / 2**20:{width}.1f}" for value, width in zip(cells, (8, 9, 6, 6)))
    print(f"{name:9} {n_trees:6d} {numbers}")


if __name__ == "__main__":
    measure(sys.argv[1])
