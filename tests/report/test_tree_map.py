"""Boxes of a tree: as wide as their rows, children beside each other."""

import re

from surewood.report.tree_map import tree_map


def node(number, parent, value, depth, level=None, label="<x>"):
    own = {"id": number, "parent": parent, "value": value, "depth": depth, "level": level}
    return {**own, "label": label, "text": "degree 1", "hints": ["3 rows"]}


def test_children_share_the_width_of_their_parent():
    html = tree_map([node(0, None, 10, 0), node(1, 0, 4, 1, 1), node(2, 0, 6, 1, 9)])
    boxes = re.findall(r"left:([\d.]+)%;width:([\d.]+)%;top:(\d+)px;background:var\(--(\w+)\)", html)
    assert boxes == [
        ("0.00", "100.00", "0", "inner"),
        ("0.00", "40.00", "46", "seq1"),
        ("40.00", "60.00", "46", "seq3"),
    ]
    assert "<x>" not in html
    assert "3 rows" in html


def test_boxes_too_narrow_to_see_are_left_out():
    html = tree_map([node(0, None, 10_000, 0), node(1, 0, 1, 1), node(2, 0, 9_999, 1)])
    assert html.count("<span") == 2
