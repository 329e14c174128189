"""Boosted trees beside CatBoost (default) and LightGBM (300 rounds): error, log-loss, time.

    python -m benchmarks boosting

Tables and divisions are those of study_flagship, none of which chose a default; at most 4,000 rows train.
Times are processor seconds, one thread for everybody, the methods in turns. Ranks are those of two methods.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks.study_flagship import division, peers, scores
from benchmarks.targets import measured
from surewood import BoostedTreesClassifier
from surewood.workflow.peers import PeerClassifier

SETS = (
    "sonar", "ionosphere", "vehicle", "vowel", "australian", "breast_cancer", "german_numeric", "yeast",
    "a1a", "splice", "dna", "abalone", "satimage", "pendigits",
)  # fmt: skip
REPEATS = 2
PEERS = ("CatBoost", "LightGBM")


def main(quick: bool = False) -> None:
    if os.environ.get("SUREWOOD_DATA"):
        against_peers(SETS[:2] if quick else SETS, 1 if quick else REPEATS)
    else:
        print("real data: set SUREWOOD_DATA to the folder of Parquet files")
    classes_row(500 if quick else 4000)
    prediction_row(2000 if quick else 100_000)


def methods() -> dict[str, Callable[[int], Any]]:
    found: dict[str, Callable[[int], Any]] = {
        "ours": lambda seed: BoostedTreesClassifier(random_state=seed, n_jobs=1)
    }
    for name, (make, categories) in peers().items():
        if name in PEERS:
            found[name] = lambda seed, make=make, categories=categories: PeerClassifier(
                make(seed), categories
            )
    return found


def against_peers(sets: tuple[str, ...], repeats: int) -> None:
    rows = []
    for name in sets:
        for repeat in range(repeats):
            X, y, X_test, y_test = division(name, repeat)
            for method, make in methods().items():
                seconds, model = timed(lambda make=make, r=repeat, X=X, y=y: make(r).fit(X, pd.Series(y)))
                score = scores(y_test, model.classes_, model.predict_proba(X_test))
                rows.append((name, method, 100 * score["error"], score["log_loss"], seconds))
        print(
            name,
            *(f"{m} {e:.2f} % {loss:.4f} {s:.2f} s" for m, e, loss, s in _means(rows, name)),
            sep="; ",
            flush=True,
        )
    frame = pd.DataFrame(rows, columns=["set", "method", "error", "log_loss", "seconds"])
    means = frame.groupby(["set", "method"]).mean().unstack()
    print(f"\n{'':12} {'error, %':>9} {'log-loss':>9} {'rank of the two':>16} {'time, ours / its':>17}")
    ours = {name: means[name]["ours"] for name in ("error", "log_loss", "seconds")}
    for method in means["error"]:
        other = {name: means[name][method] for name in ours}
        ranks = [1 + _share(ours[name], other[name]) for name in ("error", "log_loss")]
        shown = "" if method == "ours" else f"{ranks[0]:7.2f} {ranks[1]:8.2f}"
        ratio = "" if method == "ours" else f"{(ours['seconds'] / other['seconds']).median():17.2f}"
        print(f"{method:12} {other['error'].mean():9.2f} {other['log_loss'].mean():9.4f} {shown:>16} {ratio}")


def _means(rows: list[Any], name: str) -> list[tuple[str, float, float, float]]:
    own = pd.DataFrame([row[1:] for row in rows if row[0] == name]).groupby(0, sort=False).mean()
    return [(method, *values) for method, values in zip(own.index, own.to_numpy().tolist())]


def _share(ours: pd.Series, other: pd.Series) -> float:
    """The part of the tables on which the other one is better; equal ones count half."""
    return float((other < ours).mean() + 0.5 * (other == ours).mean())


def classes_row(n_rows: int) -> None:
    """Ten classes against two on the same rows, both with as many rounds."""
    X, score = make_classification(n_rows, 20, n_informative=10, n_classes=10, random_state=0)
    seconds = {}
    for n_classes in (2, 10):
        y = score if n_classes == 10 else score % 2
        ratios = []
        for seed in range(3):
            spent, model = timed(
                lambda y=y, s=seed: BoostedTreesClassifier(200, random_state=s, n_jobs=1).fit(X, y)
            )
            ratios.append(spent / max(sum(model.n_rounds_), 1))
        seconds[n_classes] = float(np.median(ratios))
    measured("ten classes", seconds[10] / seconds[2])
    print(f"\nten classes against two, {n_rows} rows, seconds per round: {seconds[10] / seconds[2]:.2f}")


def prediction_row(n_rows: int) -> None:
    """`predict_proba` of default models, beside LightGBM with 300 rounds."""
    X, y = make_classification(n_rows + 4000, 20, n_informative=10, random_state=0)
    models = {
        name: make(0).fit(pd.DataFrame(X[:4000]), pd.Series(y[:4000])) for name, make in methods().items()
    }
    rows = pd.DataFrame(X[4000:])
    spent = {
        name: min(timed(lambda m=model: m.predict_proba(rows))[0] for _ in range(3))
        for name, model in models.items()
    }
    told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in spent.items())
    ours = models["ours"]
    if "LightGBM" in spent:
        measured("boosted prediction", spent["ours"] / spent["LightGBM"])
    print(f"predicting {n_rows} rows: {told} ({sum(ours.n_rounds_)} trees)")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = work()
    return time.process_time() - started, result


if __name__ == "__main__":
    main()
