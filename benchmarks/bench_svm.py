"""The SVM engine against libsvm: leaf SVMs, whole degree × C grids, threads, prediction.

Ours includes building kernels and training predictions. "libsvm pre" is libsvm's solver on a kernel matrix
made beforehand; "SVC" is scikit-learn's estimator, fit and predict on the same rows. Times are processor time
of one thread, ours and the peer's in turn; ratios are medians over repeats. Real sets where SUREWOOD_DATA is
set, generated clouds of the same shape otherwise.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.svm import SVC, _libsvm

from benchmarks.peak_memory import CAN_MEASURE, peak_of
from surewood import PolySVC
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec

DEGREES = np.arange(1, 10)
UNCAPPED = 10_000_000


def main(quick: bool = False) -> None:
    """Print all tables."""
    _libsvm.set_verbosity_wrap(0)
    leaf_svms(quick)
    whole_grids(quick)
    two_threads(quick)
    batch_memory()
    many_leaf_prediction(quick)


def real_or_generated(name: str, rows: int, features: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features and class codes of a training part."""
    folder = os.environ.get("SUREWOOD_DATA", "")
    file = Path(folder) / f"{name}.parquet"
    if folder and file.exists():
        import pandas as pd

        table = pd.read_parquet(file)
        table = table[table["split"] != "test"]
        X = table.drop(columns=["target", "split"]).to_numpy(float)
        y = np.unique(table["target"].to_numpy(), return_inverse=True)[1]
    else:
        rng = np.random.default_rng(0)
        y = rng.integers(classes, size=rows)
        X = rng.normal(size=(classes, features))[y] + rng.normal(size=(rows, features))
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y.astype(np.int32)


