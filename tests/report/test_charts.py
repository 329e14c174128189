"""Charts: colors that exist in light and dark, names as text, what is said to those who cannot see."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import surewood
from surewood.base import describing
from surewood.report import charts
from surewood.report.charts import (
    CLASS_COLORS,
    Axis,
    BarRow,
    Part,
    Plot,
    alt_text,
    bar_rows,
    confusion_map,
    draw,
    draw_sections,
    fitted_axis,
    flow,
    legend,
    paint,
    tree_map,
)

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
    named = {*charts.TONES.values(), "warn"} | used
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


def test_the_longest_bar_fills_the_track():
    html = bar_rows([BarRow("a", [Part(0, 4)], "4"), BarRow("b", [Part(0, 1)], "1")])
    assert "width:100.0%" in html
    assert "width:25.0%" in html


def test_negative_values_go_left_of_a_line_at_zero():
    html = bar_rows([BarRow("up", [Part(0, 1)]), BarRow("down", [Part(0, -1)])])
    assert html.count('<u style="left:50.0%">') == 2
    assert "left:0.0%;width:50.0%" in html


def test_names_are_text_and_long_ones_are_cut_in_the_middle():
    html = bar_rows([BarRow("<b>" + "x" * 60, [Part(0, 1, tip="<i>")])])
    assert "<b>" not in html
    assert "…" in html
    assert 'data-tip="&lt;i&gt;"' in html


def test_an_axis_has_ticks_and_dots_stay_on_it():
    html = bar_rows([BarRow("a", [Part(0.5, 0.5, shape="dot")])], axis=Axis(0.4, 0.6, "percent"))
    assert "50 %</span>" in html
    assert 'class="dot" style="left:50.0%' in html


def test_few_classes_have_counts_and_rates():
    html = confusion_map(["<no>", "yes"], ["<no>", "yes", "abstains"], np.array([[6, 2, 2], [0, 0, 0]]))
    assert "<no>" not in html
    assert html.count("<td") == 6
    assert "60 %" in html


def test_many_classes_draw_only_what_occurs():
    names = [f"class {k}" for k in range(100)]
    counts = np.eye(100, dtype=int) * 5
    counts[3, 7] = 1
    html = confusion_map(names, names, counts)
    assert html.count("<rect") == 101
    assert "true class 3, predicted class 7: 1 (17 %)" in html


def stage(arrive, points, accuracy, threshold):
    own = {"label": "degree <1>", "arrive": arrive, "points": points}
    return {**own, "accuracy": accuracy, "threshold": threshold}


def test_rows_that_arrive_leave_or_go_on():
    html = flow([stage(100, 60, 0.9, 0.5), stage(40, 40, 0.3, None)])
    assert "60 of 100 leave, 90.0 % correct" in html
    assert "40 rows go on" in html
    assert "|f| &gt; 0.5" in html
    widths = ("width:54.0%", "width:6.0%", "width:40.0%", "width:12.0%", "width:28.0%")
    assert all(width in html for width in widths)
    assert "<1>" not in html


def test_without_labels_nothing_is_called_wrong():
    html = flow([stage(10, 10, None, None)])
    assert "10 of 10 leave<" in html
    assert html.count("<i style") == 1


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


def make():
    return Plot(Axis(0, 10), Axis(0, 1, "percent", "accuracy"))


def test_a_line_starts_at_the_left_and_a_gap_interrupts_it():
    plot = make()
    plot.line([0, 5, 7, 10], [0.0, 0.5, None, 1.0])
    assert 'd="M0 1000L500 500M1000 0"' in plot.render()


def test_dots_carry_their_hints_escaped():
    plot = make()
    plot.points([5], [0.5], tips=['"><script>'])
    html = plot.render()
    assert "<script>" not in html
    assert 'data-tip="&#34;&gt;&lt;script&gt;"' in html
    assert "M500 500h0" in html


def test_labels_of_near_points_keep_apart():
    plot = make()
    for name in ("a", "b", "c"):
        plot.text(5, 0.5, name)
    tops = [float(top) for top in re.findall(r'class="label"[^>]*top:([\d.]+)%', plot.render())]
    gaps = [b - a for a, b in pairwise(tops)]
    assert min(gaps) * plot.height / 100 > 14


def test_long_names_keep_both_ends_and_the_whole_on_hover():
    name = "share_of_something_very_long_in_2023_and_2024_quarter_4"
    html = legend([(name, "leaf", "line"), ("b", "sky", "dot")])
    assert f'title="{name}"' in html
    assert "quarter_4</span>" in html


def test_bands_boxes_and_marks_are_drawn():
    plot = make()
    plot.band([0, 10], [0, 0], [1, 1])
    plot.column(2, 4, 0.5, "leaf", "two to four")
    plot.mark(x=5)
    html = plot.render()
    assert html.count("<path") == 3  # grid, band, mark
    assert 'x="200" y="500" width="200" height="500"' in html
    assert "dasharray" in html


def test_what_is_said_to_those_who_cannot_see():
    assert alt_text("T", [(str(k), k) for k in range(9)]) == "T: 0 0, 1 1, 2 2, 3 3, 4 4, 5 5 and 3 more"
    assert paint("#123456") == "#123456"


@pytest.mark.parametrize("seed", range(20))
def test_no_two_tick_labels_are_equal(seed):
    rng = np.random.default_rng(seed)
    low = float(rng.normal() * 10 ** rng.uniform(-4, 4))
    high = low + float(10 ** rng.uniform(-5, 5))
    for kind in ("number", "percent"):
        texts = [text for _, text in Axis(low, high, kind).ticks()]
        assert 1 <= len(texts) <= 12
        assert len(set(texts)) == len(texts)


def test_ticks_lie_on_the_axis():
    axis = Axis(0.013, 0.0172, "percent")
    assert all(axis.low <= value <= axis.high for value, _ in axis.ticks())
    assert all(0 <= axis.place(value) <= 1 for value, _ in axis.ticks())


def test_a_logarithmic_axis_has_readable_ticks():
    axis = fitted_axis([0.02, 130.0], "log")
    texts = [text for _, text in axis.ticks()]
    assert {"0.1", "1", "10", "100"} <= set(texts)
    assert len(texts) <= 7
    assert axis.place(10.0) - axis.place(1.0) == pytest.approx(axis.place(100.0) - axis.place(10.0))


def test_the_range_is_that_of_the_values():
    axis = fitted_axis([0.905, None, float("nan"), 0.93], "percent", limits=(0.0, 1.0))
    assert 0.9 < axis.low < 0.905
    assert 0.93 < axis.high < 0.94


def test_equal_values_and_none_have_a_range_all_the_same():
    assert fitted_axis([3.0, 3.0]).low < 3.0 < fitted_axis([3.0]).high
    assert fitted_axis([]).place(0.5) == 0.5
    assert fitted_axis([0.0], include=(0.0,)).high > 0
