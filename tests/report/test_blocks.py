"""Charts that models describe themselves with, drawn by their kind."""

import pytest

from surewood.estimators import describing
from surewood.report.blocks import draw, draw_sections


def test_text_and_tables_stay_and_charts_are_drawn():
    bars = [{"name": "", "names": ["a", "b"], "series": [describing.series("rows", [3, 4])]}]
    blocks = [describing.paragraph("Note", ["one line"]), describing.chart("bars", "Rows", bars)]
    facts = {"sections": [describing.section("All", blocks)]}
    (section,) = draw_sections(facts)
    assert section["blocks"][0] == blocks[0]
    assert section["blocks"][1]["kind"] == "chart"
    trace = section["blocks"][1]["figure"]["variants"][0]["data"][0]
    assert (trace["type"], trace["y"]) == ("bar", [3, 4])
    assert draw_sections(None) == []


def test_names_of_classes_cannot_become_markup():
    points = [{"name": "", "x": [0.0, 1.0], "y": [1.0, 0.0], "codes": [0, 1]}]
    block = describing.chart("points", "Classes", points, classes=["<b>", "b"])
    names = [trace["name"] for trace in draw(block)["variants"][0]["data"]]
    assert names[0] == "&lt;b&gt;"


def test_an_unknown_kind_of_chart_is_an_error():
    with pytest.raises(KeyError):
        draw({"kind": "pie"})
