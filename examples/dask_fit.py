"""A margin deep forest on Dask: the same model, tree for tree, as on this computer alone.

    python examples/dask_fit.py                       # a cluster of two processes on this computer
    python examples/dask_fit.py tcp://scheduler:8786  # yours

Needs ``pip install 'surewood[dask]'`` here and surewood on the workers.
"""

import sys
import time

import numpy as np
from distributed import LocalCluster
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from surewood import MarginDeepForestClassifier
from surewood.parallel import cluster


def fit_and_score(name: str) -> np.ndarray:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = MarginDeepForestClassifier(n_estimators=50, max_layers=3, random_state=0)
    started = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    print(f"{name}: {seconds:.1f} s, accuracy on held-out digits {model.score(X_test, y_test):.4f}")
    return model.predict_proba(X_test)


def on_dask(address: str) -> np.ndarray:
    with cluster(address) as client:  # joblib.parallel_config("dask") inside
        print(f"{len(client.nthreads())} workers at {address}")
        return fit_and_score("Dask")


def main() -> None:
    here = fit_and_score("one thread here")
    if len(sys.argv) > 1:
        there = on_dask(sys.argv[1])
    else:
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local:
            there = on_dask(local.scheduler_address)
    print("the same probabilities, bit for bit:", bool((here == there).all()))


if __name__ == "__main__":  # worker processes import this file
    main()
