"""Why the ratios of figure B (theory.md (4.8)) differ from the published 3.88 and 1.97.

    python -m benchmarks.study_scatter

Intra- over inter-class sums of squares in t-SNE views of 800 training rows of HAR: of the raw columns, and of
what layers 2 and 11 read in the paper's algorithm and in the authors' program (papers/mddf/program.py), with
20 trees per forest. All six classes, and the two that overlap most. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE

from papers.datasets import load
from papers.mddf.program import ProgramForest
from surewood import MarginDeepForestClassifier
from surewood.bounds import scatter_ratio

POINTS, SEED, TREES, LAYERS = 800, 0, 20, (1, 10)
Floats = NDArray[np.float64]


def main() -> None:
    X, y = load("har").train
    values, codes = X.to_numpy(np.float64), np.unique(y, return_inverse=True)[1]
    views = {"raw columns": values}
    settings = {"step": "simplex", "patience": max(LAYERS), "keep_held_out": True}
    model = MarginDeepForestClassifier.paper(n_estimators=TREES, random_state=SEED, study=settings).fit(X, y)
    for layers in LAYERS:
        scores = model.staged_held_out_scores_[layers - 1]
        views[f"paper, input of layer {layers + 1}"] = np.hstack([values, scores])
        views[f"paper, scores after layer {layers}"] = scores
    for layers in LAYERS:
        forest = ProgramForest(TREES, 4, SEED, n_layers=layers).fit(values, codes)
        views[f"program, input of layer {layers + 1}"] = forest.next_inputs
        views[f"program, scores after layer {layers}"] = forest.next_inputs[:, values.shape[1] :]
    print("| t-SNE view | six classes | the two classes that overlap most |\n|---|---|---|")
    rows = np.sort(np.random.default_rng(SEED).choice(len(X), POINTS, replace=False))
    for name, shown in views.items():
        points = TSNE(2, init="pca", random_state=SEED).fit_transform(shown[rows].astype(np.float32))
        nearest = nearest_pair(points, codes[rows])
        print(f"| {name} | {scatter_ratio(points, codes[rows]):.3f} | {nearest:.2f} |", flush=True)


def nearest_pair(points: Floats, codes: NDArray[np.int64]) -> float:
    """The largest (4.8) of two classes alone: those that overlap most."""
    names = np.unique(codes)
    pairs = [(a, b) for a in names for b in names if a < b]
    kept = [np.isin(codes, pair) for pair in pairs]
    return max(scatter_ratio(points[at], codes[at]) for at in kept)


if __name__ == "__main__":
    main()
