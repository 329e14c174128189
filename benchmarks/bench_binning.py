"""Binning against scikit-learn's and against NumPy, and a small forest on MNIST with binning included.

    python -m benchmarks binning

Learning the bins and coding the table, interleaved, one thread each, processor time; ``x`` is the peer's time
divided by ours. NumPy means one ``unique`` and one ``searchsorted`` per column. Needs
SUREWOOD_DATA.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from benchmarks.study_files import option_parser
from papers.datasets import load
from surewood import BinnedForestClassifier
from surewood.trees.binning import bin_array

ROUNDS = 3


def in_numpy(X: np.ndarray) -> np.ndarray:
    """At most 255 bins of about equal weight per column, the plain way."""
    codes = np.empty(X.shape[::-1], dtype=np.uint8)
    for j in range(X.shape[1]):
        values, counts = np.unique(X[:, j], return_counts=True)
        edges = values[:-1]
        if len(values) > 255:
            targets = len(X) * np.arange(1, 255) / 255
            edges = np.unique(values[np.searchsorted(np.cumsum(counts), targets)])
        codes[j] = np.searchsorted(edges, X[:, j])
    return codes


def in_scikit_learn(X: np.ndarray) -> np.ndarray:
    """Its bins are learned on 200,000 rows at most: on all rows here."""
    return _BinMapper(n_bins=256, random_state=0, n_threads=1).fit_transform(X)


def seconds(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def compare(title: str, ours: Callable[[], Any], peers: dict[str, Callable[[], Any]], rounds: int) -> None:
    """Medians of interleaved runs."""
    times: dict[str, list[float]] = {name: [] for name in ["ours", *peers]}
    for _ in range(rounds):
        times["ours"].append(seconds(ours))
        for name, peer in peers.items():
            times[name].append(seconds(peer))
    own = float(np.median(times["ours"]))
    ratios = "  ".join(f"{name} {np.median(times[name]) / own:5.1f} x" for name in peers)
    print(f"{title:28} ours {1000 * own:7.0f} ms   {ratios}", flush=True)


def main(quick: bool = False) -> None:
    for name, dtypes in {"har": ("f4", "f8"), "mnist": ("u1", "f8")}.items():
        X, y = load(name).train
        X = np.ascontiguousarray(X)[: 2000 if quick else None]
        for dtype in dtypes:
            part = X.astype(dtype)
            as_double = part.astype(np.float64)  # what scikit-learn's takes
            peers: dict[str, Callable[[], Any]] = {"scikit-learn": partial(in_scikit_learn, as_double)}
            if dtype != "f8":
                peers["NumPy"] = partial(in_numpy, part)
            rounds = 1 if quick else ROUNDS
            compare(f"{name} {dtype} {part.shape}", partial(bin_array, part), peers, rounds)
    forest = BinnedForestClassifier(5, random_state=0, n_jobs=1)
    peer = RandomForestClassifier(5, random_state=0, n_jobs=1)
    y = np.asarray(y)[: len(X)]
    compare(
        "5 trees on mnist, binning too",
        lambda: forest.fit(X, y),
        {"scikit-learn": lambda: peer.fit(X, y)},
        1,
    )


if __name__ == "__main__":
    parser = option_parser(__doc__)
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
