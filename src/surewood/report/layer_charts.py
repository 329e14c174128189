"""Charts of a deep forest: layers, margins, views of what layers read."""

from __future__ import annotations

from typing import Any

import numpy as np

from surewood.report.charts import COLOURS, figure, label

__all__ = ["layer_charts"]

#: Colours of classes in scatter plots; they can be told apart on light and dark ground.
CLASS_COLOURS = (
    "#3f8f5f", "#4a86c5", "#c8803f", "#a35fa8", "#d0604a", "#8a8f3a", "#3fa3a3", "#7a6fd0", "#c0587f",
    "#8c8c8c", "#5fa83f", "#b59a2f",
)  # fmt: skip
_SYMBOLS = ("circle", "diamond", "square", "x")


def layer_charts(facts: dict[str, Any]) -> dict[str, Any]:
    """All charts of ``inside_layers.html``."""
    sample = "holdout" if facts["is_holdout"] else "training rows"
    accuracy = [("held_out_accuracy", "cross-fitted", "@sky"), ("accuracy", sample, "@leaf")]
    ratio = [("held_out_margin_ratio", "cross-fitted", "@sky"), ("margin_ratio", sample, "@leaf")]
    effective = [("effective_sample_size", "share", "@bark")]
    return {
        "accuracy": curve("Accuracy a layer", facts, accuracy, ".1%", "ESTIMATES. Dotted: the layer kept."),
        "ratio": curve(
            "Margin ratio a layer",
            facts,
            ratio,
            "",
            "HEURISTIC: deviation of the margins over their mean; smaller is more even.",
        ),
        "alpha": weights(facts) if facts["margin_forest"] else None,
        "effective": curve(
            "Effective sample size",
            facts,
            effective,
            ".0%",
            "How many rows the layer's weights amount to: low, where it looks at few.",
        ),
        "margins": margin_histograms(facts["margins"], sample),
        "views": [view(one, facts["classes"]) for one in facts["views"]],
    }


def weights(facts: dict[str, Any]) -> dict[str, Any]:
    """α of the layers that are kept."""
    kept = [row for row in facts["layers"] if row["kept"]]
    trace = {
        "type": "bar",
        "x": [f"layer {row['layer']}" for row in kept],
        "y": [row["alpha"] for row in kept],
        "marker": {"color": "@plum"},
        "text": [f"{row['alpha']:.3g}" for row in kept],
        "hovertemplate": "%{x}: %{y:.4g}<extra></extra>",
    }
    return figure(
        "Weight α of each layer",
        [trace],
        {"xaxis": {"type": "category"}, "bargap": 0.5},
        height=270,
        caption="Part of each kept layer in the final score.",
    )


def curve(
    title: str, facts: dict[str, Any], lines: list[tuple[str, str, str]], tickformat: str, caption: str
) -> dict[str, Any]:
    """Lines over the layers."""
    table = facts["layers"]
    x = [row["layer"] for row in table]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": x,
            "y": [row.get(column) for row in table],
            "line": {"color": colour, "width": 2},
            "marker": {"color": colour, "size": 7},
            "hovertemplate": f"layer %{{x}}: %{{y:{tickformat or '.4g'}}}<extra>{name}</extra>",
        }
        for column, name, colour in lines
        if any(row.get(column) is not None for row in table)
    ]
    kept = {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": facts["n_layers"],
        "x1": facts["n_layers"],
        "y0": 0,
        "y1": 1,
        "line": {"color": "@peer", "dash": "dot", "width": 1.5},
    }
    return figure(
        title,
        traces,
        {
            "showlegend": len(traces) > 1,
            "shapes": [kept],
            "xaxis": {"dtick": 1, "title": {"text": "layer"}, "range": [0.6, len(x) + 0.4]},
            "yaxis": {"tickformat": tickformat},
        },
        height=270,
        caption=caption,
    )


def margin_histograms(facts: dict[str, Any], sample: str) -> dict[str, Any]:
    """Distributions of margins after some layers."""
    edges = np.array(facts["edges"])
    middle = (edges[1:] + edges[:-1]) / 2
    layers = facts["layers"]
    chosen = sorted({round(k) for k in np.linspace(0, len(layers) - 1, min(len(layers), len(COLOURS) - 1))})
    traces = []
    for colour, k in zip(COLOURS, chosen):
        one = layers[k]
        ratio = "∞" if one["ratio"] is None else f"{one['ratio']:.3f}"
        name = f"layer {one['layer']}: ratio {ratio}, {100 * one['not_positive']:.1f} % wrong"
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": middle,
                "y": one["shares"],
                "line": {"shape": "hvh", "color": colour, "width": 2},
                "hovertemplate": "margin %{x:.2f}: %{y:.1%} of the rows<extra></extra>",
            }
        )
    return figure(
        "Margins of the rows, layer by layer",
        traces,
        {
            "showlegend": True,
            "xaxis": {"title": {"text": "margin: true class minus the best other"}},
            "yaxis": {"tickformat": ".0%", "title": {"text": "share of the rows"}},
        },
        height=340,
        caption=f"Rows of the {sample}. Left of 0 the model is wrong; far right it is right by far.",
    )


def view(facts: dict[str, Any], classes: list[str]) -> dict[str, Any]:
    """A t-SNE view, coloured by class."""
    codes = np.array(facts["codes"])
    x, y = np.array(facts["x"]), np.array(facts["y"])
    traces = []
    for code in np.unique(codes):
        here = codes == code
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label(classes[code], 18),
                "x": x[here],
                "y": y[here],
                "marker": {
                    "color": CLASS_COLOURS[code % len(CLASS_COLOURS)],
                    "symbol": _SYMBOLS[code // len(CLASS_COLOURS) % len(_SYMBOLS)],
                    "size": 6,
                    "opacity": 0.85,
                },
                "hoverinfo": "name",
            }
        )
    quiet = {"showticklabels": False, "zeroline": False, "showgrid": False, "ticks": ""}
    return figure(
        facts["name"][:1].upper() + facts["name"][1:],
        traces,
        {
            "xaxis": quiet,
            "yaxis": quiet,
            "margin": {"l": 6, "r": 6, "t": 10, "b": 6},
            "legend": {"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0},
            "showlegend": len(traces) <= 15,
        },
        height=340,
        caption=f"t-SNE of {len(codes)} rows; scatter within over between classes "
        f"{facts['scatter_ratio']:.3g}. Distances in such a view are no measure.",
    )