def seconds(work) -> tuple[float, object]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def leaf_svms(quick: bool) -> None:
    """Nine degrees on random subsets, by size."""
    print("leaf SVMs, nine degrees, C = 1: microseconds per SVM, and the peers' time over ours")
    print(f"{'data':10} {'points':>6} {'ours us':>8} {'libsvm pre':>10} {'SVC':>6} {'gap':>8} {'differ':>6}")
    for names in (("german_numeric", "a2a"), ("pendigits", "pendigits")):
        for n in (20, 100, 500) if quick else (20, 50, 100, 200, 500, 1500):
            name = names[n > 1000]
            X, y = real_or_generated(name, 2500, 24, 2 if names[0] == "german_numeric" else 10)
            rng = np.random.default_rng(n)
            groups = [rng.permutation(len(X))[:n] for _ in range(max(1, min(100, 6000 // n)))]
            groups = [g for g in groups if len(np.unique(y[g])) > 1]
            row = compare_leaves(X, y, groups, repeats=2 if quick else 3)
            print(
                f"{name[:10]:10} {n:6} {row['ours']:8.1f} {row['pre']:10.1f} {row['svc']:6.0f} "
                f"{row['gap']:8.0e} {row['differ']:6d}",
                flush=True,
            )


def compare_leaves(X, y, groups, repeats) -> dict[str, float]:
    """Ratios of times, the worst relative gap of two-class objectives, training predictions that differ."""
    gram, spec, inner = Gram(X), KernelSpec.default(X.shape[1]), X @ X.T
    ratios, svc_ratios, ours = [], [], []
    gap, differ = 0.0, 0
    few = groups[: max(1, len(groups) // 10)]
    for repeat in range(repeats):
        mine, svms = seconds(
            lambda: solve_many(gram, groups, y, DEGREES, 1.0, kernel=spec, max_iter=UNCAPPED)
        )
        peer = 0.0
        for g, rows in enumerate(groups):
            present, codes = np.unique(y[rows], return_inverse=True)  # as SVC hands them to libsvm
            labels = codes.astype(np.float64)
            for k, degree in enumerate(DEGREES):
                K = np.ascontiguousarray((spec.gamma * inner[np.ix_(rows, rows)] + 1.0) ** degree)
                spent, model = seconds(
                    lambda K=K, labels=labels: _libsvm.fit(
                        K, labels, kernel="precomputed", C=1.0, cache_size=200
                    )
                )
                peer += spent
                if repeat == 0:
                    problem = svms.index(g, k)
                    gap = max(gap, objective_gap(svms, problem, model, K))
                    predicted = _libsvm.predict(
                        K,
                        model[0],
                        model[1],
                        model[2],
                        model[3],
                        model[4],
                        model[5],
                        model[6],
                        kernel="precomputed",
                    )
                    differ += int((present[predicted.astype(int)] != svms.predicted(problem)).sum())
        svc = 0.0
        for rows in few:
            for degree in DEGREES:
                estimator = SVC(kernel="poly", degree=int(degree), gamma=spec.gamma, coef0=1.0)
                svc += seconds(lambda e=estimator, r=rows: e.fit(X[r], y[r]).predict(X[r]))[0]
        ours.append(mine)
        ratios.append(peer / mine)
        svc_ratios.append(svc * len(groups) / len(few) / mine)
    microseconds = 1e6 * median(ours) / (len(groups) * len(DEGREES))
    return {
        "ours": microseconds,
        "pre": median(ratios),
        "svc": median(svc_ratios),
        "gap": gap,
        "differ": differ,
    }


def objective_gap(svms, problem, model, K) -> float:
    if svms.arrays["n_classes"][problem] != 2:
        return 0.0
    support, coef = model[0], model[3][0]
    value = np.abs(coef).sum() - 0.5 * coef @ K[np.ix_(support, support)] @ coef
    return float(abs(svms.pair("objective", problem)[0] - value) / value)


def whole_grids(quick: bool) -> None:
    """PolySVC.path over 9 degrees × 6 C on the papers' training parts (60 %)."""
    print("\ngrid of 9 degrees x 6 C on 60 % of the rows: fit and training predictions")
    Cs = 10.0 ** np.arange(-3, 3)
    for name in ("german_numeric", "pendigits"):
        X, y = real_or_generated(name, 2500, 24, 2 if name == "german_numeric" else 10)
        rows = np.random.default_rng(0).permutation(len(X))[: int(0.6 * len(X)) // (4 if quick else 1)]
        X, y = X[rows], y[rows]
        model = PolySVC(scale=False, gamma="auto", max_iter=200_000)
        mine, grid = seconds(lambda m=model, X=X, y=y: m.path(X, y, DEGREES, Cs))
        peer = 0.0
        for degree in DEGREES:
            for C in Cs:
                svc = SVC(kernel="poly", degree=int(degree), C=C, gamma="auto", coef0=1.0, max_iter=200_000)
                peer += seconds(lambda s=svc, X=X, y=y: s.fit(X, y).predict(X))[0]
        print(
            f"{name:15} {len(X)} rows: ours {mine:.2f} s, SVC {peer:.2f} s, ratio {peer / mine:.1f}",
            flush=True,
        )
        assert grid.converged.shape == (9, 6)


def batch_memory() -> None:
    """Peak memory that a batch adds, in a process of its own, beside what it has to hold."""
    if not CAN_MEASURE:
        return
    print(
        "\nmemory of a batch, MB: added at the peak; results with the groups they name, largest leaf kernel"
    )
    for batch in ("'german_numeric', 300, 400, 1", "'pendigits', 1112, 200, 1", "'pendigits', 1112, 200, 2"):
        code = f"from benchmarks.bench_svm import measure_batch; measure_batch({batch})"
        run = [sys.executable, "-c", code]
        print(subprocess.run(run, capture_output=True, text=True, check=True).stdout, end="", flush=True)


def measure_batch(name: str, n_leaves: int, most: int, n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    X, y = real_or_generated(name, 1000, 24, 2)
    gram = Gram(X)
    leaves = [rng.permutation(len(X))[: rng.integers(20, most)] for _ in range(n_leaves)]
    solve_many(gram, leaves[:2], y, [1], 1.0, n_jobs=n_jobs)
    peak, svms = peak_of(lambda: solve_many(gram, leaves, y, DEGREES, 1.0, n_jobs=n_jobs))
    named = (svms.points, svms.starts, svms.degree, svms.C)
    results = sum(array.nbytes for array in (*svms.arrays.values(), *named))
    kernel = 4 * max(len(rows) for rows in leaves) ** 2
    sizes = [f"{size / 2**20:.1f}" for size in (peak, results, kernel, gram.products.nbytes)]
    print(
        f"{9 * n_leaves} problems of {name}, threads: {n_jobs}: adds {sizes[0]}; results {sizes[1]}, "
        f"kernel {sizes[2]}; the Gram matrix before them {sizes[3]}"
    )


def two_threads(quick: bool) -> None:
    """Wall time of 10,000 leaf problems on one and on two threads."""
    X, y = real_or_generated("pendigits", 6000, 16, 10)
    gram, rng = Gram(X), np.random.default_rng(0)
    n_leaves = 100 if quick else 1112
    groups = [rng.permutation(len(X))[: rng.integers(20, 200)] for _ in range(n_leaves)]
    ratios = []
    for _ in range(5):
        walls = []
        for n_jobs in (1, 2):
            started = time.perf_counter()
            solve_many(gram, groups, y, DEGREES, 1.0, n_jobs=n_jobs)
            walls.append(time.perf_counter() - started)
        ratios.append(walls[0] / walls[1])
    print(f"\n{9 * n_leaves} leaf problems: two threads {median(ratios):.2f} times one ({walls[0]:.2f} s)")


def many_leaf_prediction(quick: bool) -> None:
    """New rows through 100 tasks of leaf SVMs each, against SVC leaves (extrapolated from a few)."""
    X, y = real_or_generated("pendigits", 6000, 16, 10)
    gram, rng = Gram(X), np.random.default_rng(0)
    leaves = [rng.permutation(len(X))[:120] for _ in range(200)]
    predictor = solve_many(gram, leaves, y, [3], 1.0).predictor()
    rows = X[: 500 if quick else 3000]
    assign = rng.integers(200, size=(len(rows), 100)).astype(np.int32)
    mine, codes = seconds(lambda: predictor.predict(rows, assign))
    peer, share = 0.0, 10
    for leaf in range(share):
        svc = SVC(kernel="poly", degree=3, gamma="auto", coef0=1.0).fit(X[leaves[leaf]], y[leaves[leaf]])
        where = np.flatnonzero((assign == leaf).any(axis=1))
        spent, _ = seconds(lambda s=svc, w=where: s.predict(rows[w]))
        peer += spent * (assign == leaf).sum() / len(where)
    each, ratio = 1e6 * mine / codes.size, peer * 200 / share / mine
    print(f"prediction by leaf SVMs: {each:.2f} us per vote; SVC leaves: {ratio:.1f} times that")


if __name__ == "__main__":
    main()
