"""A thousand rows of 500 classes: time of every family's fit; `predict_proba` of the mixture with 50 classes.

    python -m benchmarks many_classes

Processor seconds on one thread.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.targets import measured
from surewood import DeepCascadeSVMClassifier, PolySVC, RandomCompositeForestClassifier, SurewoodClassifier

N_ROWS, N_CLASSES, N_COLUMNS = 1000, 500, 10


def many_classes(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    """Normal clouds around centers of their own."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    return 3 * rng.normal(size=(n_classes, N_COLUMNS))[y] + rng.normal(size=(n_rows, N_COLUMNS)), y


def main(quick: bool = False) -> None:
    X, y = many_classes(200, 100) if quick else many_classes(N_ROWS, N_CLASSES)
    models = {
        "composite forest": RandomCompositeForestClassifier(random_state=0, n_jobs=1),
        "polynomial SVM": PolySVC(n_jobs=1),
        "deep cascade": DeepCascadeSVMClassifier(random_state=0, n_jobs=1),
        "mixture": SurewoodClassifier(random_state=0, n_jobs=1),
    }
    for name, model in models.items():
        started = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - started
        print(f"{name:18} {seconds:7.1f} s", flush=True)
    predict_fifty(quick)


def predict_fifty(quick: bool) -> None:
    """The fastest of five calls, after 4,000 training rows."""
    X, y = many_classes(1500 if quick else 5000, 50)
    model = SurewoodClassifier(random_state=0, n_jobs=1).fit(X[1000:], y[1000:])
    times = []
    for _ in range(5):
        started = time.process_time()
        model.predict_proba(X[:1000])
        times.append(time.process_time() - started)
    print(f"mixture, predict_proba of 1,000 rows, 50 classes: {min(times):.3f} s")
    if not quick:
        measured("50 classes", min(times))


if __name__ == "__main__":
    main()
