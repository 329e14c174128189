"""Speed over time: processor times of every family as ratios to pinned peers, beside the committed run.

    make bench-quick                     # compare with benchmarks/results/quick.csv
    python -m benchmarks.quick --record  # measure and write that file, on a computer at rest

Generated tables, one thread. Ours and the peer take turns, and each counts with the least of its times: a
ratio depends little on the computer and on what else it does. One that is more than 10 % above the committed
ratio is measured a second time; if it still is, it is shown as SLOWER. The versions of the peers are pinned
in the dependency group ``bench`` and stand in the committed file.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.svm import SVC

import surewood
from benchmarks.targets import RESULTS

COMMITTED = RESULTS / "quick.csv"
PEERS = ("scikit-learn", "lightgbm")
SLOWER = 1.1  # times the committed ratio
TURNS = 5

Work = Callable[[], Any]


def works() -> dict[str, tuple[Work, Work]]:
    """Name -> ours and the peer's. A call of either takes 0.04 to 1.4 s of processor time."""
    X, y = make_classification(2000, 20, n_informative=8, n_classes=3, random_state=0)
    few, labels = X[:600], y[:600] > 0
    one = {"random_state": 0, "n_jobs": 1}
    forest = surewood.BinnedForestClassifier(100, **one)
    sklearn_forest = RandomForestClassifier(30, **one)
    boosted = lightgbm.LGBMClassifier(n_estimators=50, verbose=-1, **one)
    svc = SVC(kernel="poly", degree=3, C=1.0)
    mixture = surewood.SurewoodClassifier(**one).fit(few, labels)
    fitted, sklearn_fitted = forest.fit(X, y), RandomForestClassifier(30, **one).fit(X, y)
    many = np.repeat(X, 20, axis=0)
    row = few[:1]
    return {
        "random forest, fit": (
            lambda: surewood.BinnedForestClassifier(100, **one).fit(X, y),
            lambda: sklearn_forest.fit(X, y),
        ),
        "random forest, predict": (
            lambda: fitted.predict_proba(many),
            lambda: sklearn_fitted.predict_proba(many),
        ),
        "boosted trees, fit": (
            lambda: surewood.BoostedTreesClassifier(**one).fit(few, labels),
            lambda: boosted.fit(X, y),
        ),
        "polynomial SVM, fit": (
            lambda: surewood.PolySVC(degree=3, C=1.0).fit(X, y),
            lambda: svc.fit(X, y),
        ),
        "composite forest, fit": (
            lambda: surewood.RandomCompositeForestClassifier(**one).fit(few, labels),
            lambda: sklearn_forest.fit(X, y),
        ),
        "deep cascade, fit": (
            lambda: surewood.DeepCascadeSVMClassifier(**one).fit(few, labels),
            lambda: svc.fit(X, y),
        ),
        "margin forest, fit": (
            lambda: surewood.MarginDeepForestClassifier(**one).fit(few, labels),
            lambda: ExtraTreesClassifier(100, **one).fit(X, y),
        ),
        "mixture, fit": (
            lambda: surewood.SurewoodClassifier(**one).fit(few, labels),
            lambda: boosted.fit(X, y),
        ),
        "mixture, one row": (
            lambda: [mixture.predict_proba(row) for _ in range(100)],
            lambda: [sklearn_fitted.predict_proba(row) for _ in range(100)],
        ),
    }


def least(pair: tuple[Work, Work], turns: int = TURNS) -> tuple[float, float]:
    """Processor seconds of ours and of the peer, the least of some turns each."""
    seconds = [[timed(work) for work in pair] for _ in range(turns)]
    ours, peer = np.min(seconds, axis=0)
    return float(ours), float(peer)


def timed(work: Work) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def compare(
    name: str, measure: Callable[[], tuple[float, float]], committed: float | None
) -> tuple[float, str]:
    """The ratio and its line; what is slower is measured a second time, and the lesser times count."""
    ours, peer = measure()
    ratio = ours / peer
    if committed is not None and ratio > SLOWER * committed:
        ours, peer = np.minimum((ours, peer), measure())
        ratio = ours / peer
    line = f"{name:24} {ours:8.3f} s {peer:8.3f} s {ratio:8.2f}"
    if committed is None:
        return ratio, f"{line}        - new"
    change = ratio / committed - 1
    verdict = "SLOWER" if change > SLOWER - 1 else ""
    return ratio, f"{line} {committed:8.2f} {change:+6.0%} {verdict}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quick", description="speed over time")
    parser.add_argument("--record", action="store_true", help=f"write {COMMITTED.name}")
    record = parser.parse_args().record
    warnings.simplefilter("ignore")
    peers = {peer: version(peer) for peer in PEERS}
    committed = pd.read_csv(COMMITTED, index_col="work") if COMMITTED.exists() and not record else None
    print(f"{'processor time, least of ' + str(TURNS):24} {'ours':>10} {'peer':>10} {'ratio':>8} committed")
    ratios, slower = {}, []
    for name, pair in works().items():
        before = None if committed is None else committed["ratio"].get(name)
        ratios[name], line = compare(name, lambda pair=pair: least(pair), before)
        print(line, flush=True)
        if line.endswith("SLOWER"):
            slower.append(name)
    if record:
        rows = pd.DataFrame({"ratio": pd.Series(ratios).round(3), **peers}).rename_axis("work")
        rows.to_csv(COMMITTED)
        print(f"written to {COMMITTED}")
    elif committed is not None:
        for peer in PEERS:
            if (recorded := committed[peer].iloc[0]) != peers[peer]:
                print(f"not the pinned peer: {peer} is {peers[peer]} here, {recorded} in the committed run")
        print(f"more than 10 % SLOWER than the committed run: {', '.join(slower) or 'nothing'}")


if __name__ == "__main__":
    main()
