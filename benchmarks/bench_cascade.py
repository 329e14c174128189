"""Deep cascades: the exact minimum, its cost, and the same search with SVC (docs/research/cascade.md).

    python -m benchmarks cascade

1. Seconds and SVMs of the exact minimum for each γ on the five data sets of the paper, against the
   191,956 cascades of full enumeration, and the γ path down to 0.001.
2. The same search with scikit-learn's SVC in place of our SVMs, interleaved; median of ratios.
3. Full enumeration without pruning on german.

Needs SUREWOOD_DATA. One thread; seconds are CPU seconds of the process, which other work on the machine
disturbs least.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from sklearn.svm import SVC

from papers.cascades import SETS
from papers.cascades.folds import prepare_fold
from surewood.cascade.gamma_path import gamma_path
from surewood.cascade.search import Outcome, PrefixTree, minimise
from surewood.tables import DataError

GAMMAS = (1.0, 0.1, 0.01, 0.001)


class SvcTrainer:
    """The peer: every SVM a scikit-learn SVC with its own kernel, as a careful user would write it."""

    def __init__(self, trainer):
        self.own, self.weight, self.n_choices = trainer, trainer.weight, trainer.n_choices
        self.design = trainer.gram.X[trainer.part]

    def train(self, rows, choices):
        return [[self._outcome(own, choice) for choice in choices] for own in rows]

    def _outcome(self, rows, choice):
        own, codes = self.own, self.own.codes[rows]
        if own.is_constant(rows):
            return Outcome(None, np.ones(len(rows), dtype=bool))
        C = own.C[choice] * np.sqrt(len(rows) / len(self.weight))
        degree, n = own.kernels.degrees[choice], self.design.shape[1]
        svm = SVC(kernel="poly", degree=degree, gamma=1 / n, coef0=1.0, C=C, max_iter=10_000)
        decision = svm.fit(self.design[rows], codes).decision_function(self.design[rows])
        return Outcome(np.abs(decision), decision * (2.0 * codes - 1.0) > 0)


def fresh_tree(fold, trainer=None) -> PrefixTree:
    return PrefixTree(trainer or fold.task.trainer, fold.plan.fractions, fold.plan.max_leaves)


def timed(work):
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def exact_minimum(names, folds) -> None:
    print("exact minimum, one tree per γ: median (largest) over the folds; leaves of the minimizer per fold")
    print(f"{'set':15s} {'m':>4s} {'γ':>6s} {'seconds':>16s} {'SVMs':>16s} {'of':>8s}  leaves")
    for name in names:
        prepared = [prepare_fold(name, j) for j in (list(folds)[:2] if name == "a1a" else folds)]
        for gamma in GAMMAS:
            runs = [
                timed(lambda f=f, g=gamma: minimise(fresh_tree(f), f.task.complexity, g)) for f in prepared
            ]
            seconds, svms = [s for s, _ in runs], [r.n_svms for _, r in runs]
            leaves = " ".join(str(r.path.n_leaves) for _, r in runs)
            assert all(r.proven for _, r in runs)
            print(
                f"{name:15s} {int(runs[0][1].total):4d} {gamma:6g} "
                f"{statistics.median(seconds):8.3f} ({max(seconds):5.2f}) "
                f"{statistics.median(svms):8.0f} ({max(svms):5d}) "
                f"{runs[0][1].n_cascades:8d}  {leaves}",
                flush=True,
            )
        if name != "a1a":
            whole = fresh_tree(prepared[0])
            seconds, pieces = timed(
                lambda t=whole, f=prepared[0]: gamma_path(t, f.task.complexity, gamma_min=1e-3)
            )
            cost = f"{whole.n_svms} SVMs, {seconds:.2f} s"
            print(f"{name:15s} γ path to 0.001: {len(pieces)} pieces, {cost}", flush=True)


def against_svc(names, repeats: int, limit: int) -> None:
    print(f"\nthe same search with SVC (γ = 0.001, at most {limit} SVMs): median of ratios, interleaved")
    print(f"{'set':15s} {'SVMs':>9s} {'ours s':>9s} {'SVC s':>9s} {'ratio':>7s}  same cascade")
    for name in names:
        fold = prepare_fold(name, 0)
        peer, pairs, same = SvcTrainer(fold.task.trainer), [], True
        for _ in range(repeats):
            ours, found = timed(
                lambda f=fold: minimise(fresh_tree(f), f.task.complexity, 1e-3, max_svms=limit)
            )
            theirs, other = timed(
                lambda f=fold, p=peer: minimise(fresh_tree(f, p), f.task.complexity, 1e-3, max_svms=limit)
            )
            pairs.append((ours, theirs))
            same &= found.path == other.path
        ratio = statistics.median(b / a for a, b in pairs)
        ours, theirs = (statistics.median(column) for column in zip(*pairs))
        print(f"{name:15s} {found.n_svms:9d} {ours:9.4f} {theirs:9.4f} {ratio:7.1f}  {same}", flush=True)


def enumerate_everything(max_leaves: int) -> None:
    fold = prepare_fold("german_numeric", 0, max_leaves=max_leaves)
    tree = fresh_tree(fold)
    started = time.process_time()
    for level in range(max_leaves):
        tree.settle(level)
        nodes, choices = np.nonzero(~tree.levels[level].trained)
        for start in range(0, len(nodes), 512):
            tree.train(level, nodes[start : start + 512], choices[start : start + 512])
    seconds = time.process_time() - started
    scored = sum(int(level.trained.sum()) for level in tree.levels)
    print(
        f"\nfull enumeration on german, at most {max_leaves} leaves: {scored} cascades scored, "
        f"{tree.n_svms} SVMs, {seconds:.1f} s"
    )


def main(quick: bool = False) -> None:
    """Print the tables; `quick` takes one fold and the three fastest sets."""
    names = ["breast_cancer", "splice", "ionosphere"] if quick else list(SETS)
    try:
        exact_minimum(names, [0] if quick else range(5))
        against_svc(names, 1 if quick else 3, 100 if quick else 500)
        enumerate_everything(2 if quick else 4)
    except DataError as error:
        print(f"not measured: {error}")


if __name__ == "__main__":
    main()
