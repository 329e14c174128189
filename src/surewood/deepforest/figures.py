"""Data of the figures, as plain arrays: what the report and the reproduction draw (theory.md §4.7).

`layer_curves` is figure A: accuracy and margin ratio by layer, held-out and on given points.
`representation_view` is figure B: a t-SNE view of what a layer reads, with the scatter ratio (4.8) of the
view and of the representation. Margin ratios are HEURISTIC, held-out accuracies ESTIMATES; t-SNE distances
are no metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats, Ints
from surewood.bounds import margin_ratio, scatter_ratio
from surewood.deepforest.additive import class_margins
from surewood.parallel.progress import stage
from surewood.tables import DesignEncoder, begin_predict


def layer_curves(
    model: Any, X: Any = None, y: Any = None, stages: list[Floats] | None = None
) -> dict[str, list[float]]:
    """Accuracy and margin ratio after each layer.

    Parameters
    ----------
    model : fitted cascade
    X, y : table and labels, optional
        Points (a test set, say) to draw beside the held-out curves; they cover the kept layers.
    stages : list of ndarray, optional
        Their :func:`staged_scores`, where these are known already.

    Returns
    -------
    dict
        ``layer``, ``held_out_accuracy``, ``held_out_margin_ratio`` for all layers grown; with points also
        ``accuracy`` and ``margin_ratio`` for the layers kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood.deepforest import CascadeForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CascadeForestClassifier(5, max_layers=2, random_state=0).fit(X, y)
    >>> sorted(layer_curves(model, X, y))
    ['accuracy', 'held_out_accuracy', 'held_out_margin_ratio', 'layer', 'margin_ratio']
    """
    curves: dict[str, list[float]] = {
        "layer": [record.layer for record in model.layers_],
        "held_out_accuracy": [record.accuracy for record in model.layers_],
        "held_out_margin_ratio": [record.margin_ratio for record in model.layers_],
    }
    if X is None:
        return curves
    codes = _codes(model, y)
    curves["accuracy"], curves["margin_ratio"] = [], []
    for scores in staged_scores(model, X) if stages is None else stages:
        curves["accuracy"].append(float((scores.argmax(axis=1) == codes).mean()))
        curves["margin_ratio"].append(margin_ratio(class_margins(scores, codes)))
    return curves


def staged_scores(model: Any, X: Any, verbose: int = 0) -> list[Floats]:
    """Uncalibrated scores of points after 1, 2, ... kept layers."""
    table = begin_predict(model, X)
    stages = []
    with stage(verbose, "predicting layer by layer", model.n_layers_) as advance:
        for scores in model.model_.staged_scores(table, model.n_jobs):
            stages.append(scores)
            advance(1)
    return stages


@dataclass(frozen=True)
class RepresentationView:
    """A two-dimensional view of a representation."""

    #: The t-SNE view. Shape (n, 2).
    points: Floats
    #: Rows of the training table that are shown. Shape (n,).
    rows: Ints
    #: Intra-class over inter-class sum of squares (4.8), in the view and in the (standardised)
    #: representation.
    view_ratio: float
    original_ratio: float
    #: Of the view, which depends on it.
    seed: int


def representation(model: Any, X: Any, layer: int, scores_only: bool = False) -> Floats:
    """What layer 2, 3, ... read of the training rows: standardised numbers and held-out scores.

    `X` is the training table; `model` must have been fitted with ``study={"keep_held_out": True}``. Number
    columns and scores have mean 0 and deviation 1, categories are one-hot.
    """
    if not model.staged_held_out_scores_:
        raise ValueError(
            "the figure needs the held-out scores of every layer: fit with study={'keep_held_out': True}."
        )
    if not 2 <= layer <= len(model.staged_held_out_scores_) + 1:
        raise ValueError(
            f"layer must be between 2 and {len(model.staged_held_out_scores_) + 1}, whose inputs are known, "
            f"got {layer}."
        )
    scores = model.staged_held_out_scores_[layer - 2]
    if len(scores) != len(X):
        raise ValueError(f"X must be the training table of {len(scores)} rows, got {len(X)} rows.")
    spread = np.nanstd(scores, axis=0)
    standardised = (scores - np.nanmean(scores, axis=0)) / np.where(spread > 0, spread, 1.0)
    if scores_only:
        return np.asarray(standardised)
    table = begin_predict(model, X)
    return np.hstack([DesignEncoder().fit(table).transform(table), standardised])


def representation_view(
    model: Any,
    X: Any,
    y: Any,
    layer: int,
    *,
    scores_only: bool = False,
    max_points: int = 2000,
    perplexity: float = 30.0,
    seed: int = 0,
) -> RepresentationView:
    """A t-SNE view of what a layer reads, with (4.8) before and after.

    Parameters
    ----------
    model, X, layer, scores_only
        As for :func:`representation`.
    y : labels of the training rows
    max_points : int, default=2000
        Shown at most; a random choice of the rows.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    codes = _codes(model, y)
    features = representation(model, X, layer, scores_only)
    rows = np.flatnonzero(~np.isnan(features).any(axis=1))
    if len(rows) > max_points:
        rows = np.sort(np.random.default_rng(seed).choice(rows, max_points, replace=False))
    shown = features[rows]
    embedding = TSNE(2, perplexity=min(perplexity, (len(rows) - 1) / 3), random_state=seed, init="pca")
    with threadpool_limits(1, user_api="openmp"):  # a view depends on its seed, never on the threads
        points = np.asarray(embedding.fit_transform(shown), dtype=np.float64)
    return RepresentationView(
        points, rows, scatter_ratio(points, codes[rows]), scatter_ratio(shown, codes[rows]), seed
    )


def _codes(model: Any, y: Any) -> NDArray[np.int32]:
    """Class codes of labels that the model knows."""
    labels = np.asarray(y)
    codes = np.searchsorted(model.classes_, labels)
    known = codes < len(model.classes_)
    if not known.all() or not (np.asarray(model.classes_)[codes] == labels).all():
        raise ValueError("y has labels that the model was not trained on.")
    return codes.astype(np.int32)
