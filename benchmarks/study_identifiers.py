"""What does a text column of identifiers cost? Ten tables, with and without it.

    python -m benchmarks.study_identifiers [folds [estimators]]

Each estimator is fitted on the table as it is, with a column of unique identifiers, and with a column of
near-unique ones (about three rows per value), all on the same folds. Printed and written to
``results/identifiers.csv``: the error in percent and what the column adds to it. At most 1,500 rows per
table; small forests but for the margin forest and the mixture of all. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import surewood
from papers.datasets import load

TABLES = (
    "adult", "australian", "breast_cancer", "german_numeric", "ionosphere", "satimage", "sonar", "vehicle",
    "vowel", "yeast",
)  # fmt: skip
ROWS = 1500
RESULTS = Path(__file__).parent / "results" / "identifiers.csv"


def estimators() -> dict[str, Any]:
    found: dict[str, Any] = {
        "forest, best splits": surewood.BinnedForestClassifier(n_estimators=100, random_state=0),
        "forest, random splits": surewood.BinnedForestClassifier(
            n_estimators=100, splitter="random", random_state=0
        ),
        "composite forest": surewood.RandomCompositeForestClassifier(n_estimators=30, random_state=0),
        "margin forest": surewood.MarginDeepForestClassifier(random_state=0),
        "cascade of SVMs": surewood.DeepCascadeSVMClassifier(gamma_scale=1e-3, max_leaves=2, random_state=0),
        "polynomial SVM": surewood.PolySVC(degree=2),
    }
    if hasattr(surewood, "SurewoodClassifier"):
        found["SurewoodClassifier"] = surewood.SurewoodClassifier(random_state=0)
    return found


def table(name: str, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """At most ROWS rows of a data set, as a frame."""
    data = load(name)
    frame = pd.DataFrame(data.X).reset_index(drop=True)
    frame.columns = frame.columns.astype(str)
    y = np.asarray(data.y)
    rows = np.random.default_rng(seed).permutation(len(y))[:ROWS]
    return frame.iloc[rows].reset_index(drop=True), y[rows]


def variants(X: pd.DataFrame, seed: int = 0) -> dict[str, pd.DataFrame]:
    """The table without and with a column of identifiers."""
    rng = np.random.default_rng(seed)
    unique = [f"id-{k:06x}" for k in rng.permutation(16**5)[: len(X)]]
    near = [f"id-{k:06x}" for k in rng.integers(0, max(len(X) // 3, 2), len(X))]
    return {"none": X, "unique": X.assign(identifier=unique), "near-unique": X.assign(identifier=near)}


def errors(model: Any, X: pd.DataFrame, y: np.ndarray, folds: int) -> float:
    """Error in percent over the folds."""
    wrong = 0
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=1).split(X, y):
        model.fit(X.iloc[train], y[train])
        wrong += int((model.predict(X.iloc[test]) != y[test]).sum())
    return 100 * wrong / len(y)


def main(folds: int = 2, only: str = "") -> None:
    warnings.simplefilter("ignore", UserWarning)
    rows = []
    for title, model in estimators().items():
        if only and not any(title.startswith(part) for part in only.split(",")):
            continue
        for name in TABLES:
            X, y = table(name)
            found = {kind: errors(model, frame, y, folds) for kind, frame in variants(X).items()}
            rows += [(title, name, kind, error, error - found["none"]) for kind, error in found.items()]
        costs = {kind: np.mean([r[4] for r in rows if r[0] == title and r[2] == kind]) for kind in found}
        print(
            f"{title:24} unique {costs['unique']:+.2f}   near-unique {costs['near-unique']:+.2f}", flush=True
        )
    frame = pd.DataFrame(rows, columns=["estimator", "table", "identifier", "error", "cost"]).round(3)
    if RESULTS.exists():
        kept = pd.read_csv(RESULTS)
        frame = pd.concat([kept[~kept["estimator"].isin(frame["estimator"])], frame])
    RESULTS.parent.mkdir(exist_ok=True)
    frame.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main(*(kind(value) for kind, value in zip((int, str), sys.argv[1:])))
