"""Which forests a layer should have: the blocks that "auto" compares (docs/research/margin-forest.md).

    python -m benchmarks.study_blocks --sets satimage,dna,yeast

Held-out accuracy of the first layer and of the kept model, and test accuracy. Sets without an official split
are divided 70/30, larger training parts are thinned to 8,000 rows. Needs SUREWOOD_DATA.
"""

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.study_files import repeated_parser
from papers.datasets import load
from surewood import MarginDeepForestClassifier
from surewood.deepforest.forests import AUTO_BLOCKS

SETS = ("satimage", "pendigits", "letter", "dna", "splice", "vehicle", "german_numeric", "yeast", "vowel")
MOST_ROWS = 8000


def parts(name: str, seed: int):
    data = load(name)
    if data.is_divided:
        (X, y), (X_test, y_test) = data.train, data.test
    else:
        X, X_test, y, y_test = train_test_split(
            data.X, data.y, test_size=0.3, random_state=seed, stratify=data.y
        )
    if len(X) > MOST_ROWS:
        rows = np.random.default_rng(seed).choice(len(X), MOST_ROWS, replace=False)
        X, y = X.iloc[rows], y.iloc[rows]
    return X, y, X_test, y_test


def main() -> None:
    parser = repeated_parser(__doc__, SETS, seeds=2)
    parser.add_argument("--trees", type=int, default=50)
    arguments = parser.parse_args()
    names = ["".join(kind[0].upper() for kind in block) for block in AUTO_BLOCKS]
    print("| data | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for name in arguments.sets.split(","):
        cells = []
        for block in AUTO_BLOCKS:
            found = []
            for seed in range(arguments.seeds):
                X, y, X_test, y_test = parts(name, seed)
                model = MarginDeepForestClassifier(
                    arguments.trees,
                    forests=block,
                    depth_schedule=16,
                    n_jobs=arguments.n_jobs,
                    random_state=seed,
                ).fit(X, y)
                kept = model.layers_[model.n_layers_ - 1].accuracy
                found.append((model.layers_[0].accuracy, kept, model.score(X_test, y_test)))
            cells.append(" / ".join(f"{100 * value:.1f}" for value in np.mean(found, axis=0)))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
