"""One default fit of a composite forest, in a process of its own: `bench_composite --default-time` starts it.

    python benchmarks/composite_time_run.py letter 8000 1

prints training rows, processor seconds, test error (%), log-loss and the weight of the plain trees. The
installed package, or the source folder in PYTHONPATH, is measured. The first fifth of a permutation is the
test part.
"""

import sys
import time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from papers.datasets import load
from surewood import RandomCompositeForestClassifier

Part = tuple[Any, Any, Any, Any]


def synthetic(n_rows: int, seed: int) -> Part:
    """20 columns, three classes, 10,000 test rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + 10_000, 20))
    hidden = np.tanh(X @ rng.normal(size=(20, 8)) / 3)
    scores = hidden @ rng.normal(size=(8, 3)) * 2 + rng.gumbel(size=(len(X), 3)) * 0.5
    y = scores.argmax(axis=1)
    return X[10_000:], y[10_000:], X[:10_000], y[:10_000]


def divided(name: str, most: int, seed: int) -> Part:
    """At most `most` training rows (0: all), at most 4,000 test rows."""
    if name == "synthetic":
        return synthetic(most, seed)
    loaded = load(name)
    order = np.random.default_rng([seed, 77]).permutation(len(loaded.y))
    held, rows = np.split(order, [len(order) // 5])
    held, rows = held[:4000], rows[: most or None]
    return loaded.X.iloc[rows], loaded.y.iloc[rows], loaded.X.iloc[held], loaded.y.iloc[held]


def main(name: str, most: int, seed: int) -> None:
    X, y, X_held, y_held = divided(name, most, seed)
    model = RandomCompositeForestClassifier(random_state=seed, n_jobs=1)
    started = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - started
    proba = model.predict_proba(X_held)
    error = 100 * float((model.classes_[proba.argmax(axis=1)] != np.asarray(y_held)).mean())
    weight = getattr(model, "plain_weight_", None)
    weight = model.plain_share_ if weight is None else weight  # its name in older versions
    loss = log_loss(y_held, proba, labels=model.classes_)
    print(f"{len(y)},{seconds:.3f},{error:.3f},{loss:.4f},{weight}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
