"""Would other defaults suit small tables better? Judged on training parts alone.

    python -m benchmarks.study_small_tables [splits [sets]]

Every variant is fitted on four fifths of the training part and scored on the last fifth; what is printed is
the mean difference from the defaults over the splits, with its standard error. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from papers.datasets import load
from surewood import MarginDeepForestClassifier

PUBLISHED = ("random", "random", "completely_random", "completely_random")
VARIANTS: dict[str, dict[str, Any]] = {
    "10 folds": {"cv": 10},
    "300 trees a forest": {"n_estimators": 300},
    "published block": {"forests": PUBLISHED},
    "log loss monitored": {"study": {"monitor": "neg_log_loss"}},
    "no reweighting": {"study": {"reweighting": "none"}},
}


def training_part(name: str, seed: int) -> tuple[Any, Any]:
    """The official one; 70 % of yeast, which has none."""
    data = load(name)
    if name != "yeast":
        return data.train
    X, _, y, _ = train_test_split(data.X, data.y, test_size=0.3, random_state=seed)
    return X, y


def accuracy(parts: tuple[Any, ...], seed: int, **options: Any) -> float:
    X, X_held, y, y_held = parts
    return 100 * MarginDeepForestClassifier(random_state=seed, **options).fit(X, y).score(X_held, y_held)


def main(splits: int = 4, sets: str = "satimage,yeast") -> None:
    warnings.simplefilter("ignore", UserWarning)  # yeast has classes with fewer rows than folds
    for name in sets.split(","):
        gains: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
        for seed in range(splits):
            parts = tuple(
                train_test_split(*training_part(name, seed), test_size=0.2, random_state=1000 + seed)
            )
            default = accuracy(parts, seed)
            for variant, options in VARIANTS.items():
                gains[variant].append(accuracy(parts, seed, **options) - default)
        for variant, values in gains.items():
            error = np.std(values, ddof=1) / np.sqrt(splits) if splits > 1 else float("nan")
            print(
                f"{name:10}{variant:22}{np.mean(values):+7.2f} ± {error:.2f}  ({splits} splits)", flush=True
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
