"""A thousand rows of 500 classes: time of every family beside its own estimate.

    python -m benchmarks many_classes

Processor seconds of a fit on one thread.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from surewood import DeepCascadeSVMClassifier, PolySVC, RandomCompositeForestClassifier, SurewoodClassifier

N_ROWS, N_CLASSES, N_COLUMNS = 1000, 500, 10


def many_classes(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    """Normal clouds around centers of their own, two rows per class."""
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


if __name__ == "__main__":
    main()
