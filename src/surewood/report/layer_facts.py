"""A deep forest as plain values: layers, margins a layer, t-SNE views of what layers read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from surewood._arrays import Floats
from surewood.bounds import margin_ratio, margins, scatter_ratio
from surewood.deepforest.figures import staged_scores
from surewood.inspect import layer_table
from surewood.inspect.families import family_of
from surewood.parallel.progress import stage
from surewood.report.plain import plain
from surewood.report.subsample import subsample, take
from surewood.tables import DesignEncoder, begin_predict

__all__ = ["layer_facts"]

MAX_ROWS = 5000  # for margins
MAX_POINTS = 400  # of a t-SNE view
MIN_POINTS = 12
N_BINS = 40
SEED = 0


def layer_facts(
    model: Any, X: Any, y: Any, codes: NDArray[np.int64], *, is_holdout: bool, verbose: int = 0
) -> dict[str, Any]:
    """Facts of a fitted margin or cascade forest on some rows."""
    rows = subsample(len(codes), MAX_ROWS)
    X, y, codes = take(X, rows), np.asarray(y)[rows], codes[rows]
    stages = staged_scores(model, X, verbose)
    table = layer_table(model, X, y, stages)
    return plain(
        {
            "kind": "layers",
            "margin_forest": family_of(model) == "margin_forest",
            "n_layers": model.n_layers_,
            "n_grown": len(model.layers_),
            "n_trees": sum(record.n_trees for record in model.layers_[: model.n_layers_]),
            "is_holdout": is_holdout,
            "n_rows": len(rows),
            "layers": table.to_dict("records"),
            "margins": _margins(stages, codes),
            "views": _views(model, X, stages, codes, verbose),
            "classes": [str(label) for label in model.classes_],
        }
    )


def _margins(stages: list[Floats], codes: NDArray[np.int64]) -> dict[str, Any]:
    """Histograms over common bins, shares of the points."""
    every = [margins(scores, codes) for scores in stages]
    low, high = (f(float(f(values)) for values in every) for f in (min, max))
    edges = np.linspace(min(low, 0.0), max(high, 1e-9), N_BINS + 1)
    layers = [
        {
            "layer": t,
            "shares": np.histogram(values, edges)[0] / len(values),
            "ratio": margin_ratio(values),
            "mean": float(values.mean()),
            "not_positive": float(np.mean(values <= 0)),
        }
        for t, values in enumerate(every, start=1)
    ]
    return {"edges": edges, "layers": layers}


def _views(
    model: Any, X: Any, stages: list[Floats], codes: NDArray[np.int64], verbose: int
) -> list[dict[str, Any]]:
    """The table as it comes, with the first layer's scores, and with the last layer's."""
    rows = subsample(len(codes), MAX_POINTS)
    if len(rows) < MIN_POINTS or len(np.unique(codes[rows])) < 2:
        return []
    table = begin_predict(model, take(X, rows))
    features = DesignEncoder().fit(table).transform(table)
    last = len(stages)
    chosen = {"what layer 1 reads: the table": features}
    for t in sorted({1, last}):
        scores = stages[t - 1][rows]
        spread = scores.std(axis=0)
        standard = (scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        chosen[f"the table and the scores after layer {t}"] = np.hstack([features, standard])
    views = []
    with stage(verbose, "t-SNE views of the layers", len(chosen)) as advance:
        for name, values in chosen.items():
            views.append(_view(name, values, codes[rows]))
            advance(1)
    return views


def _view(name: str, values: Floats, codes: NDArray[np.int64]) -> dict[str, Any]:
    perplexity = min(30.0, (len(codes) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, random_state=SEED, init="pca", max_iter=500)
    # Few points: OpenMP threads would wait for each other, for seconds where other programs run.
    with threadpool_limits(1, user_api="openmp"):
        points = tsne.fit_transform(values)
    return {
        "name": name,
        "x": np.round(points[:, 0].astype(float), 2),
        "y": np.round(points[:, 1].astype(float), 2),
        "codes": codes,
        "scatter_ratio": scatter_ratio(values, codes),
    }
