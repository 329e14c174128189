"""Blocks of a model's own description, drawn by their kind."""

import pytest

from surewood.estimators import describing
from surewood.report.blocks import draw, draw_sections


def chart(kind, variant, **options):
    return draw(describing.chart(kind, "T", [{"name": "", **variant}], **options))


def html(made):
    return made["variants"][0]["html"]


def test_bars_are_stacked_with_hints():
    series = [describing.series("a", [1, 2], "main", ["x", "y"]), describing.series("b", [3, 4], "other")]
    made = chart("bars", {"names": ["p", "<q>"], "series": series}, y_title="rows")
    assert "&lt;q&gt;, a: 2\ny" in html(made)
    assert "left:33.3%;width:66.7%" in html(made)  # 4 after 2 of 6
    assert 'class="legend"' in html(made)
    assert made["alt"] == "T: p 4, <q> 6"


def test_lines_have_marks_steps_and_labels():
    variant = {"x": [1, 2], "series": [describing.series("a", [0.5, None])], "labels": ["start", "end"]}
    made = chart("lines", variant, mark=2, y_format="percent", whole_x=True)
    assert "dasharray" in html(made)
    assert ">start</span>" in html(made)
    assert ">end</span>" not in html(made)  # there is no value to stand beside
    steps = chart("lines", {"x": [1, 2], "series": [describing.series("a", [1, 2])]}, steps=True)
    assert "H500V" in html(steps)


def test_lines_without_a_finite_value_are_drawn_empty_but_whole():
    made = chart("lines", {"x": [1, 2], "series": [describing.series("a", [None, None])]})
    assert "<svg" in html(made)


def test_points_are_colored_by_class():
    made = chart("points", {"x": [0, 1, 2], "y": [3, 4, 5], "codes": [0, 1, 0]}, classes=["<a>", "b"])
    assert html(made).count("#3f8f5f") == 3  # two dots and the legend
    assert "<a>" not in html(made)


def test_an_icicle_and_a_flow_are_drawn():
    node = {"text": "", "hints": ["h"], "depth": 0}
    nodes = [{"id": 0, "parent": None, "label": "all", "value": 3, "level": 9, **node}]
    assert "var(--seq3)" in html(chart("icicle", {"nodes": nodes}))
    stage = {"label": "<b>", "arrive": 3, "points": 3, "accuracy": None, "threshold": None}
    assert "3 of 3 leave" in html(chart("flow", {"stages": [stage]}))


def test_text_and_tables_stay():
    blocks = [describing.paragraph("P", ["line"]), describing.table("t", [describing.column("a")], [[1]])]
    facts = describing.report_facts("T", "", [], [describing.section("S", blocks)])
    drawn = draw_sections(facts)
    assert [block["kind"] for block in drawn[0]["blocks"]] == ["text", "table"]
    assert draw_sections(None) == []


def test_an_unknown_kind_is_an_error():
    with pytest.raises(KeyError):
        draw({"kind": "pie"})
