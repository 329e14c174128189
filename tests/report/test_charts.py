"""Charts: colors that exist in light and dark, names as text, what is said to those who cannot see."""

import re
from importlib.resources import files
from pathlib import Path

import surewood
from surewood.report import charts
from surewood.report.blocks import CLASS_COLORS

STYLE = files("surewood.report").joinpath("static", "page.css").read_text(encoding="utf-8")


def palette(opening):
    """Colors defined by the first block after `opening`."""
    block = STYLE[STYLE.index(opening) :]
    return dict(re.findall(r"(--[\w-]+): (#\w+)", block[: block.index("}")]))


def test_light_and_dark_define_the_same_colors():
    light, chosen = palette(":root {"), palette(':root[data-theme="dark"] {')
    by_system = palette(':root:not([data-theme="light"]) {')
    assert chosen.keys() == light.keys()
    assert by_system == chosen


def test_every_color_that_the_package_names_exists():
    known = palette(":root {")
    sources = [path.read_text(encoding="utf-8") for path in Path(surewood.__file__).parent.rglob("*.py")]
    used = set(re.findall(r"var\(--([a-z][a-z0-9-]*)\)", STYLE)) - {"room", "side", "n", "m"}
    named = set(charts.COLORS) | used
    named |= {name for text in sources for name in re.findall(r"var\(--([a-z][a-z0-9-]*)\)", text)}
    assert {f"--{name}" for name in named} <= known.keys()
    assert len(set(CLASS_COLORS)) == len(CLASS_COLORS)


def luminance(color):
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_text_has_enough_contrast_in_light_and_dark():
    for opening in (":root {", ':root[data-theme="dark"] {'):
        colors = palette(opening)
        for text in ("--ink", "--soft", "--leaf", "--sky", "--bark", "--plum", "--warn"):
            for ground in ("--paper", "--card"):
                light, dark = sorted((luminance(colors[text]), luminance(colors[ground])), reverse=True)
                least = 3.0 if text == "--bark" else 4.5
                assert (light + 0.05) / (dark + 0.05) >= least, (opening, text, ground)


def test_a_figure_has_one_drawing_or_several():
    assert [v["name"] for v in charts.figure("t", charts.bar_rows([]))["variants"]] == [""]
    made = charts.figure("t", variants=[("a", charts.bar_rows([])), ("b", charts.bar_rows([]))])
    assert [v["name"] for v in made["variants"]] == ["a", "b"]


def test_classes_beyond_the_limit_are_counted():
    classes = [{"label": str(k), "rows": 1, "share": 0.01} for k in range(35)]
    made = charts.class_balance(classes)
    assert made["caption"] == "The 30 largest; 5 smaller ones are not drawn."


def test_the_most_frequent_confusions_come_first():
    facts = {"labels": ["a", "b"], "predicted_labels": ["a", "b"], "matrix": [[5, 1], [3, 1]]}
    first, second = charts.largest_confusions(facts)
    assert (first["truth"], first["predicted"], first["rows"], first["share"]) == ("b", "a", 3, 0.75)
    assert second["rows"] == 1
    assert "6 of 10 rows are correct" in charts.confusion(facts, "holdout")["alt"]
