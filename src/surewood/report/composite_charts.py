"""Charts of a composite forest: a tree as an icicle, degrees over all leaves."""

from __future__ import annotations

from typing import Any

from surewood.report.charts import figure, label

__all__ = ["composite_charts"]

_DEGREES = ("@seq0", "@seq1", "@seq2", "@seq3")


def composite_charts(facts: dict[str, Any]) -> dict[str, Any]:
    """All charts of ``inside_composite.html``."""
    return {"icicle": icicle(facts["trees"]), "degrees": degrees(facts["degrees"])}


def icicle(trees: list[dict[str, Any]]) -> dict[str, Any]:
    """A tree as nested bars, root on top, as wide as their points."""
    variants = []
    for tree in trees:
        nodes = tree["nodes"]
        depth = max(node["depth"] for node in nodes)
        words = f"tree {tree['tree']}, {tree['leaves']} {'leaf' if tree['leaves'] == 1 else 'leaves'}"
        trace = {
            "type": "icicle",
            "ids": [str(node["node"]) for node in nodes],
            "parents": ["" if node["parent"] < 0 else str(node["parent"]) for node in nodes],
            "labels": ["all rows" if node["parent"] < 0 else label(node["condition"], 60) for node in nodes],
            "values": [node["points"] for node in nodes],
            "branchvalues": "total",
            "text": ["" if node["leaf"] < 0 else f"degree {node['degree']}" for node in nodes],
            "customdata": [_node_words(node) for node in nodes],
            "marker": {
                "colors": [_degree_colour(node) for node in nodes],
                "line": {"color": "@paper", "width": 1.5},
            },
            "leaf": {"opacity": 1},
            "tiling": {"orientation": "v"},
            "sort": False,
            "pathbar": {"visible": False},
            "root": {"color": "@line"},
            "texttemplate": "%{label}<br>%{text}",
            "hovertemplate": "%{label}<br>%{customdata}<extra></extra>",
        }
        variants.append({"name": words, "data": [trace], "height": max(160, 62 * (depth + 1) + 40)})
    return figure(
        "A tree, from all rows (top) to its leaves",
        layout={"margin": {"l": 0, "r": 0, "t": 8, "b": 4}, "uniformtext": {"minsize": 10, "mode": "hide"}},
        variants=variants,
        choose="tree",
        caption="Width: training rows. The stronger a leaf's colour, the higher the degree of its machine; "
        "degree 0 names one class. Hover for counts and complexity, click to enlarge.",
    )


def _node_words(node: dict[str, Any]) -> str:
    parts = [f"{node['points']:,.0f} rows", f"{node['errors']:,.0f} wrong in training"]
    parts.append(f"complexity {node['complexity_term']:.4g}")
    if node["leaf"] >= 0:
        side = "felt" if node["side"] == "complexity" else "not felt: its points cost less"
        parts += [f"leaf {node['leaf']}, degree {node['degree']}", f"complexity {side}"]
    return "<br>".join(parts)


def _degree_colour(node: dict[str, Any]) -> str:
    if node["leaf"] < 0:
        return "@inner"
    return _DEGREES[min(int(node["degree"]), len(_DEGREES) - 1)]


def degrees(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Leaves of each degree, and at how many of them the complexity was felt."""
    names = [f"degree {row['degree']}" for row in rows]
    felt = [row["active"] for row in rows]
    other = [row["leaves"] - row["active"] for row in rows]
    shares = [row["leaves"] / max(1, sum(r["leaves"] for r in rows)) for row in rows]
    hover = "%{x}: %{y:,} leaves (%{customdata:.1%} of all have this degree)<extra></extra>"
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": names,
            "y": y,
            "customdata": shares,
            "marker": {"color": colour},
            "hovertemplate": hover,
        }
        for name, y, colour in (("complexity felt", felt, "@leaf"), ("not felt", other, "@peer"))
    ]
    return figure(
        "Degrees over all leaves",
        traces,
        {
            "barmode": "stack",
            "yaxis": {"title": {"text": "leaves"}},
            "bargap": 0.4,
            "xaxis": {"type": "category"},
        },
        height=300,
        caption="At leaves where the complexity is felt, a richer machine had to earn its price; elsewhere "
        "the tie rule chose.",
    )
