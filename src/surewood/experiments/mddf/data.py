"""Data of the mdDF paper: the official split, or a seeded random one where there is none (yeast)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from surewood.datasets import load
from surewood.experiments.protocol import Profile
from surewood.experiments.seeds import seed_of


@dataclass(frozen=True)
class Parts:
    """Training and test part of a repeat; classes as codes 0, 1, ...

    `seeds` has the seed of the models and, where the split or the rows were drawn, that of the draw.
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    X_test: pd.DataFrame
    y_test: NDArray[np.int64]
    seeds: dict[str, int]


def parts_of(dataset: str, repeat: int, profile: Profile) -> Parts:
    """The two parts; the training part thinned to the profile's ``train_rows`` (0: all)."""
    data = load(dataset)
    seeds = {"model": seed_of("mddf", dataset, repeat)}
    if data.is_divided:
        (X, y), (X_test, y_test) = data.train, data.test
    else:
        seeds["split"] = seed_of("mddf", dataset, repeat, "split")
        n_test = int(profile.get("test_rows", dataset))
        X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=n_test, random_state=seeds["split"])
    labels = np.unique(data.y)
    codes: tuple[Any, Any] = (np.searchsorted(labels, y), np.searchsorted(labels, y_test))
    rows = int(profile.get("train_rows", dataset))
    if 0 < rows < len(X):
        seeds["rows"] = seed_of("mddf", dataset, repeat, "rows")
        kept = np.arange(len(X))
        kept, _ = train_test_split(kept, train_size=rows, stratify=codes[0], random_state=seeds["rows"])
        X, codes = X.iloc[kept], (codes[0][kept], codes[1])
    return Parts(X.reset_index(drop=True), codes[0], X_test.reset_index(drop=True), codes[1], seeds)
