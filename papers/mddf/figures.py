"""Figures A and B of the mdDF paper for HAR (theory.md §4.7): data of the record, and the pictures.

Figure A: accuracy and margin ratio after each layer, held-out and on the test part. Figure B: t-SNE views of
what an early and a late layer read, with the ratio (4.8) in the view and in the representation itself. The
curves and ratios are small and survive in ``results.csv``; the points of the views are in ``results.jsonl``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from papers.mddf.methods import Parts, fit_quietly
from surewood._arrays import Floats, Ints
from surewood.bounds import scatter_ratio
from surewood.deepforest.report_facts import embedded
from surewood.report.charts import CLASS_COLORS, Axis, Plot, figure, fitted_axis
from surewood.tables import DesignEncoder, begin_predict

FIGURES = "figures"
PUBLISHED_RATIOS = (3.88, 1.97)
CURVES = ("layer", "held_out_accuracy", "held_out_margin_ratio", "accuracy", "margin_ratio")


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


def representation(model: Any, X: Any, layer: int, scores_only: bool = False) -> Floats:
    """What layer 2, 3, ... read of the training rows: standardised numbers and held-out scores.

    `X` is the training table; `model` was fitted with ``study={"keep_held_out": True}``. Number columns and
    scores have mean 0 and deviation 1, categories are one-hot.
    """
    scores = model.staged_held_out_scores_[layer - 2]
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
    seed: int = 0,
) -> RepresentationView:
    """A t-SNE view of what a layer reads of the training rows, at most `max_points`, with (4.8)."""
    features = representation(model, X, layer, scores_only)
    rows = np.flatnonzero(~np.isnan(features).any(axis=1))
    if len(rows) > max_points:
        rows = np.sort(np.random.default_rng(seed).choice(rows, max_points, replace=False))
    shown, labels = features[rows], np.asarray(y)[rows]
    points = embedded(shown, seed)
    return RepresentationView(points, rows, scatter_ratio(points, labels), scatter_ratio(shown, labels))


def figure_record(model: Any, parts: Parts, n_points: int) -> dict[str, Any]:
    """Fit mdDF once more with all its held-out scores kept, and take the data of both figures."""
    started = time.process_time()
    model.set_params(study={**(model.study or {}), "keep_held_out": True})
    fit_quietly(model, parts.X, parts.y)
    curves = model.layer_table(parts.X_test, parts.y_test)[list(CURVES)]
    rounded = {name: curves[name].dropna().round(5).tolist() for name in CURVES}
    seed = parts.seeds["model"]
    last = len(model.staged_held_out_scores_) + 1  # what a next layer would read: all the scores there are
    views, metrics = [], {}
    for when, layer in (("early", 2), ("late", last)):
        for scores_only in (False, True):
            view = representation_view(
                model, parts.X, parts.y, layer, scores_only=scores_only, max_points=n_points, seed=seed
            )
            what = f"{when}_scores" if scores_only else when
            metrics[f"{what}_view_ratio"] = view.view_ratio
            metrics[f"{what}_ratio"] = view.original_ratio
            if not scores_only:
                views.append(_plain_view(when, layer, view, parts))
    return {
        "method": FIGURES,
        "metrics": metrics,
        "chosen": {
            "curves": rounded,
            "kept": model.n_layers_,
            "late_layer": last,
        },
        "figure": {"views": views},
        "seconds": time.process_time() - started,
        "seeds": {**parts.seeds, "view": seed},
    }


def _plain_view(when: str, layer: int, view: Any, parts: Parts) -> dict[str, Any]:
    return {
        "when": when,
        "layer": layer,
        "points": np.round(view.points, 2).tolist(),
        "classes": parts.y[view.rows].tolist(),
    }


def figures(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pictures that the records have data for, as figures of :mod:`surewood.report.charts`."""
    found = [record for record in records if record["method"] == FIGURES]
    if not found:
        return []
    record = found[0]
    drawn = [_figure_a(record)]
    if record.get("figure", {}).get("views"):
        drawn.append(_figure_b(record))
    return drawn


def _figure_a(record: dict[str, Any]) -> dict[str, Any]:
    curves, kept = record["chosen"]["curves"], record["chosen"]["kept"]
    layers = curves["layer"]
    accuracy = _curve_plot(layers, curves, ("held_out_accuracy", "accuracy"), "percent", "accuracy", "leaf")
    ratio = _curve_plot(
        layers, curves, ("held_out_margin_ratio", "margin_ratio"), "number", "margin ratio", "sky"
    )
    note = (
        f"HAR, one seed; {kept} of {len(layers)} layers are kept, and the test curves end there. Held-out "
        "accuracies are ESTIMATES, margin ratios HEURISTIC."
    )
    title = "Figure A: accuracy and margin ratio by layer"
    return figure(title, _side_by_side([accuracy, ratio]), caption=note)


def _curve_plot(
    layers: list[int], curves: dict[str, Any], keys: tuple[str, str], kind: Any, title: str, color: str
) -> Markup:
    """Held-out values as a line, test values dashed."""
    values = [value for key in keys for value in curves[key]]
    plot = Plot(fitted_axis(layers, title="layer", whole=True), fitted_axis(values, kind, title))
    for key, name, dashed in ((keys[0], "held-out", False), (keys[1], "test", True)):
        plot.line(layers[: len(curves[key])], curves[key], color, name=f"{name} {title}", dashed=dashed)
    return plot.render()


def _side_by_side(drawings: list[Markup]) -> Markup:
    inside = Markup("").join(Markup("<div>{}</div>").format(one) for one in drawings)
    return Markup('<div class="grid">{}</div>').format(inside)


def _figure_b(record: dict[str, Any]) -> dict[str, Any]:
    metrics, views = record["metrics"], record["figure"]["views"]
    drawings = []
    for view in views:
        points, classes = np.array(view["points"]), np.array(view["classes"])
        ends = fitted_axis(points[:, 0]), fitted_axis(points[:, 1])
        plot = Plot(
            *(
                Axis(one.low, one.high, "none", f"input of layer {view['layer']}" * (one is ends[0]))
                for one in ends
            )
        )
        for code in np.unique(classes).tolist():
            mine = points[classes == code]
            color = CLASS_COLORS[int(code) % len(CLASS_COLORS)]
            plot.points(mine[:, 0].tolist(), mine[:, 1].tolist(), color, size=4.5, name=f"class {code}")
        drawings.append(plot.render())
    note = (
        f"Intra- over inter-class scatter (4.8) in the view: {metrics['early_view_ratio']:.2f} → "
        f"{metrics['late_view_ratio']:.2f} (published {PUBLISHED_RATIOS[0]} → {PUBLISHED_RATIOS[1]}); in the "
        f"representation itself {metrics['early_ratio']:.2f} → {metrics['late_ratio']:.2f}; of the scores "
        f"alone {metrics['early_scores_ratio']:.2f} → {metrics['late_scores_ratio']:.2f}. "
        f"{len(views[0]['points'])} training points; t-SNE seed {record['seeds']['view']}; t-SNE distances "
        "are no metric."
    )
    title = "Figure B: what an early and a late layer read, by t-SNE"
    return figure(title, _side_by_side(drawings), caption=note)
