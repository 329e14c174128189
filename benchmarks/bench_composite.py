"""Composite forests against the same work on scikit-learn's SVC and on libsvm with NumPy kernels.

Three claims, one thread each, ours and the peers interleaved in one run, medians of ratios:

* the same work: nine degrees, depths 2-6, fit, training and evaluation predictions of every SVM;
* the grid gamma x depth x number of trees in one pass, against the same caching on SVC (measured), and
  against refitting every point of the paper's grid (extrapolated from two trees per depth);
* prediction of 10,000 pendigits rows by 100 trees, against the same forest of SVC leaves.

The peers get the trees for nothing; ours pays for growing them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.svm import SVC

from benchmarks.study_files import option_parser
from benchmarks.svc_forest import Leaf, LibsvmSolver, SvcSolver, one_pass_grid, predict_forest, same_work
from papers.datasets import load
from surewood.composite.data import CompositeData, SolverOptions, prepare
from surewood.composite.degrees import complexities
from surewood.composite.grid import HeldOut, SearchGrid, grid_errors
from surewood.composite.growing import IndexSets, Setting, TreeRange, collect_leaves, cut, grow
from surewood.composite.leaves import train_leaf_svms
from surewood.composite.trees import fit_trees
from surewood.svm.gram import Gram
from surewood.tables import begin_fit

SETS = ("vowel", "vehicle", "german_numeric", "pendigits")
DEGREES = range(1, 10)
DEPTHS = (2, 3, 4, 5, 6)
GAMMAS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
OPTIONS = SolverOptions(n_jobs=1)
C = 1.0


def problem(name: str) -> tuple[CompositeData, HeldOut]:
    """60 % of the paper's rows for training, 20 % for evaluation."""
    X, y = load(name).part_of("rcf")
    order = np.random.default_rng(0).permutation(len(y))
    rows, held = order[: int(0.6 * len(y))], order[int(0.6 * len(y)) : int(0.8 * len(y))]
    inputs = begin_fit(DummyClassifier(), X.iloc[rows], y.iloc[rows])
    data = prepare(inputs, OPTIONS)
    table = inputs.schema.read(X.iloc[held])
    codes = np.searchsorted(inputs.classes, y.iloc[held].to_numpy()).astype(np.int32)
    return data, HeldOut(data.reader.matrix(table), data.reader.design(table), codes, None)


def setting_for(data: CompositeData, depth: int, degrees: range = DEGREES) -> Setting:
    r = max(1, round(np.sqrt(data.n_splitting)))
    return Setting(depth, r, tuple(degrees), (C,) * len(degrees), 1e-3)


def leaves_at(
    data: CompositeData, held: HeldOut, n_trees: int, depths: tuple[int, ...]
) -> dict[int, list[list[Leaf]]]:
    """The leaves of our trees, as the peers take them."""
    grove = grow(data, setting_for(data, max(depths)), TreeRange(n_trees, 0))
    nodes = grove.forest.apply(held.matrix).astype(np.int64) + grove.topology.start[:-1]
    found: dict[int, list[list[Leaf]]] = {}
    for depth in depths:
        stop = cut(grove.topology, depth)
        sets = IndexSets(data.y, data.weight, data.n_classes)
        leaves = collect_leaves(grove, stop, sets)
        at = leaves.of_node(stop)[nodes]
        trees: list[list[Leaf]] = [[] for _ in range(n_trees)]
        for k in range(len(leaves)):
            tree = int(leaves.tree[k])
            reached = np.flatnonzero(at[:, tree] == k)
            trees[tree].append(Leaf(sets.rows[leaves.set_id[k]], reached, int(leaves.depth[k])))
        found[depth] = trees
    return found


def our_same_work(data: CompositeData, held: HeldOut, n_trees: int) -> int:
    """Grow, train all (leaf, degree); the solver labels training rows, all degrees the evaluation rows."""
    data = fresh(data)
    grove = grow(data, setting_for(data, max(DEPTHS)), TreeRange(n_trees, 0))
    nodes = grove.forest.apply(held.matrix).astype(np.int64) + grove.topology.start[:-1]
    sets, known = IndexSets(data.y, data.weight, data.n_classes), {}
    set_of, ids = [], set()
    for depth in DEPTHS:
        stop = cut(grove.topology, depth)
        leaves = collect_leaves(grove, stop, sets, known)
        set_of.append(leaves.set_id[leaves.of_node(stop)[nodes]])
        ids |= set(leaves.set_id.tolist())
    pure = sets.pure
    mixed = np.array(sorted(k for k in ids if not pure[k]))
    boxes = np.full((len(DEGREES), 1), C)
    asked = np.concatenate(set_of, axis=1)
    for chunk in train_leaf_svms(data, sets, mixed, np.array(DEGREES), boxes, data.total()):
        place = np.full(len(sets), -1, dtype=np.int32)
        place[chunk.ids] = np.arange(len(chunk.ids)) * len(DEGREES)
        first = place[asked]
        row, column = np.nonzero(first >= 0)
        assign = first[row, column, None] + np.arange(len(DEGREES), dtype=np.int32)
        chunk.svms.predictor().predict(held.design[row], assign, n_jobs=1)
    return len(mixed) * len(DEGREES)


