"""Large tables: processor time of default fits, and a million rows within a time limit beside LightGBM.

    python -m benchmarks large                   # 100,000 x 20, three classes: composite forest, mixture
    python -m benchmarks.bench_large --million   # a million rows x 40, time_limit=600, beside LightGBM
    python -m benchmarks.bench_large --growth    # each member alone on 51,000, 102,000 and 204,000 rows

Processor seconds on one thread (the million: two), test error and log-loss on other rows of the same law, and
what each member of the mixture took. The million rows need LightGBM (``surewood[peers]``). Growth is measured
with members as the mixture builds them, but few trees, and written to results/large_growth.csv.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.study_files import append_rows
from benchmarks.targets import LIMITS_OF_LARGE_FITS, measured
from surewood import RandomCompositeForestClassifier, SurewoodClassifier
from surewood.mixture.plan import LARGE_TABLE, NAMES, build

N_MILLION, N_COLUMNS, N_TEST, TIME_LIMIT = 1_000_000, 40, 50_000, 600


def synthetic(n_rows: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """20 columns, three classes, 10,000 test rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + 10_000, 20))
    hidden = np.tanh(X @ rng.normal(size=(20, 8)) / 3)
    scores = hidden @ rng.normal(size=(8, 3)) * 2 + rng.gumbel(size=(len(X), 3)) * 0.5
    y = scores.argmax(axis=1)
    return X[10_000:], y[10_000:], X[:10_000], y[:10_000]


def million(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Forty columns, two classes: products and steps of a few columns; a tenth of the labels is flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
    X[:, 20:30] = np.round(X[:, 20:30] * 2)  # columns of whole numbers
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + (X[:, 3] > 0.5) * X[:, 4] + 0.3 * X[:, 5:12].sum(axis=1)
    score += 0.5 * np.abs(X[:, 20]) - 0.25 * X[:, 21] * (X[:, 22] > 0)
    y = (score > np.median(score)) ^ (rng.random(n_rows) < 0.1)
    return X, y.astype(np.int8)


def measure(title: str, model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> float:
    """Print time and scores; gives the processor seconds."""
    started, clock = time.process_time(), time.perf_counter()
    model.fit(X, y)
    seconds, wall = time.process_time() - started, time.perf_counter() - clock
    proba = model.predict_proba(X_test)
    error = 100 * float((model.classes_[proba.argmax(axis=1)] != y_test).mean())
    loss = log_loss(y_test, proba, labels=model.classes_)
    print(f"{title:18} {seconds:7.1f} s of processor time, {wall:6.1f} s by the clock, error {error:.2f} %, "
          f"log-loss {loss:.4f}", flush=True)  # fmt: skip
    for member in getattr(model, "members_", []):
        told = f"{member.seconds:6.1f} s by the clock, weight {member.weight:.2f}  {member.note}"
        print(f"    {member.name:18} {told}", flush=True)
    return seconds


def main(quick: bool = False) -> None:
    data = synthetic(5000 if quick else 100_000, 0)
    models = {
        "composite forest": RandomCompositeForestClassifier(random_state=0, n_jobs=1),
        "mixture": SurewoodClassifier(random_state=0, n_jobs=1),
    }
    for name, model in models.items():
        seconds = measure(name, model, *data)
        if not quick:
            print(f"    target: at most {LIMITS_OF_LARGE_FITS[name]} s of processor time")
            measured(name, seconds)


def main_million(n_rows: int = N_MILLION, time_limit: float = TIME_LIMIT) -> None:
    from lightgbm import LGBMClassifier

    X, y = million(n_rows + N_TEST, 0)
    data = X[N_TEST:], y[N_TEST:], X[:N_TEST], y[:N_TEST]
    measure("LightGBM", LGBMClassifier(n_jobs=2, verbose=-1), *data)
    model = SurewoodClassifier(random_state=0, n_jobs=2, time_limit=time_limit)
    measure(f"mixture, {time_limit:g} s", model, *data)


GROWTH = Path(__file__).parent / "results" / "large_growth.csv"
FEW_TREES = 5  # `n_estimators` of the mixture; plain forests and boosting have three times as many


def main_growth(names: list[str], first: int = LARGE_TABLE + 1000) -> None:
    """Processor time of each member alone as the rows double, with the rules for large tables in force."""
    fields = ("member", "rows", "trees", "seconds", "times_before", "error")
    for name in names:
        before = math.nan
        for n_rows in (first, 2 * first, 4 * first):
            X, y, X_test, y_test = synthetic(n_rows, 0)
            model: Any = build(name, FEW_TREES, 0.0, {"random_state": 0, "n_jobs": 1}, n_rows)
            started = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - started
            error = 100 * float((model.predict(X_test) != y_test).mean())
            row = [name, n_rows, FEW_TREES, f"{seconds:.2f}", f"{seconds / before:.2f}", f"{error:.2f}"]
            append_rows(GROWTH, fields, [dict(zip(fields, row))])
            print(*row, flush=True)
            before = seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--growth", nargs="*", metavar="MEMBER", help="all members unless some are named")
    arguments = parser.parse_args()
    if arguments.growth is not None:
        main_growth(arguments.growth or list(NAMES), *((2000,) if arguments.quick else ()))
    elif arguments.million:
        main_million(*((20_000, 20.0) if arguments.quick else ()))
    else:
        main(arguments.quick)
