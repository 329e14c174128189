"""A deep forest as pages, plots and the command line show it.

`margin_report_facts` and `cascade_report_facts` are ``__report_facts__`` of the estimators;
`layer_table` and `staged_margins` are what the plots of :mod:`surewood.inspect` read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.bounds import margin_ratio, margins, scatter_ratio
from surewood.deepforest.figures import layer_curves, staged_scores
from surewood.estimators import describing
from surewood.estimators.describing import Facts, ReportRows, sample_rows, take_rows
from surewood.parallel.progress import stage
from surewood.tables import DesignEncoder, begin_predict

MAX_ROWS = 5000  # for margins
MAX_POINTS = 400  # of a t-SNE view
MIN_POINTS = 12
N_BINS = 40
MAX_LINES = 5  # layers whose margins are drawn
SEED = 0
MARGIN_DESCRIPTION = "Layers of forests; each layer focuses on rows that the layers before found difficult."
CASCADE_DESCRIPTION = (
    "Layers of forests; each layer reads the table and the class vectors of the layer before."
)
TONES: tuple[describing.Tone, ...] = ("main", "second", "third", "fourth", "other")


def margin_report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title, key figures, layers with their weights, margins and views of a fitted margin forest."""
    return _report_facts(model, rows, MARGIN_DESCRIPTION, weighted=True)


def cascade_report_facts(model: Any, rows: ReportRows | None = None) -> Facts:
    """Title, key figures, layers, margins and views of a fitted cascade forest."""
    return _report_facts(model, rows, CASCADE_DESCRIPTION, weighted=False)


def _report_facts(model: Any, rows: ReportRows | None, description: str, weighted: bool) -> Facts:
    title, figures = describing.title_of(type(model)), _figures(model)
    if rows is None or not len(rows) or len(model.classes_) < 2:
        return describing.report_facts(title, description, figures)
    few = rows.sample(MAX_ROWS)
    stages = staged_scores(model, few.X, few.verbose)
    table = layer_table(model, few.X, few.y, stages)
    sample = "holdout" if few.is_holdout else "training rows"
    charts = _curves(model, table, sample)
    if weighted and int(table["kept"].sum()) > 1:
        charts.insert(min(2, len(charts)), _weights(table))
    charts.append(_margins(stages, few.codes, sample))
    sections = [describing.section("", charts)]
    views = _views(model, few, stages)
    if views:
        told = "The same rows before and after the layers have added their scores: classes should move apart."
        sections.append(describing.section("What the layers see", views, told, layout="three"))
    return describing.report_facts(title, description, figures, sections)


def layer_table(model: Any, X: Any = None, y: Any = None, stages: list[Floats] | None = None) -> pd.DataFrame:
    """One row per layer that was grown, kept or not; see :func:`surewood.inspect.layer_table`."""
    curves = layer_curves(model, X, y, stages)
    records = model.layers_
    table = pd.DataFrame(
        {name: curves[name] for name in ("layer", "held_out_accuracy", "held_out_margin_ratio")}
    )
    table["alpha"] = _padded(getattr(model, "alphas_", []), len(records))
    table["effective_sample_size"] = [record.effective_sample_size for record in records]
    table["seconds"] = [record.seconds for record in records]
    table["kept"] = [record.layer <= model.n_layers_ for record in records]
    for name in ("accuracy", "margin_ratio"):
        if name in curves:
            table[name] = _padded(curves[name], len(records))
    return table


def staged_margins(model: Any, X: Any, codes: NDArray[np.int64]) -> dict[str, Floats]:
    """Margins of rows after each kept layer."""
    stages = staged_scores(model, X)
    return {f"layer {t}": margins(scores, codes) for t, scores in enumerate(stages, start=1)}


def _padded(values: Any, n: int) -> list[float]:
    given = [float(value) for value in values]
    return given + [np.nan] * (n - len(given))


def _figures(model: Any) -> list[Facts]:
    records = model.layers_
    kept, last = records[: model.n_layers_], records[model.n_layers_ - 1]
    return [
        describing.figure(f"layers kept of {len(records)} grown", model.n_layers_),
        describing.figure("trees", sum(record.n_trees for record in kept)),
        describing.figure("cross-validated accuracy", last.accuracy, "percent", "ESTIMATE"),
        describing.figure("margin ratio", last.margin_ratio, "number", "HEURISTIC"),
    ]


def _curves(model: Any, table: pd.DataFrame, sample: str) -> list[Facts]:
    def curve(title: str, columns: list[tuple[str, str, describing.Tone]], form: str, caption: str) -> Facts:
        parts = [
            describing.series(name, _finite(table[column]), tone)
            for column, name, tone in columns
            if column in table and np.isfinite(table[column].astype(float)).any()
        ]
        return describing.chart(
            "lines",
            title,
            [{"name": "", "x": table["layer"].tolist(), "series": parts}],
            x_title="layer",
            y_format=form,
            whole_x=True,
            mark=int(model.n_layers_),
            caption=caption,
        )

    found = [
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
    return [one for one in found if one["variants"][0]["series"]]


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
    parts = []
    for tone, k in zip(TONES, chosen):
        ratio = margin_ratio(every[k])
        told = f"{ratio:.3f}" if np.isfinite(ratio) else "∞"
        name = f"layer {k + 1}: ratio {told}, {100 * np.mean(every[k] <= 0):.1f} % wrong"
        counts = np.histogram(every[k], edges)[0] / len(every[k])
        parts.append(describing.series(name, counts.tolist(), tone))
    return describing.chart(
        "lines",
        "Margins of the rows, layer by layer",
        [{"name": "", "x": ((edges[1:] + edges[:-1]) / 2).tolist(), "series": parts}],
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
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(codes) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, random_state=SEED, init="pca", max_iter=500)
    # Few points: OpenMP threads would wait for each other, for seconds where other programs run.
    with threadpool_limits(1, user_api="openmp"):
        plane = values if values.shape[1] > 1 else np.hstack([values, np.zeros_like(values)])
        points = np.round(tsne.fit_transform(plane).astype(float), 2)
    return describing.chart(
        "points",
        name,
        [{"name": "", "x": points[:, 0].tolist(), "y": points[:, 1].tolist(), "codes": codes.tolist()}],
        classes=classes,
        caption=f"t-SNE of {len(codes)} rows; scatter within over between classes "
        f"{scatter_ratio(values, codes):.3g}. Do not read distances as similarity.",
    )
