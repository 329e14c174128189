"""Figures A and B: data in the record, pictures and tables from it."""

import json

import pytest

from surewood.experiments.mddf import methods as forests
from surewood.experiments.mddf.data import parts_of
from surewood.experiments.mddf.figures import FIGURES, figure_record, figures
from surewood.experiments.mddf.tables import summarise
from surewood.experiments.output import html
from tests.experiments.mddf.mddf_profiles import tiny


@pytest.fixture(scope="module")
def record():
    parts = parts_of("wine", 0, tiny())
    model = forests.margin_forest("mdDF", tiny(), "wine", forests.Tuned(0.8, 0.05, 8, 1, 0.0), 0, 1)
    return {"dataset": "wine", "repeat": 0, **figure_record(model, parts, 60)}


def test_the_record_has_curves_ratios_and_points(record):
    curves, kept = record["chosen"]["curves"], record["chosen"]["kept"]
    assert len(curves["accuracy"]) == len(curves["margin_ratio"]) == kept
    assert len(curves["held_out_accuracy"]) == len(curves["layer"]) >= kept
    for view in record["figure"]["views"]:
        assert len(view["points"]) == len(view["classes"]) == 60
    for when in ("early", "late"):
        for what in ("view_ratio", "ratio", "scores_view_ratio", "scores_ratio"):
            assert record["metrics"][f"{when}_{what}"] > 0
    assert record["seeds"]["view"] == record["seeds"]["model"]
    json.dumps(record)


def test_both_pictures_are_drawn_with_seed_and_ratios(record):
    first, second = figures([record])
    names = ("held-out accuracy", "test accuracy", "held-out margin ratio", "test margin ratio")
    assert all(name in first["variants"][0]["html"] for name in names)
    assert str(record["seeds"]["view"]) in second["caption"]
    assert f"{record['metrics']['late_view_ratio']:.2f}" in second["caption"]
    assert second["variants"][0]["html"].count("h0") == 120


def test_without_points_the_curves_and_numbers_stay(record):
    small = {key: value for key, value in record.items() if key != "figure"}  # as read from results.csv
    assert [figure["title"][:8] for figure in figures([small])] == ["Figure A"]
    names = [table["name"] for table in summarise(["har"], [small], tiny())["tables"]]
    assert {"layers", "scatter"} <= set(names)


def test_the_page_has_both_pictures(record):
    summary = {
        "paper": "mddf",
        "title": "mdDF",
        "profile": "tiny",
        "protocol": "paper",
        "missing": [],
        "run": {"records": 1, "seconds": 1.0, "peak_memory_bytes": 0, "versions": [], "commits": []},
        **summarise(["har"], [record], tiny()),
    }
    page = html(summary)
    assert page.count('class="chart"') >= 2
    assert "Figure B: what an early and a late layer read" in page
    drawn = page[page.index('id="figures"') : page.index('id="deviations"')]
    assert "var(--leaf)" in drawn


def test_no_record_no_picture():
    assert figures([{"method": "mdDF"}]) == []
    assert FIGURES == "figures"
