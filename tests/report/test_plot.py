"""Drawings with axes: escaped text, round dots, labels that do not cover each other."""

import re
from itertools import pairwise

from surewood.report.plot import Plot, alt_text, legend, paint
from surewood.report.scales import Axis


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
    assert alt_text("T", [(str(k), k) for k in range(9)], limit=2) == "T: 0 0, 1 1 and 7 more"
    assert paint("#123456") == "#123456"
