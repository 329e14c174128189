"""Charts: colours that exist in light and dark, names that plotly shows as they are, plain values."""

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np

import surewood
from surewood.report import charts
from surewood.report.blocks import CLASS_COLORS

STYLE = files("surewood.report").joinpath("static", "page.css").read_text(encoding="utf-8")


def palette(opening):
    """Colours defined by the first block after `opening`."""
    block = STYLE[STYLE.index(opening) :]
    return dict(re.findall(r"(--[\w-]+): (#\w+)", block[: block.index("}")]))


def test_light_and_dark_define_the_same_colours():
    light, chosen = palette(":root {"), palette(':root[data-theme="dark"] {')
    by_system = palette(':root:not([data-theme="light"]) {')
    assert chosen.keys() == light.keys()
    assert by_system == chosen


def test_every_colour_that_a_chart_names_exists():
    known = palette(":root {")
    sources = [path.read_text(encoding="utf-8") for path in Path(surewood.__file__).parent.rglob("*.py")]
    named = {name for text in sources for name in re.findall(r'"@([a-z][a-z0-9-]*)"', text)}
    assert {"leaf", "peer-soft", "seq3"} <= named
    assert {f"--{name}" for name in named} <= known.keys()
    assert len(set(CLASS_COLORS)) == len(CLASS_COLORS)


def test_labels_are_text_for_plotly():
    assert (
        charts.label("<a href='javascript:alert(1)'>&lt;") == "&lt;a href='javascript:alert(1)'&gt;&amp;lt;"
    )
    assert charts.label("two\nlines\u2028three") == "two lines three"
    assert len(charts.label("x" * 500)) == 40


def test_a_figure_is_strict_json():
    made = charts.figure("t", [{"type": "bar", "x": np.arange(2), "y": [np.nan, np.float32(0.5)]}])
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["variants"][0]["data"][0]["y"] == [None, 0.5]


def test_classes_that_look_like_numbers_keep_their_places():
    classes = [{"label": label, "rows": 1, "share": 0.3} for label in ("10", "2024-01-01", "1e3")]
    axis = charts.class_balance(classes)["layout"]["yaxis"]
    assert axis["ticktext"] == ["1e3", "2024-01-01", "10"]
    assert axis["tickvals"] == [0, 1, 2]