def peer_same_work(kind: Any, arguments: tuple[Any, ...], leaves: list[Leaf]) -> int:
    """The peer's work, its own Gram matrix included."""
    return same_work(kind(*arguments), leaves, DEGREES)


def fresh(data: CompositeData) -> CompositeData:
    """The same sample with its inner products computed anew: they are part of our time."""
    return replace(data, gram=Gram(data.gram.X))


def timed(function: Callable[..., Any], *arguments: Any) -> float:
    """Seconds of processor time: one thread, so a neighbour on the machine does not count."""
    started = time.process_time()
    function(*arguments)
    return time.process_time() - started


def bench_same_work(quick: bool, names: tuple[str, ...] = SETS) -> None:
    print(
        "same work: nine degrees, depths 2-6, fit + training and evaluation predictions, times ours per SVM"
    )
    columns = ("trees (peers)", "ours s", "µs/SVM", "libsvm+NumPy", "SVC")
    print(f"{'':14s} " + " ".join(f"{name:>{width}s}" for name, width in zip(columns, (13, 8, 10, 12, 8))))
    sizes = {"vowel": (20, 6), "vehicle": (20, 6), "german_numeric": (20, 6), "pendigits": (20, 3)}
    for name in names:
        n_ours, n_peer = sizes[name]
        data, held = problem(name)
        n_ours, n_peer = (3, 1) if quick else (n_ours, n_peer)
        leaves = _flat(leaves_at(data, held, n_peer, DEPTHS))
        svms = unique_svms(leaves, data)
        args = (data.gram.X, data.y, held.design, C)
        ratios = []
        for _ in range(1 if quick or name == "pendigits" else 3):
            count = our_same_work(data, held, n_ours)
            ours = timed(our_same_work, data, held, n_ours) / count
            libsvm = timed(peer_same_work, LibsvmSolver, args, leaves) / svms
            svc = timed(peer_same_work, SvcSolver, args, leaves) / svms
            ratios.append((ours, libsvm / ours, svc / ours))
        each, libsvm, svc = np.median(np.array(ratios), axis=0)
        trees = f"{n_ours} ({n_peer})"
        print(
            f"{name:14s} {trees:>13s} {each * count:8.3f} {1e6 * each:10.0f} {libsvm:12.1f} {svc:8.1f}",
            flush=True,
        )


def unique_svms(leaves: list[Leaf], data: CompositeData) -> int:
    """(Row set, degree) pairs that have to be trained."""
    mixed = {leaf.rows.tobytes() for leaf in leaves if len(np.unique(data.y[leaf.rows])) > 1}
    return len(mixed) * len(DEGREES)


def our_grid(data: CompositeData, held: HeldOut, grid: SearchGrid) -> Any:
    return grid_errors(fresh(data), held, grid, setting_for(data, max(DEPTHS)), 0)


def peer_grid(data: CompositeData, held: HeldOut, grid: SearchGrid, by_depth: Any, table: Any) -> Any:
    svms = SvcSolver(data.gram.X, data.y, held.design, C)
    return one_pass_grid(svms, by_depth, DEGREES, grid.choices, grid.sizes, table, held.y, data.n_classes)


def refits(data: CompositeData, held: HeldOut, by_depth: Any) -> float:
    """Seconds that all points of the paper's grid (B = 100 ... 900) cost when each is fitted by itself.

    Extrapolated: a point costs all (leaf, degree) SVMs of its depth, measured on two trees per depth.
    """
    a_tree = 0.0
    for depth in DEPTHS:
        leaves = [leaf for tree in by_depth[depth][:2] for leaf in tree]
        arguments = (data.gram.X, data.y, held.design, C)
        a_tree += timed(peer_same_work, SvcSolver, arguments, leaves) / 2
    return a_tree * len(GAMMAS) * sum(range(100, 1000, 100))


