"""Peers that need an environment of their own: DF21's forest and scikit-learn-intelex.

A worker process in the peer's environment is asked for one fit at a time, in turns with ours.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.forest_data import load
from surewood.trees import TreeParams, bin_array, grow_forest

ENVIRONMENTS = Path("build/peers")
PACKAGES = {
    "DF21": ["deep-forest-py310", "numpy<2.3"],  # later ones lack an argument it uses
    "intelex": ["scikit-learn-intelex"],
}

WORKER = """
import sys, time
import numpy as np
kind, path = sys.argv[1:3]
data = np.load(path)
X, y = data["X"], data["y"]
if kind == "intelex":
    from sklearnex.ensemble import RandomForestClassifier
    make = lambda n, seed: RandomForestClassifier(n, random_state=seed, n_jobs=1)
else:
    from deepforest.forest import RandomForestClassifier
    from deepforest._binner import Binner
    X = Binner(n_bins=255, random_state=0).fit_transform(X.astype(np.float64))
    make = lambda n, seed: RandomForestClassifier(n, random_state=seed, n_jobs=1)
for line in sys.stdin:
    n, seed = map(int, line.split())
    model = make(n, seed)
    started = time.process_time()
    model.fit(X, y)
    print(time.process_time() - started, flush=True)
"""


def compare(sets: tuple[str, ...], repeats: int) -> None:
    """Print the ratios of fit times, or why a peer is left out."""
    for kind in PACKAGES:
        python = environment(kind)
        if python is None:
            continue
        for name in sets:
            X, y, _, _ = load(name)
            try:
                ratio = np.median(list(ratios(kind, python, X, y, repeats)))
            except (OSError, ValueError) as error:
                print(f"{kind}: left out on {name}: {error}")
                continue
            print(f"fit against {kind:8} {name:9} {ratio:5.1f}x", flush=True)


def ratios(kind: str, python: Path, X: np.ndarray, y: np.ndarray, repeats: int, n_trees: int = 10):
    matrix = bin_array(X)
    params = TreeParams(max_features=int(X.shape[1] ** 0.5), sampling="bootstrap")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        worker = subprocess.Popen(
            [str(python), "-c", WORKER, kind, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert worker.stdin is not None
        assert worker.stdout is not None
        for seed in range(repeats):
            started = time.process_time()
            grow_forest(matrix, y, int(y.max()) + 1, params, n_trees=n_trees, seed=seed)
            ours = time.process_time() - started
            worker.stdin.write(f"{n_trees} {seed}\n")
            worker.stdin.flush()
            yield float(worker.stdout.readline() or "nan") / ours
        worker.stdin.close()
        worker.wait(timeout=60)


def environment(kind: str) -> Path | None:
    """The Python of the peer's environment, made on first use; None, and the reason printed, if it fails."""
    folder = ENVIRONMENTS / kind
    python = folder / "bin" / "python"
    if (folder / "ready").exists():
        return python.absolute()
    try:
        subprocess.run(
            [sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True, text=True
        )
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", "--prefer-binary", *PACKAGES[kind]],
            check=True,
            capture_output=True,
            text=True,
            timeout=600,
        )
    except (subprocess.SubprocessError, OSError) as error:
        reason = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        print(f"{kind}: cannot be installed here, left out: {reason[-1] if reason else error}")
        return None
    (folder / "ready").touch()
    return python.absolute()
