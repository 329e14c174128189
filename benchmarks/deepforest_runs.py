"""One timed run of a cascade in a process of its own; bench_deepforest calls it, also with the peer's Python.

    python deepforest_runs.py KIND ARRAYS.npz N_TREES N_LAYERS SEED THREADS

Imports are kept inside the functions: the peer's environment has no surewood, ours has no peer.
"""

import json
import sys
import time

import numpy as np

THREADS = int(sys.argv[6]) if len(sys.argv) > 6 else 2


class EveryLayer:
    """A "scorer" that likes each layer better than the one before: all layers are grown and kept."""

    def __init__(self):
        self.calls = 0

    def __call__(self, estimator, X, y, **weights):
        self.calls += 1
        return self.calls / 1000


def ours(n_trees, n_layers, seed, keep_in_memory=True):
    """DF21's layer: two random forests and two of extra-trees, a fifth of the trees in each fold."""
    from surewood import CascadeForestClassifier

    return CascadeForestClassifier(
        n_trees // 5,
        forests=("random", "random", "extra", "extra"),
        max_layers=n_layers,
        calibrate=False,
        study={"monitor": EveryLayer(), "keep_in_memory": keep_in_memory},
        n_jobs=THREADS,
        random_state=seed,
    )


def ours_on_disk(n_trees, n_layers, seed):
    return ours(n_trees, n_layers, seed, keep_in_memory=False)


def df21(n_trees, n_layers, seed):
    from deepforest import CascadeForestClassifier

    return CascadeForestClassifier(
        n_estimators=2,
        n_trees=n_trees,
        max_layers=n_layers,
        n_tolerant_rounds=n_layers + 1,
        n_jobs=THREADS,
        random_state=seed,
        verbose=0,
    )


def ours_folds(n_trees, n_layers, seed):
    from surewood import CascadeForestClassifier

    return CascadeForestClassifier(
        n_trees,
        max_layers=n_layers,
        calibrate=False,
        study={"monitor": EveryLayer()},
        n_jobs=THREADS,
        random_state=seed,
    )


class ScikitLearnCascade:
    """The same cascade (theory.md §5) from scikit-learn's forests, written as one would."""

    def __init__(self, n_trees, n_layers, seed):
        self.n_trees, self.n_layers, self.seed = n_trees, n_layers, seed

    def forests(self):
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

        common = {"n_estimators": self.n_trees, "n_jobs": THREADS}
        for number in range(2):
            yield RandomForestClassifier(random_state=2 * self.seed + number, **common)
        for number in range(2):
            yield ExtraTreesClassifier(max_features=1, random_state=2 * self.seed + number, **common)

    def fit(self, X, y):
        from sklearn.base import clone
        from sklearn.model_selection import StratifiedKFold

        self.layers, inputs = [], X
        for layer in range(self.n_layers):
            vectors = np.zeros((4, len(y), y.max() + 1))
            folds = list(StratifiedKFold(5, shuffle=True, random_state=layer).split(inputs, y))
            models = []
            for number, forest in enumerate(self.forests()):
                for train, held in folds:
                    model = clone(forest).fit(inputs[train], y[train])
                    vectors[number, held] = model.predict_proba(inputs[held])
                    models.append(model)
            self.layers.append(models)
            inputs = np.hstack([X, *vectors])
        return self

    def predict(self, X):
        inputs = X
        for models in self.layers:
            vectors = [
                np.mean([model.predict_proba(inputs) for model in models[5 * k : 5 * k + 5]], axis=0)
                for k in range(4)
            ]
            inputs = np.hstack([X, *vectors])
        return np.mean(vectors, axis=0).argmax(axis=1)


MAKERS = {
    "ours": ours,
    "ours_on_disk": ours_on_disk,
    "df21": df21,
    "ours_folds": ours_folds,
    "sklearn_folds": ScikitLearnCascade,
}


def memory(counter):
    """A counter of the kernel, in MB. `getrusage` will not do: a program inherits the peak of its starter."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(counter))


def main():
    kind, path, n_trees, n_layers, seed = sys.argv[1:6]
    with np.load(path) as data:
        X, y, X_test, y_test = (data[name] for name in ("X", "y", "X_test", "y_test"))
    model = MAKERS[kind](int(n_trees), int(n_layers), int(seed))  # imports come before the measurement
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak counter starts again from what is in use now
    before = memory("VmRSS")
    started = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    finished = time.perf_counter()
    peak = memory("VmHWM")
    result = {
        "fit": fitted - started,
        "predict": finished - fitted,
        "accuracy": 100 * float((predicted == y_test).mean()),
        "peak_mb": peak,
        "own_mb": peak - before,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
