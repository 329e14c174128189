"""A deep forest as pages, plots and the command line show it; `model` is always a fitted estimator.

`report_facts` and `explanation_steps` are ``__report_facts__`` and ``__explanation_steps__`` of the
estimators; `layer_table` and `staged_margins` are what the plots of :mod:`surewood.inspect` read.

Margin ratios are HEURISTIC, held-out accuracies ESTIMATES; t-SNE distances are no metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.base import describing
from surewood.base.base import class_codes
from surewood.base.describing import Facts, ReportRows, sample_rows, take_rows
from surewood.base.wording import probabilities_text
from surewood.bounds import margin_ratio, margins, scatter_ratio
from surewood.deepforest.margins import class_margins
from surewood.parallel.progress import stage
from surewood.tables import DesignEncoder, begin_predict

MAX_ROWS = 5000  # for margins
MAX_POINTS = 400  # of a t-SNE view on a page
MIN_POINTS = 12
N_BINS = 40
_FEATURES_SHOWN = 5  # of a layer, in words
MAX_LINES = 5  # layers whose margins are drawn
SEED = 0
TONES: tuple[describing.Tone, ...] = ("main", "second", "third", "fourth", "other")


def staged_scores(model: Any, X: Any, verbose: int = 0) -> list[Floats]:
    """Uncalibrated scores of points after 1, 2, ... kept layers."""
    table = begin_predict(model, X)
    stages = []
    with stage(verbose, "predicting layer by layer", model.n_layers_) as advance:
        for scores in model.model_.staged_scores(table, model.n_jobs):
            stages.append(scores)
            advance(1)
    return stages


_PERPLEXITY = 30.0  # of scikit-learn by default


def embedded(values: Floats, seed: int, **options: Any) -> Floats:
    """A t-SNE view, (n_rows, 2)."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(_PERPLEXITY, (len(values) - 1) / 3)
    embedding = TSNE(2, perplexity=perplexity, random_state=seed, init="pca", **options)
    # A view depends on its seed, never on the threads; with few points they would wait for each other.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(embedding.fit_transform(values), dtype=np.float64)


