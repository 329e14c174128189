"""Peers that need an environment of their own: DF21's forest and scikit-learn-intelex.

A worker process in the peer's environment is asked for one fit at a time, in turns with ours. As many trees
a fit as in the rows against scikit-learn, so that what a call costs once weighs the same. DF21 always makes
out-of-bag scores; ours are timed with theirs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.forest_data import load
from surewood.trees.binning import bin_array
from surewood.trees.growing import TreeParams, grow_forest, out_of_bag

ENVIRONMENTS = Path("build/peers")
PACKAGES = {
    "DF21": ["deep-forest-py310", "numpy<2.3"],  # later ones lack an argument it uses
    "intelex": ["scikit-learn-intelex"],
}
# Peer, kind of forest, pairs a median (intelex differs much from run to run).
ROWS = (
    ("DF21", "forest", 3),
    ("DF21", "completely random", 3),
    ("intelex", "forest", 9),
)

WORKER = """
import sys, time
import numpy as np
peer, forest, path = sys.argv[1:]
data = np.load(path)
X, y = data["X"], data["y"]
if peer == "intelex":
    from sklearnex.ensemble import RandomForestClassifier
else:
    from deepforest.forest import ExtraTreesClassifier, RandomForestClassifier
    from deepforest._binner import Binner
    X = Binner(n_bins=255, random_state=0).fit_transform(X.astype(np.float64))
if forest == "forest":
    make = lambda n, seed: RandomForestClassifier(n, random_state=seed, n_jobs=1)
else:
    make = lambda n, seed: ExtraTreesClassifier(n, max_features=1, random_state=seed, n_jobs=1)
for line in sys.stdin:
    n, seed = map(int, line.split())
    model = make(n, seed)
    started = time.process_time()
    model.fit(X, y)
    print(time.process_time() - started, flush=True)
"""


def compare(sets: dict[str, int], quick: bool) -> None:
    """Print the ratios of fit times for data sets and their numbers of trees, or why a peer is left out."""
    for peer, forest, pairs in ROWS:
        python = environment(peer)
        if python is None:
            continue
        for name, n_trees in sets.items():
            X, y, _, _ = load(name)
            try:
                found = list(ratios(peer, forest, python, X, y, n_trees, 2 if quick else pairs))
            except (OSError, ValueError) as error:
                print(f"{peer}: left out on {name}: {error}")
                continue
            span = f"{min(found):.1f}-{max(found):.1f}"
            print(f"{forest} against {peer}, {name}: {np.median(found):.1f}x ({span})", flush=True)


def ratios(
    peer: str, forest: str, python: Path, X: np.ndarray, y: np.ndarray, n_trees: int, pairs: int
) -> Iterator[float]:
    """Their time over ours, one a pair of fits."""
    matrix = bin_array(X)
    if forest == "forest":
        params = TreeParams(max_features=int(X.shape[1] ** 0.5), sampling="bootstrap")
    else:
        params = TreeParams(splitter="completely_random", sampling="bootstrap")  # DF21 has no other
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        worker = subprocess.Popen(
            [str(python), "-c", WORKER, peer, forest, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert worker.stdin is not None
        assert worker.stdout is not None
        for seed in range(pairs):
            started = time.process_time()
            grown = grow_forest(matrix, y, int(y.max()) + 1, params, n_trees=n_trees, seed=seed)
            if peer == "DF21":
                out_of_bag(grown.forest, grown.bag, matrix)
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
