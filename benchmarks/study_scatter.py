"""Why the ratios of figure B (theory.md (4.8)) differ from the published 3.88 and 1.97.

    python -m benchmarks.study_scatter

Intra- over inter-class sums of squares of 800 training rows of HAR: all six classes, and the two that overlap
most. In the raw columns, in two-dimensional views of them, and in t-SNE views of what the second and the last
layer of mdDF read (20 trees per forest, six layers). Needs SUREWOOD_DATA.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from papers.datasets import load
from surewood import MarginDeepForestClassifier
from surewood.bounds import scatter_ratio
from surewood.deepforest.figures import representation_view

POINTS, SEED = 800, 0


def main() -> None:
    X, y = load("har").train
    rows = np.sort(np.random.default_rng(SEED).choice(len(X), POINTS, replace=False))
    values, codes = X.to_numpy(np.float64)[rows], y.to_numpy()[rows]
    views: dict[str, Any] = {
        "raw columns": values,
        "first two principal components": PCA(2).fit_transform(values),
    }
    for perplexity in (5, 30, 100):
        for start in ("pca", "random"):
            name = f"t-SNE, perplexity {perplexity}, start {start}"
            view = TSNE(2, perplexity=perplexity, init=start, random_state=SEED, n_jobs=1)
            views[name] = view.fit_transform(values)
    settings = {"max_layers": 6, "random_state": SEED, "study": {"step": "simplex", "keep_held_out": True}}
    model = MarginDeepForestClassifier.paper(n_estimators=20, **settings).fit(X, y)
    for layer in (2, len(model.staged_held_out_scores_) + 1):
        for scores_only in (False, True):
            view = representation_view(
                model, X, y, layer, scores_only=scores_only, max_points=POINTS, seed=SEED
            )
            what = "scores before" if scores_only else "input of"
            views[f"t-SNE, perplexity 30, {what} layer {layer}"] = (view.points, y.to_numpy()[view.rows])
    print("| view | (4.8) | two nearest classes |\n|---|---|---|")
    for name, view in views.items():
        points, labels = view if isinstance(view, tuple) else (view, codes)
        print(f"| {name} | {scatter_ratio(points, labels):.2f} | {nearest_pair(points, labels):.2f} |")


def nearest_pair(points: np.ndarray, codes: np.ndarray) -> float:
    """The largest (4.8) of two classes alone: those that overlap most."""
    names = np.unique(codes)
    pairs = [(a, b) for a in names for b in names if a < b]
    kept = [np.isin(codes, pair) for pair in pairs]
    return max(scatter_ratio(points[at], codes[at]) for at in kept)


if __name__ == "__main__":
    main()
