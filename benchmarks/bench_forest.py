"""Forests: fit, predict and memory against scikit-learn and, where they can be installed, DF21 and intelex.

Everything runs on one thread in one process (peers with their own environment: one process each, started
once and asked in turns). Ours and the peer alternate; a ratio is taken for every pair and the median
printed. "fit" leaves binning out on our side, "fit+bin" counts it.

The peers DF21 (``deep-forest-py310``) and scikit-learn-intelex need their own versions of NumPy and
scikit-learn. They get virtual environments under ``build/peers`` on first use; when that fails the reason is
printed and they are left out.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from benchmarks import forest_memory, forest_peers
from benchmarks.forest_data import load
from surewood.trees.binning import BinnedMatrix, as_table, bin_array
from surewood.trees.growing import TreeParams, grow_forest

SETS = ("letter", "adult", "satimage", "har", "mnist")
TREES = {"mnist": 5, "har": 10}


def main(quick: bool = False) -> None:
    if not os.environ.get("SUREWOOD_DATA"):
        print("needs real data: set SUREWOOD_DATA to the folder of Parquet files")
        return
    sets = SETS[:1] if quick else SETS
    repeats = 2 if quick else 3
    print(f"{'set':9} {'kind':14} {'ours ms/tree':>12} {'peer ms/tree':>12} {'fit':>6} {'fit+bin':>8}")
    for name in sets:
        fit_rows(name, load(name), repeats)
    columns = ("accuracy", "peer", "raw", "bins", "1 row us", "memory")
    print(f"\n{'set':9} {'kind':14} " + " ".join(f"{c:>8}" for c in columns))
    for name in sets:
        predict_row(name, load(name), 20 if name == "mnist" else 100, 1 if name == "mnist" else repeats)
    forest_memory.report(sets)
    threads_row(load("letter"))
    peer_sets = sets[:1] if quick else ("letter", "adult", "har")
    forest_peers.compare({name: TREES.get(name, 20) for name in peer_sets}, quick)


def kinds(n_columns: int, weight: np.ndarray, seed: int, n_trees: int):
    forest = TreeParams(max_features=int(n_columns**0.5), sampling="bootstrap")
    random = TreeParams(splitter="completely_random")
    yield "forest", forest, None, RandomForestClassifier(n_trees, random_state=seed)
    yield "forest, weights", forest, weight, RandomForestClassifier(n_trees, random_state=seed)
    yield "completely r.", random, None, ExtraTreesClassifier(n_trees, max_features=1, random_state=seed)


def fit_rows(name: str, data, repeats: int) -> None:
    X, y, _, _ = data
    n_classes, n_trees = int(y.max()) + 1, TREES.get(name, 20)
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    binning, matrix = timed(lambda: bin_array(X))
    matrix = matrix.with_row_copy() if matrix.nbytes > 2**24 else matrix
    for k in range(3):
        rows = []
        for seed in range(repeats):
            label, params, given, peer = list(kinds(X.shape[1], weight, seed, n_trees))[k]
            ours, _ = timed(
                lambda p=params, s=seed, w=given: grow_forest(
                    matrix, y, n_classes, p, n_trees=n_trees, seed=s, weight=w
                )
            )
            theirs, _ = timed(lambda p=peer, w=given: p.fit(X, y, sample_weight=w))
            rows.append((ours / n_trees, theirs / n_trees, theirs / ours, theirs / (ours + binning)))
        ours, theirs, ratio, with_bins = np.median(rows, axis=0)
        print(
            f"{name:9} {label:14} {ours * 1e3:12.2f} {theirs * 1e3:12.2f} {ratio:5.1f}x {with_bins:7.1f}x",
            flush=True,
        )


def predict_row(name: str, data, n_trees: int, repeats: int) -> None:
    X, y, X_test, y_test = data
    n_classes = int(y.max()) + 1
    matrix = bin_array(X)
    params = TreeParams(max_features=int(X.shape[1] ** 0.5), sampling="bootstrap")
    test = BinnedMatrix.of(matrix.mapper.codes(as_table(X_test)), matrix.mapper)
    accuracy, peer_accuracy, raw, binned = [], [], [], []
    for seed in range(repeats):
        forest = grow_forest(matrix, y, n_classes, params, n_trees=n_trees, seed=seed).forest
        peer = RandomForestClassifier(n_trees, random_state=seed).fit(X, y)
        ours, shares = timed(lambda f=forest: f.predict_proba_raw(X_test, matrix.mapper))
        from_bins, _ = timed(lambda f=forest: f.predict_proba(test))
        theirs, peer_shares = timed(lambda p=peer: p.predict_proba(X_test))
        accuracy.append((shares.argmax(axis=1) == y_test).mean())
        peer_accuracy.append((peer_shares.argmax(axis=1) == y_test).mean())
        raw.append(theirs / ours)
        binned.append(theirs / from_bins)
    one_row = min(timed(lambda: forest.predict_proba_raw(X_test[:1], matrix.mapper))[0] for _ in range(50))
    memory = sum(memory_of(tree.tree_) for tree in peer.estimators_) / forest.nbytes
    cells = (
        f"{np.mean(accuracy):.4f}",
        f"{np.mean(peer_accuracy):.4f}",
        f"{np.median(raw):.1f}x",
        f"{np.median(binned):.1f}x",
        f"{one_row * 1e6:.0f}",
        f"{memory:.1f}x",
    )
    print(f"{name:9} {'forest':14} " + " ".join(f"{c:>8}" for c in cells), flush=True)


def threads_row(data) -> None:
    X, y, _, _ = data
    matrix = bin_array(X)
    params = TreeParams(max_features=4, sampling="bootstrap")
    ratios = []
    for seed in range(3):
        one, two = (
            timed(
                lambda j=j, s=seed: grow_forest(matrix, y, 26, params, n_trees=200, seed=s, n_jobs=j),
                time.perf_counter,
            )[0]
            for j in (1, 2)
        )
        ratios.append(one / two)
    print(f"\ntwo threads against one (letter, 200 trees): {np.median(ratios):.2f}x")


def memory_of(tree) -> int:
    """Bytes of a scikit-learn tree: its node array and its class values."""
    return tree.node_count * tree.__getstate__()["nodes"].dtype.itemsize + tree.value.nbytes


def timed(function, clock=time.process_time):
    """Seconds of processor time: all runs on one thread, and a busy machine matters less."""
    started = clock()
    result = function()
    return clock() - started, result
