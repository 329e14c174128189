"""The grid of a random composite forest on Ray: the same choice and the same forest as on this computer.

    python examples/ray_fit.py                     # a Ray of two cores on this computer
    python examples/ray_fit.py ray://head:10001    # yours; "auto" on one of its nodes

Needs ``pip install 'surewood[ray]'`` here and surewood on the workers.
"""

import sys
import time

import joblib
import numpy as np
import ray
from ray.util.joblib import register_ray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from surewood import RandomCompositeForestClassifierCV


def fit_and_score(name: str) -> np.ndarray:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    search = RandomCompositeForestClassifierCV(n_estimators=(10, 20), max_depth=(1, 2, 3), random_state=0)
    started = time.perf_counter()
    search.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    print(f"{name}: {seconds:.1f} s, chose {search.best_params_}")
    print(f"  accuracy on held-out digits {search.score(X_test, y_test):.4f}")
    return search.predict_proba(X_test)


def main() -> None:
    here = fit_and_score("one thread here")
    if len(sys.argv) > 1:
        ray.init(sys.argv[1], log_to_driver=False)
    else:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    register_ray()
    with joblib.parallel_config("ray"):
        there = fit_and_score("Ray")
    ray.shutdown()
    print("the same probabilities, bit for bit:", bool((here == there).all()))


if __name__ == "__main__":
    main()
