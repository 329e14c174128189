"""Charts of a cascade: the flow of rows, terms of the criterion, accuracy against work."""

from __future__ import annotations

from typing import Any

from surewood.report.charts import figure, label
from surewood.report.plain import short

__all__ = ["cascade_charts"]


def cascade_charts(facts: dict[str, Any]) -> dict[str, Any]:
    """All charts of ``inside_cascade.html``."""
    return {
        "flow": flow(facts["flows"]) if facts["longest"] > 1 else None,
        "terms": terms(facts["flows"]) if facts["longest"] > 1 and facts["gamma_scale"] else None,
        "work": work(facts["work"]) if facts["work"] and facts["longest"] > 1 else None,
    }


def flow(flows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows on their way through the machines, and where they leave."""
    variants = []
    for one in flows:
        leaves = one["leaves"]
        variants.append(
            {
                "name": _name(one["name"]),
                "data": [_sankey(leaves)],
                "narrow": [_sankey(leaves, False)],
                "height": 150 + 70 * len(leaves),
            }
        )
    return figure(
        "The flow of rows",
        layout={"margin": {"l": 8, "r": 8, "t": 10, "b": 16}},
        variants=variants,
        choose="cascade",
        caption="Rows far from a machine's boundary leave there; those within its threshold go on.",
    )


def _name(cascade: str) -> str:
    """A cascade in a list to choose from; the template escapes it."""
    return "all classes" if cascade == "all" else f"{short(cascade, 30)} against the rest"


def _sankey(leaves: list[dict[str, Any]], roomy: bool = True) -> dict[str, Any]:
    """The chain as nodes and links; labels are short where there is little room."""
    k = len(leaves)
    machines, exits, colours = [], [], []
    source, target, value, hover, links = [], [], [], [], []
    for i, leaf in enumerate(leaves):
        kind = f"degree {leaf['degree']}" if isinstance(leaf["degree"], int) else label(leaf["degree"])
        machines.append(f"{i + 1}: {kind}, {leaf['arrive']:,} rows" if roomy else str(i + 1))
        right = "" if leaf["accuracy"] is None else f", {100 * leaf['accuracy']:.1f} % right"
        exits.append(f"{leaf['points']:,} leave{right}" if roomy else f"{leaf['points']:,} leave")
        colours.append("@leaf" if leaf["accuracy"] is None or leaf["accuracy"] >= 0.5 else "@warn")
        beyond = "" if leaf["threshold"] is None else f"|f| > {leaf['threshold']:.3g}: "
        if leaf["points"]:
            source.append(i)
            target.append(k + i)
            value.append(leaf["points"])
            links.append("@leaf-soft")
            hover.append(f"{label(beyond)}{leaf['points']:,} rows leave here{right}")
        on = leaf["arrive"] - leaf["points"]
        if i + 1 < k and on:
            source.append(i)
            target.append(i + 1)
            value.append(on)
            links.append("@peer-soft")
            words = (
                "go on" if leaf["threshold"] is None else f"|f| ≤ {leaf['threshold']:.3g}: {on:,} rows go on"
            )
            hover.append(words)
    return {
        "type": "sankey",
        "arrangement": "snap",
        "textfont": {"color": "@ink", "size": 12.5},
        "node": {
            "label": machines + exits,
            "color": ["@sky"] * k + colours,
            "line": {"width": 0, "color": "@line"},
            "pad": 26,
            "thickness": 14,
            "x": [0.001 + 0.85 * i / k for i in range(k)] + [0.999] * k,
            "y": _heights(leaves),
            "hovertemplate": "%{label}<extra></extra>",
        },
        "link": {
            "source": source,
            "target": target,
            "value": value,
            "color": links,
            "customdata": hover,
            "hovertemplate": "%{customdata}<extra></extra>",
        },
    }


def _heights(leaves: list[dict[str, Any]]) -> list[float]:
    """Centres of machines, along the bottom, and of exits, from the top down: so no two links cross."""
    total = max(1, leaves[0]["arrive"])
    left = [leaf["points"] / total for leaf in leaves]
    arrive = [leaf["arrive"] / total for leaf in leaves]
    centres = [1 - share / 2 for share in arrive] + [sum(left[:i]) + left[i] / 2 for i in range(len(left))]
    room = 0.9 - 0.04 * len(leaves)  # the rest is the space between exits
    return [min(0.999, max(0.001, room * centre)) for centre in centres]


def terms(flows: list[dict[str, Any]]) -> dict[str, Any]:
    """What each leaf adds to the criterion."""
    variants = []
    for one in flows:
        felt = ["complexity felt" if t["side"] == "complexity" else "not felt" for t in one["terms"]]
        traces = [
            {
                "type": "bar",
                "name": name,
                "x": [f"leaf {i + 1}" for i in range(len(felt))],
                "y": [t[key] for t in one["terms"]],
                "customdata": felt,
                "marker": {"color": colour},
                "hovertemplate": hover,
            }
            for name, key, colour, hover in (
                ("errors", "error_term", "@peer", "errors %{y:.4f}<extra></extra>"),
                ("price of its richness", "term", "@leaf", "%{y:.4f} (%{customdata})<extra></extra>"),
            )
        ]
        variants.append({"name": _name(one["name"]), "data": traces})
    return figure(
        "What each leaf adds to the criterion",
        layout={
            "barmode": "stack",
            "bargap": 0.4,
            "yaxis": {"title": {"text": "share of the sample"}},
            "xaxis": {"type": "category"},
        },
        variants=variants,
        choose="cascade",
        caption="CRITERION: the sum was minimised over all cascades; it is a selection score, not an error.",
    )


def work(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Accuracy against work a row."""
    names = [
        "all leave first" if row["scale"] == 0 else "as fitted" if row["scale"] == 1 else "" for row in rows
    ]
    trace = {
        "type": "scatter",
        "mode": "lines+markers+text",
        "x": [row["kernel_values"] for row in rows],
        "y": [row["accuracy"] for row in rows],
        "text": names,
        "textposition": ["top right" if row["scale"] == 0 else "top center" for row in rows],
        "line": {"color": "@leaf", "width": 2},
        "marker": {"color": ["@bark" if row["scale"] == 1 else "@leaf" for row in rows], "size": 9},
        "hovertemplate": "%{x:,.0f} kernel values a row, %{y:.1%} right<extra></extra>",
    }
    return figure(
        "Accuracy against work",
        [trace],
        {
            "showlegend": False,
            "xaxis": {"title": {"text": "kernel values a row"}},
            "yaxis": {"tickformat": ".1%", "title": {"text": "accuracy"}},
        },
        caption="Thresholds scaled from 0 (everybody leaves at the first machine) to infinity.",
    )
