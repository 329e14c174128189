"""Folds against out-of-bag vectors: accuracy and time of one margin forest (docs/research/margin-forest.md).

    python -m benchmarks.study_cross_fit --sets yeast,satimage,letter

The published block, the same number of trees a forest, so out-of-bag has five times fewer trees a layer; and
with five times the trees, which makes the work equal. Needs SUREWOOD_DATA.
"""

import time

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.study_files import repeated_parser
from papers.datasets import load
from surewood import MarginDeepForestClassifier
from surewood.deepforest.forests import PUBLISHED

TREES = {"yeast": 100, "german_numeric": 100, "satimage": 50, "letter": 20, "adult": 20}
VARIANTS = (("kfold", 1), ("oob", 1), ("oob", 5))


def parts(name: str, seed: int):
    data = load(name)
    if data.is_divided:
        return *data.train, *data.test
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.3, random_state=seed)
    return X, y, X_test, y_test


def main() -> None:
    arguments = repeated_parser(__doc__, TREES, seeds=3).parse_args()
    print(
        "| data, trees a forest | 5 folds | out-of-bag | out-of-bag, 5 times the trees |\n|---|---|---|---|"
    )
    for name in arguments.sets.split(","):
        cells = []
        for cross_fit, times in VARIANTS:
            scores, seconds = [], []
            for seed in range(arguments.seeds):
                X, y, X_test, y_test = parts(name, seed)
                model = MarginDeepForestClassifier(
                    TREES[name] * times,
                    forests=PUBLISHED,
                    study={"cross_fit": cross_fit},
                    n_jobs=arguments.n_jobs,
                    random_state=seed,
                )
                started = time.perf_counter()
                scores.append(model.fit(X, y).score(X_test, y_test))
                seconds.append(time.perf_counter() - started)
            cells.append(f"{100 * np.mean(scores):.2f} ({np.mean(seconds):.1f} s)")
        print(f"| {name}, {TREES[name]} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