def report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title, key figures, layers with their weights, margins and views of a fitted deep forest."""
    title, description, figures = describing.title_of(type(model)), model._description, model.model_.facts()
    if rows is None or not len(rows) or len(model.classes_) < 2:
        return describing.report_facts(title, description, figures)
    few = rows.sample(MAX_ROWS)
    stages = staged_scores(model, few.X, few.verbose)
    table = layer_table(model, few.X, few.y, stages)
    sample = "holdout" if few.is_holdout else "training rows"
    charts = _curves(model, table, sample)
    if hasattr(model, "alphas_") and int(table["kept"].sum()) > 1:
        charts.insert(min(2, len(charts)), _weights(table))
    charts.append(_margins(stages, few.codes, sample))
    sections = [describing.section("", charts)]
    views = _views(model, few, stages)
    if views:
        caption = (
            "The same rows before and after the layers have added their scores: classes should move apart."
        )
        sections.append(describing.section("What the layers see", views, caption, layout="three"))
    return describing.report_facts(title, description, figures, sections)


def layer_table(model: Any, X: Any = None, y: Any = None, stages: list[Floats] | None = None) -> pd.DataFrame:
    """One row per layer that was grown, kept or not; see :func:`surewood.inspect.layer_table`."""
    records = model.layers_
    columns: dict[str, Any] = {
        "layer": [record.layer for record in records],
        "held_out_accuracy": [record.accuracy for record in records],
        "held_out_margin_ratio": [record.margin_ratio for record in records],
        "alpha": _padded(getattr(model, "alphas_", []), len(records)),
        "effective_sample_size": [record.effective_sample_size for record in records],
        "seconds": [record.seconds for record in records],
        "kept": [record.layer <= model.n_layers_ for record in records],
    }
    if X is not None:
        codes = class_codes(model.classes_, y).astype(np.int32)
        scores = staged_scores(model, X) if stages is None else stages
        accuracy = [float((after.argmax(axis=1) == codes).mean()) for after in scores]
        columns["accuracy"] = _padded(accuracy, len(records))
        ratios = [margin_ratio(class_margins(after, codes)) for after in scores]
        columns["margin_ratio"] = _padded(ratios, len(records))
    return pd.DataFrame(columns)


def staged_margins(model: Any, X: Any, codes: NDArray[np.int64]) -> dict[str, Floats]:
    """Margins of rows after each kept layer."""
    stages = staged_scores(model, X)
    return {f"layer {t}": margins(scores, codes) for t, scores in enumerate(stages, start=1)}


def _padded(values: Any, n: int) -> list[float]:
    return [*(float(value) for value in values), *[np.nan] * (n - len(values))]


def _curves(model: Any, table: pd.DataFrame, sample: str) -> list[Facts]:
    def curve(title: str, columns: list[tuple[str, str, describing.Tone]], form: str, caption: str) -> Facts:
        lines = [
            describing.series(name, _finite(table[column]), tone)
            for column, name, tone in columns
            if column in table and np.isfinite(table[column].astype(float)).any()
        ]
        return describing.chart(
            "lines",
            title,
            [{"name": "", "x": table["layer"].tolist(), "series": lines}],
            x_title="layer",
            y_format=form,
            whole_x=True,
            mark=int(model.n_layers_),
            caption=caption,
        )

    curves = [
        curve(
            "Accuracy by layer",
            [("held_out_accuracy", "cross-validated", "second"), ("accuracy", sample, "main")],
            "percent",
            "ESTIMATES. Dotted: the last layer kept.",
        ),
        curve(
            "Margin ratio by layer",
            [("held_out_margin_ratio", "cross-validated", "second"), ("margin_ratio", sample, "main")],
            "number",
            "HEURISTIC: standard deviation of the margins over their mean; smaller is more even.",
        ),
        curve(
            "Effective sample size",
            [("effective_sample_size", "fraction", "third")],
            "percent",
            "Fraction of the rows that effectively drive this layer; low means it focuses on few.",
        ),
    ]
    # the ratio of margins may be infinite in every layer: that is no chart
    return [chart for chart in curves if chart["variants"][0]["series"]]


def _finite(values: pd.Series) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _weights(table: pd.DataFrame) -> Facts:
    kept = table[table["kept"]]
    names = [f"layer {layer}" for layer in kept["layer"]]
    return describing.chart(
        "bars",
        "Weight α of each layer",
        [{"name": "", "names": names, "series": [describing.series("α", kept["alpha"].tolist(), "fourth")]}],
        caption="Weight of each kept layer in the final score.",
    )


def _margins(stages: list[Floats], codes: NDArray[np.int64], sample: str) -> Facts:
    """Histograms of margins over common bins."""
    every = [margins(scores, codes) for scores in stages]
    low, high = min(float(v.min()) for v in every), max(float(v.max()) for v in every)
    edges = np.linspace(min(low, 0.0), max(high, 1e-9), N_BINS + 1)
    chosen = sorted({round(k) for k in np.linspace(0, len(every) - 1, min(len(every), MAX_LINES))})
    lines = []
    for tone, k in zip(TONES, chosen):
        ratio = margin_ratio(every[k])
        ratio_text = f"{ratio:.3f}" if np.isfinite(ratio) else "∞"
        name = f"layer {k + 1}: ratio {ratio_text}, {100 * np.mean(every[k] <= 0):.1f} % wrong"
        counts = np.histogram(every[k], edges)[0] / len(every[k])
        lines.append(describing.series(name, counts.tolist(), tone))
    return describing.chart(
        "lines",
        "Margins of the rows, layer by layer",
        [{"name": "", "x": ((edges[1:] + edges[:-1]) / 2).tolist(), "series": lines}],
        x_title="margin: score of the true class minus the best other",
        y_title="fraction of the rows",
        y_format="percent",
        steps=True,
        wide=True,
        caption=f"Rows of the {sample}. Left of 0 the prediction is wrong; far right it is clearly correct.",
    )


def _views(model: Any, rows: ReportRows, stages: list[Floats]) -> list[Facts]:
    """The table as it is, with the first layer's scores, and with the last layer's."""
    chosen = sample_rows(len(rows), MAX_POINTS)
    codes = rows.codes[chosen]
    if len(chosen) < MIN_POINTS or len(np.unique(codes)) < 2:
        return []
    table = begin_predict(model, take_rows(rows.X, chosen))
    features = DesignEncoder().fit(table).transform(table)
    inputs = {"What layer 1 reads: the table": features}
    for t in sorted({1, len(stages)}):
        scores = stages[t - 1][chosen]
        spread = scores.std(axis=0)
        standard = (scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        inputs[f"The table and the scores after layer {t}"] = np.hstack([features, standard])
    classes = [str(label) for label in model.classes_]
    views = []
    with stage(rows.verbose, "t-SNE views of the layers", len(inputs)) as advance:
        for name, values in inputs.items():
            views.append(_view(name, values, codes, classes))
            advance(1)
    return views


def _view(name: str, values: Floats, codes: NDArray[np.int64], classes: list[str]) -> Facts:
    plane = values if values.shape[1] > 1 else np.hstack([values, np.zeros_like(values)])
    points = np.round(embedded(plane, SEED, max_iter=500), 2)
    return describing.chart(
        "points",
        name,
        [{"name": "", "x": points[:, 0].tolist(), "y": points[:, 1].tolist(), "codes": codes.tolist()}],
        classes=classes,
        caption=f"t-SNE of {len(codes)} rows; scatter within over between classes "
        f"{scatter_ratio(values, codes):.3g}. Do not read distances as similarity.",
    )


def explanation_steps(model: Any, explained: Mapping[str, Any]) -> list[Facts]:
    """An explained prediction in words: the final score, then layer by layer vector, votes and splits."""
    lines = [
        f"all layers together  {probabilities_text(explained['votes'])}",
        f"margin of the first class over the second: {explained['margin']:.3f}",
    ]
    steps = [describing.step("Votes", lines)]
    for layer in explained["layers"]:
        lines = [f"average of its forests  {probabilities_text(layer['vector'])}"]
        votes = Counter(
            (forest["kind"].replace("_", " "), str(forest["vote"])) for forest in layer["forests"]
        )
        counted = ", ".join(f"{count} {kind} for {vote}" for (kind, vote), count in votes.items())
        lines.append(f"forests: {counted}")
        features = layer["features"][:_FEATURES_SHOWN]
        if features:
            used = ", ".join(f"{entry['feature']} ({entry['splits']:,})" for entry in features)
            lines.append(f"splits on the path, by feature: {used}")
        title = f"Layer {layer['layer']}, {100 * layer['weight']:.0f} % of the final score"
        steps.append(describing.step(title, lines))
    return steps
