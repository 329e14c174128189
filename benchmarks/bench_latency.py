"""One row through the flagship, from an array and from a one-row frame, beside scikit-learn's random forest.

    python -m benchmarks latency

Processor time of ``predict_proba``, in alternating blocks, in milliseconds: the median and the smallest
(other programs on the computer empty the caches, which the median shows and the smallest does not). The peer
is a random forest of 100 trees on the same numbers, and, for the frame with categories, a pipeline with
one-hot columns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.targets import LIMITS_OF_ONE_ROW, measured
from surewood import SurewoodClassifier

N_ROWS, N_CALLS = 2000, 200
BLOCK, WARM_UP = 20, 5  # calls
Table = tuple[pd.DataFrame, Any]


def numbers(n_rows: int) -> Table:
    """Ten columns, four classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 10))
    scores = np.tanh(X @ rng.normal(size=(10, 5))) @ rng.normal(size=(5, 4))
    return pd.DataFrame(X).add_prefix("x"), scores.argmax(axis=1)


def categories(n_rows: int) -> Table:
    """Six columns of numbers, eight of categories, two classes."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 6))).add_prefix("x")
    effect = frame["x0"] * frame["x1"]
    for j in range(8):
        codes = rng.integers(0, 4 + 3 * j, n_rows)
        effect = effect + rng.normal(size=codes.max() + 1)[codes]
        frame[f"c{j}"] = pd.Categorical.from_codes(codes, [f"level {k}" for k in range(codes.max() + 1)])
    return frame, (effect + rng.normal(size=n_rows) > 0).astype(int)


def milliseconds(calls: dict[str, Callable[[int], Any]], n_calls: int) -> dict[str, np.ndarray]:
    """Times of calls, in alternating blocks; the first calls of a block find the caches of another model."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for start in range(0, n_calls, BLOCK):
        for name, call in calls.items():
            for i in range(start, start + BLOCK + WARM_UP):
                started = time.process_time_ns()
                call(i)
                if i >= start + WARM_UP:
                    found[name].append((time.process_time_ns() - started) / 1e6)
    return {name: np.array(times) for name, times in found.items()}


def measure(title: str, data: Table, n_calls: int) -> None:
    X, y = data
    plain = all(dtype.kind == "f" for dtype in X.dtypes)
    rows = [X.iloc[[i % len(X)]] for i in range(n_calls + BLOCK)]
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder="passthrough",
    )
    frame_peer = make_pipeline(one_hot, RandomForestClassifier(random_state=0)).fit(X, y)
    frame_model = SurewoodClassifier(random_state=0).fit(X, y)
    calls: dict[str, Callable[[int], Any]] = {
        "a frame": lambda i: frame_model.predict_proba(rows[i]),
        "a frame, scikit-learn": lambda i: frame_peer.predict_proba(rows[i]),
    }
    if plain:
        A = X.to_numpy()
        model, peer = (
            SurewoodClassifier(random_state=0).fit(A, y),
            RandomForestClassifier(random_state=0).fit(A, y),
        )
        singles = [np.ascontiguousarray(row) for row in (A[[i % len(A)]] for i in range(n_calls + BLOCK))]
        calls["an array"] = lambda i: model.predict_proba(singles[i])
        calls["an array, scikit-learn"] = lambda i: peer.predict_proba(singles[i])
    members = ", ".join(f"{name} {weight:.2f}" for name, weight in frame_model.weights_.items())
    print(f"{title} ({members})")
    for name, times in sorted(milliseconds(calls, n_calls).items()):
        limit = f"   at most {LIMITS_OF_ONE_ROW[name]:.0f}" if name in LIMITS_OF_ONE_ROW else ""
        measured(name, float(np.median(times)))
        print(
            f"  {name:24} median {np.median(times):6.2f} ms  smallest {times.min():6.2f} ms{limit}",
            flush=True,
        )


def main(quick: bool = False) -> None:
    n_rows, n_calls = (300, 20) if quick else (N_ROWS, N_CALLS)
    cancer = load_breast_cancer(as_frame=True)
    measure("breast cancer, 569 x 30", (cancer.data, cancer.target), n_calls)
    measure(f"numbers, {n_rows} x 10", numbers(n_rows), n_calls)
    measure(f"numbers and categories, {n_rows} x 14", categories(n_rows), n_calls)


if __name__ == "__main__":
    main()
