"""What can join forests on wide tables of numbers, judged on training parts (docs/research/margin-forest.md).

    python -m benchmarks.study_wide_tables --sets mnist --rows 20000

Each model is fitted on `--rows` rows of the training part and scored on up to 10,000 others; the test part is
not read. Needs SUREWOOD_DATA.
"""

import time

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from benchmarks.study_files import option_parser
from papers.datasets import load
from surewood import BinnedForestClassifier
from surewood.deepforest.contrasts import _ContrastClassifier

GAMMA = 0.01  # the best of 0.01, 0.02 and 0.04 on MNIST, of columns between 0 and 1


def models(seed: int):
    yield (
        "extra-trees",
        BinnedForestClassifier(100, splitter="random", study={"bootstrap": False}, random_state=seed),
    )
    yield "random forest", BinnedForestClassifier(100, random_state=seed)
    for name, features in (("Fourier", RBFSampler), ("Nyström", Nystroem)):
        drawn = features(gamma=GAMMA, n_components=3000, random_state=seed)
        yield f"least squares, 3000 {name}", make_pipeline(MinMaxScaler(), drawn, RidgeClassifier(1e-3))
    for n_units in (1500, 3000, 6000):
        for n_steps in (0, 10):
            classifier = _ContrastClassifier(n_units, n_steps=n_steps, random_state=seed)
            yield f"{n_units} contrasts, {n_steps} steps", classifier


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("--sets", default="mnist,har,usps")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    for name in arguments.sets.split(","):
        X, y = load(name).train
        X, y = X.to_numpy(dtype=np.float64), np.asarray(y)
        order = np.random.default_rng(0).permutation(len(y))
        n_train = min(arguments.rows, len(y) * 3 // 4)
        train, validation = order[:n_train], order[n_train : n_train + 10_000]
        print(f"{name}: {n_train} rows, {len(validation)} to validate on\n")
        print("| | accuracy % | processor s |\n|---|---|---|")
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(arguments.seeds):
            for title, model in models(seed):
                started = time.process_time()
                score = model.fit(X[train], y[train]).score(X[validation], y[validation])
                found.setdefault(title, []).append((100 * score, time.process_time() - started))
        for title, results in found.items():
            score, seconds = np.mean(results, axis=0)
            print(f"| {title} | {score:.2f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
