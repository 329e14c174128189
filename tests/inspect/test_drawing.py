"""Axes that displays draw on."""

import pytest

from surewood.inspect.drawing import new_axes, tidy

plt = pytest.importorskip("matplotlib.pyplot")


def test_given_axes_are_used():
    figure, (left, right) = plt.subplots(1, 2)
    assert new_axes(left) == (figure, left)
    assert new_axes([left, right], 2) == (figure, [left, right])
    plt.close(figure)


def test_new_axes_are_made_and_tidied():
    figure, axes = new_axes(None, 3)
    assert len(axes) == 3
    tidy(axes[0])
    assert not axes[0].spines["top"].get_visible()
    assert axes[0].spines["left"].get_visible()
    plt.close(figure)
