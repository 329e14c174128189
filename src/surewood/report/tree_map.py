"""A tree as nested boxes, root on top, as wide as their rows."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from surewood.report.plain import middle

__all__ = ["tree_map"]

LEVELS = ("seq0", "seq1", "seq2", "seq3")
_ROW = 46  # pixels of a level of the tree
_NARROWEST = 0.2  # percent


def tree_map(nodes: list[dict[str, Any]]) -> Markup:
    """Boxes of the nodes of a tree.

    Parameters
    ----------
    nodes : list of dict
        Of an "icicle" of :func:`surewood.estimators.describing.chart`; parents come before their children.

    Examples
    --------
    >>> node = {"text": "", "hints": [], "level": None}
    >>> nodes = [{"id": 0, "parent": None, "label": "all rows", "value": 4, "depth": 0, **node},
    ...          {"id": 1, "parent": 0, "label": "x > 1", "value": 1, "depth": 1, **node}]
    >>> "width:25.00%" in tree_map(nodes)
    True
    """
    total = next(float(node["value"]) for node in nodes if node["parent"] is None) or 1.0
    left: dict[int, float] = {}
    boxes = []
    form = Markup(
        '<span class="{}" style="left:{:.2f}%;width:{:.2f}%;top:{}px;background:var(--{})" data-tip="{}">'
        "{}{}</span>"
    )
    for node in nodes:
        start = 0.0 if node["parent"] is None else left[node["parent"]]
        width = 100 * float(node["value"]) / total
        if node["parent"] is not None:
            left[node["parent"]] = start + width  # where the next child begins
        left[node["id"]] = start
        if width < _NARROWEST:
            continue
        tip = "\n".join([str(node["label"]), *map(str, node["hints"])])
        label = Markup("<b>{}</b>").format(middle(node["label"], 48)) if width > 4 else ""
        text = (
            Markup("<small>{}</small>").format(middle(node["text"], 24)) if width > 4 and node["text"] else ""
        )
        level = node["level"]
        color = "inner" if level is None else LEVELS[min(int(level), len(LEVELS) - 1)]
        dark = "dark-box" if level is not None and level >= 2 else "box"
        boxes.append(form.format(dark, start, width, _ROW * int(node["depth"]), color, tip, label, text))
    height = _ROW * (1 + max(int(node["depth"]) for node in nodes))
    whole = Markup('<div class="tree" style="height:{}px">{}</div>')
    return whole.format(height, Markup("").join(boxes))
