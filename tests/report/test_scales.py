"""Axes: round ticks, labels that differ, ranges that use their space."""

import numpy as np
import pytest

from surewood.report.scales import Axis, fitted_axis, nice_ticks, tick_labels


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
