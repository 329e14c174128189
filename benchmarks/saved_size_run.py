"""Fit a deep forest, save it, print the bytes it takes: ours, or DF21 in its own environment.

python saved_size_run.py {ours|df21} ARRAYS.npz N_TREES N_LAYERS
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np


def folder_bytes(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def ours(X, y, n_trees, n_layers, folder):
    """A margin deep forest with DF21's forests; every layer is kept."""
    from deepforest_runs import EveryLayer

    import surewood

    study = {"patience": n_layers + 1}
    model = surewood.MarginDeepForestClassifier(
        n_trees // 5, forests=("random", "random", "extra", "extra"), depth_schedule=None,
        max_layers=n_layers, random_state=0, study={**study, "monitor": EveryLayer()},
    )  # fmt: skip
    model.fit(X, y)
    model.set_params(study=study)
    surewood.save(model, folder / "model.surewood")
    return sum(layer.n_trees for layer in model.layers_ if layer.kept)


def df21(X, y, n_trees, n_layers, folder):
    from deepforest import CascadeForestClassifier

    model = CascadeForestClassifier(
        n_estimators=2, n_trees=n_trees, max_layers=n_layers, n_tolerant_rounds=n_layers + 1, random_state=0,
        verbose=0,
    )  # fmt: skip
    model.fit(X, y)
    model.save(str(folder / "model"))
    return 4 * n_trees * len(model)


def main():
    kind, path, n_trees, n_layers = sys.argv[1:]
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    with tempfile.TemporaryDirectory() as folder:
        n = {"ours": ours, "df21": df21}[kind](X, y, int(n_trees), int(n_layers), Path(folder))
        print(json.dumps({"bytes": folder_bytes(Path(folder)), "trees": int(n)}))


if __name__ == "__main__":
    main()
