"""Bars with names, on a common scale."""

from surewood.report.bar_rows import BarRow, Part, bar_rows
from surewood.report.scales import Axis


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


def test_nothing_to_draw_is_no_error():
    assert "rows" in bar_rows([])
    assert "width:0.0%" in bar_rows([BarRow("none", [Part(0, 0)])])
