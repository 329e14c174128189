"""Deep forests against DF21 (the maintained fork) and against the same cascade of scikit-learn forests.

    python -m benchmarks deepforest
    python -m benchmarks.bench_deepforest --peer-python PATH --accuracy

Same number of forests, trees, layers and threads, out-of-bag vectors on both sides, alternating runs in
processes of their own (so that peak memory is the run's), another seed each time. The peer lives in its own
environment: its Python is ``--peer-python``, or SUREWOOD_PEER_PYTHON; without it that half is left out and
said so. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.study_files import option_parser

HERE = Path(__file__).parent
OURS = HERE / "deepforest_runs.py"
#: data set -> trees a forest, layers
SETTINGS = {"letter": (100, 2), "adult": (100, 2)}
QUICK = {"letter": (10, 2)}
ACCURACY_BARS = {"letter": 97.5, "satimage": 91.75, "adult": 86.5, "har": 94.6, "mnist": 98.7}
ACCURACY_SETS = ("letter", "satimage", "adult", "har")  # unless others are named: MNIST takes long


def main(
    quick: bool = False, peer_python: str | None = None, repeats: int | None = None, threads: int = 2
) -> None:
    if not os.environ.get("SUREWOOD_DATA", "").strip():
        print("needs real data: set SUREWOOD_DATA to the folder of Parquet files")
        return
    peer_python = peer_python or os.environ.get("SUREWOOD_PEER_PYTHON")
    repeats = repeats or (1 if quick else 3)
    with tempfile.TemporaryDirectory() as folder:
        for name, (n_trees, n_layers) in (QUICK if quick else SETTINGS).items():
            arrays = write_arrays(name, Path(folder))
            compare(name, arrays, n_trees, n_layers, repeats, peer_python, threads)
            compare_with_scikit_learn(name, arrays, max(5, n_trees // 5), n_layers, repeats, threads)


def write_arrays(name: str, folder: Path) -> Path:
    """The data as plain numbers (category codes, missing as -1), the same for both sides."""
    from papers.datasets import load
    from surewood.tables import TableSchema

    data = load(name)
    X, y = data.train
    X_test, y_test = data.test
    schema = TableSchema.learn(X)
    classes = np.unique(y)
    path = folder / f"{name}.npz"
    np.savez(
        path,
        X=np.nan_to_num(schema.read(X).matrix(), nan=-1.0),
        y=np.searchsorted(classes, y),
        X_test=np.nan_to_num(schema.read(X_test).matrix(), nan=-1.0),
        y_test=np.searchsorted(classes, y_test),
    )
    return path


def once(python: str, kind: str, arrays: Path, *numbers: int) -> dict[str, float]:
    """One run in a process of its own; the last line it prints is its result."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [python, str(OURS), kind, str(arrays), *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{kind} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(
    name: str,
    arrays: Path,
    n_trees: int,
    n_layers: int,
    repeats: int,
    peer_python: str | None,
    threads: int,
) -> None:
    if peer_python is None:
        print(f"{name}: DF21 left out; name its Python with --peer-python or SUREWOOD_PEER_PYTHON")
        return
    pairs, on_disk = [], []
    for seed in range(repeats):
        mine = once(sys.executable, "ours", arrays, n_trees, n_layers, seed, threads)
        peer = once(peer_python, "df21", arrays, n_trees, n_layers, seed, threads)
        pairs.append((mine, peer))
        on_disk.append((once(sys.executable, "ours_on_disk", arrays, n_trees, n_layers, seed, threads), peer))
    title = f"{name}, 4 forests x {n_trees} trees, {n_layers} layers, out-of-bag, {threads} threads"
    report(title, "DF21", pairs)
    report(f"{title}, ours with finished layers on disk", "DF21", on_disk)


def compare_with_scikit_learn(
    name: str, arrays: Path, n_trees: int, n_layers: int, repeats: int, threads: int
) -> None:
    pairs = []
    for seed in range(repeats):
        pairs.append(
            (
                once(sys.executable, "ours_folds", arrays, n_trees, n_layers, seed, threads),
                once(sys.executable, "sklearn_folds", arrays, n_trees, n_layers, seed, threads),
            )
        )
    title = f"{name}, 4 forests x {n_trees} trees, {n_layers} layers, 5 folds, {threads} threads"
    report(title, "scikit-learn", pairs)


def report(title: str, peer: str, pairs: list[tuple[dict[str, float], dict[str, float]]]) -> None:
    """Medians, and the median of the ratios of neighbouring runs."""
    print(f"\n{title} (us / {peer}, median of {len(pairs)})")
    print(f"{'':14}{'ours':>10}{peer:>14}{'ratio':>9}")
    for key, label in (
        ("fit", "fit s"),
        ("predict", "predict s"),
        ("peak_mb", "peak MB"),
        ("own_mb", "fit MB"),
    ):
        ours, theirs = (statistics.median(pair[side][key] for pair in pairs) for side in (0, 1))
        ratio = statistics.median(pair[1][key] / pair[0][key] for pair in pairs)
        print(f"{label:14}{ours:10.2f}{theirs:14.2f}{ratio:8.1f}x", flush=True)
    ours, theirs = (statistics.mean(pair[side]["accuracy"] for pair in pairs) for side in (0, 1))
    print(f"{'accuracy %':14}{ours:10.2f}{theirs:14.2f}{ours - theirs:+8.2f}", flush=True)


def accuracies(seeds: int, names: list[str], n_estimators: int) -> None:
    """Test accuracy with default parameters on the official splits, and of our random forest on yeast."""
    from papers.datasets import load
    from surewood import MarginDeepForestClassifier

    print(f"{'data':12}{'bar':>8}{'mean':>8}   seeds")
    for name in names:
        values = []
        for seed in range(seeds):
            data = load(name)
            model = MarginDeepForestClassifier(n_estimators, n_jobs=-1, random_state=seed)
            values.append(100 * model.fit(*data.train).score(*data.test))
        each = " ".join(f"{value:.2f}" for value in values)
        print(
            f"{name:12}{ACCURACY_BARS.get(name, 0):8.2f}{statistics.mean(values):8.2f}   {each}", flush=True
        )


def yeast(seeds: int) -> None:
    """Margin forest and our random forest on random 70/30 splits of yeast."""
    from sklearn.model_selection import train_test_split

    from papers.datasets import load
    from surewood import BinnedForestClassifier, MarginDeepForestClassifier

    data = load("yeast")
    rows = []
    for seed in range(seeds):
        X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.3, random_state=seed)
        deep = MarginDeepForestClassifier(n_jobs=-1, random_state=seed).fit(X, y).score(X_test, y_test)
        flat = BinnedForestClassifier(2000, n_jobs=-1, random_state=seed).fit(X, y).score(X_test, y_test)
        rows.append((100 * deep, 100 * flat))
    deep, flat = np.mean(rows, axis=0)
    print(f"yeast, {seeds} splits: margin forest {deep:.2f}, random forest of 2000 trees {flat:.2f}")


if __name__ == "__main__":
    parser = option_parser(__doc__)
    parser.add_argument("--peer-python")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--accuracy", nargs="?", const=",".join(ACCURACY_SETS), help="data sets, by comma")
    parser.add_argument("--yeast", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--n-estimators", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.accuracy:
        accuracies(arguments.seeds, arguments.accuracy.split(","), arguments.n_estimators)
    elif arguments.yeast:
        yeast(arguments.seeds)
    else:
        main(arguments.quick, arguments.peer_python, arguments.repeats, arguments.threads)