def bench_grid(quick: bool, names: tuple[str, ...] = SETS) -> None:
    print("\ngamma x depth x trees for one r in one pass (6 gammas, depths 2-6), times ours")
    print("(careful SVC: measured on fewer trees where it says so, scaled by the number of distinct SVMs;")
    print(" refitting each point: extrapolated to B = 100..900 from two trees per depth, ours in proportion)")
    print(f"{'':14s} {'trees (peer)':>12s} {'ours s':>8s} {'careful SVC':>11s} {'refitting each point':>21s}")
    sizes = {"vowel": (20, 20), "vehicle": (12, 12), "german_numeric": (12, 12), "pendigits": (40, 2)}
    for name in names:
        n_ours, n_peer = sizes[name]
        data, held = problem(name)
        n_ours, n_peer = (4, 2) if quick else (n_ours, n_peer)
        setting = setting_for(data, max(DEPTHS))
        grid = SearchGrid((1,), DEPTHS, GAMMAS, (n_ours // 2, n_ours), (C,), setting)
        small_grid = replace(grid, sizes=(max(n_peer // 2, 1), n_peer))
        every = leaves_at(data, held, n_ours, DEPTHS)
        by_depth = {depth: trees[:n_peer] for depth, trees in every.items()}
        scale = unique_svms(_flat(every), data) / unique_svms(_flat(by_depth), data)
        cost = complexities(
            np.arange(max(DEPTHS) + 1), np.array(DEGREES), m=data.total(), n_features=data.n_features,
            n_splitting=data.n_splitting, max_features=setting_for(data, 1).max_features,
            n_classes=data.n_classes,
        )  # fmt: skip
        table = dict(enumerate(cost))
        ours, peer = [], []
        for _ in range(1 if quick or name == "pendigits" else 2):
            ours.append(timed(our_grid, data, held, grid))
            peer.append(scale * timed(peer_grid, data, held, small_grid, by_depth, table))
        ratio = np.median(np.array(peer) / np.array(ours))
        each = refits(data, held, by_depth) / (np.median(ours) / n_ours * 900)
        trees = f"{n_ours} ({n_peer})"
        print(f"{name:14s} {trees:>12s} {np.median(ours):8.3f} {ratio:11.1f} {each:21.0f}", flush=True)


def _flat(by_depth: dict[int, list[list[Leaf]]]) -> list[Leaf]:
    return [leaf for trees in by_depth.values() for tree in trees for leaf in tree]


def our_prediction(model: Any, data: CompositeData, table: Any) -> Any:
    """From the table to the votes: bins and design included."""
    return model.composite_scores(data.reader.matrix(table), data.reader.design(table), "one_hot")


def bench_prediction(quick: bool) -> None:
    n_rows, n_trees = (1000, 10) if quick else (10_000, 100)
    print(f"\nprediction of {n_rows} pendigits rows by {n_trees} trees of depth 4, degree 3")
    loaded = load("pendigits")
    data, _ = problem("pendigits")
    model = fit_trees(data, setting_for(data, 4, range(3, 4)), TreeRange(n_trees, 0))[0]
    table = begin_fit(DummyClassifier(), loaded.X, loaded.y, merge=False).table.take(np.arange(n_rows))
    matrix, design = data.reader.matrix(table), data.reader.design(table)
    at = model.leaf_index(matrix)
    trained = model.leaf_index(data.matrix)
    forest: list[list[Any]] = [[] for _ in range(n_trees)]
    for k in range(len(model.leaves)):
        tree = int(model.leaves.tree[k])
        rows = np.flatnonzero(trained[:, tree] == k)
        svm: Any = int(model.leaves.constant[k])
        if svm < 0:
            box = float(model.leaves.C[k])
            svm = SVC(kernel="poly", degree=3, gamma=1 / data.n_features, coef0=1.0, C=box)
            svm.fit(data.gram.X[rows], data.y[rows])
        forest[tree].append((np.flatnonzero(at[:, tree] == k), svm))
    ours, peer = [], []
    for _ in range(1 if quick else 5):
        ours.append(timed(our_prediction, model, data, table))
        peer.append(timed(lambda: predict_forest(forest, design, data.n_classes)))
    same = (
        model.composite_scores(matrix, design, "one_hot").argmax(axis=1)
        == predict_forest(forest, design, data.n_classes)
    ).mean()
    ratio = np.median(np.array(peer) / np.array(ours))
    first = peer[0] / ours[0]
    print(f"ours {np.median(ours):.3f} s, SVC leaves {np.median(peer):.2f} s: {ratio:.1f} times ours")
    print(f"first of {len(ours)} times, when the system still has to clear new memory: {first:.1f} times")
    print(f"share of labels that agree: {same:.4f}")


def main(quick: bool = False) -> None:
    bench_same_work(quick)
    bench_grid(quick)
    bench_prediction(quick)


if __name__ == "__main__":
    parser = option_parser(__doc__)
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
