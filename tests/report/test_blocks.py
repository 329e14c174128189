"""Blocks of a model's own description, drawn by their kind."""

import json

import pytest

from surewood.estimators import describing
from surewood.report.blocks import draw, draw_sections


def chart(kind, variant, **options):
    return draw(describing.chart(kind, "T", [{"name": "", **variant}], **options))


def test_bars_are_stacked_with_hints():
    series = [describing.series("a", [1, 2], "main", ["x", "y"]), describing.series("b", [3, 4], "other")]
    made = chart("bars", {"names": ["p", "<q>"], "series": series}, y_title="rows")
    first, second = made["variants"][0]["data"]
    assert first["x"] == ["p", "&lt;q&gt;"]
    assert (first["customdata"], second["y"]) == (["x", "y"], [3, 4])
    assert made["layout"]["barmode"] == "stack"
    assert made["layout"]["showlegend"] is True


def test_lines_have_marks_steps_and_labels():
    variant = {"x": [1, 2], "series": [describing.series("a", [0.5, None])], "labels": ["", "end"]}
    made = chart("lines", variant, mark=2, y_format="percent", whole_x=True)
    assert made["layout"]["shapes"][0]["x0"] == 2
    assert made["layout"]["yaxis"]["tickformat"] == ".1%"
    assert made["variants"][0]["data"][0]["text"] == ["", "end"]
    steps = chart("lines", {"x": [1], "series": [describing.series("a", [1])]}, steps=True)
    assert steps["variants"][0]["data"][0]["line"]["shape"] == "hvh"


def test_points_are_colored_by_class():
    made = chart("points", {"x": [0, 1, 2], "y": [3, 4, 5], "codes": [0, 1, 0]}, classes=["a", "b"])
    first, second = made["variants"][0]["data"]
    assert (first["x"], second["x"]) == ([0, 2], [1])
    assert first["marker"]["color"] != second["marker"]["color"]


def test_an_icicle_has_its_levels():
    node = {"text": "", "hints": ["h"], "depth": 0}
    nodes = [
        {"id": 0, "parent": None, "label": "all", "value": 3, "level": None, **node},
        {"id": 1, "parent": 0, "label": "x", "value": 3, "level": 9, **node},
    ]
    trace = chart("icicle", {"nodes": nodes})["variants"][0]["data"][0]
    assert trace["parents"] == ["", "0"]
    assert trace["marker"]["colors"] == ["@inner", "@seq3"]


def test_a_flow_conserves_its_rows():
    stages = [
        {"label": "degree 1", "arrive": 10, "points": 7, "accuracy": 0.9, "threshold": 0.5},
        {"label": "<b>", "arrive": 3, "points": 3, "accuracy": None, "threshold": None},
    ]
    trace = chart("flow", {"stages": stages})["variants"][0]["data"][0]
    link = trace["link"]
    assert list(zip(link["source"], link["target"], link["value"])) == [(0, 2, 7), (0, 1, 3), (1, 3, 3)]
    assert "&lt;b&gt;" in trace["node"]["label"][1]


def test_text_and_tables_stay_and_json_is_strict():
    blocks = [describing.paragraph("P", ["line"]), describing.table("t", [describing.column("a")], [[1]])]
    facts = describing.report_facts("T", "", [], [describing.section("S", blocks)])
    drawn = draw_sections(facts)
    assert [block["kind"] for block in drawn[0]["blocks"]] == ["text", "table"]
    assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn
    assert draw_sections(None) == []


def test_an_unknown_kind_is_an_error():
    with pytest.raises(KeyError):
        draw({"kind": "pie"})


def test_names_of_classes_cannot_become_markup():
    made = chart("points", {"x": [0.0, 1.0], "y": [1.0, 0.0], "codes": [0, 1]}, classes=["<b>", "b"])
    assert made["variants"][0]["data"][0]["name"] == "&lt;b&gt;"
