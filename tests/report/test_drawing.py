"""Drawings with axes: escaped text, round dots and ticks, labels that differ and do not overlap."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from surewood.report.charts import Axis, Plot, alt_text, fitted_axis, legend, nice_ticks, paint, tick_labels


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


def test_whole_ticks_and_zero():
    assert nice_ticks(1.0, 4.0, whole=True) == [1.0, 2.0, 3.0, 4.0]
    assert tick_labels([0.0, 0.5]) == ["0", "0.5"]
