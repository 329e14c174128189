import numpy as np
import pytest

from surewood.deepforest.window_views import Grain, make_grains


def test_windows_of_images_equal_slicing():
    rows = np.random.default_rng(0).random((3, 5 * 6))
    (grain,) = make_grains(30, (5, 6), [(2, 3)], stride=2)
    windows = grain.windows(rows).reshape(3, *grain.positions, 6)
    images = rows.reshape(3, 5, 6)
    for i in range(grain.positions[0]):
        for j in range(grain.positions[1]):
            np.testing.assert_array_equal(
                windows[:, i, j], images[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 3].reshape(3, -1)
            )


def test_windows_of_sequences_with_channels():
    rows = np.arange(12.0)[None]  # six steps of two channels
    (grain,) = make_grains(12, (6, 2), [(3,)], stride=1)
    assert grain == Grain((6, 2), (3,), (1,))
    np.testing.assert_array_equal(grain.windows(rows)[1], [2, 3, 4, 5, 6, 7])


def test_colour_images():
    rows = np.arange(2 * 2 * 3.0)[None]
    (grain,) = make_grains(12, (2, 2, 3), [1], stride=1)
    np.testing.assert_array_equal(grain.windows(rows), rows.reshape(4, 3))


def test_automatic_sizes():
    assert [g.size for g in make_grains(784, (28, 28), "auto", 1)] == [(2, 2), (4, 4), (7, 7)]
    assert [g.size for g in make_grains(3, None, "auto", 1)] == [(1,)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, (3, 4), "auto", 1), r"shape \(3, 4\) does not describe rows of 10 values"),
        ((6, (2.0, 3.0), "auto", 1), "does not describe rows of 6 values"),
        ((6, (-2, -3), "auto", 1), "does not describe rows of 6 values"),
        ((10, None, [2.5], 1), "window 2.5 must be an integer"),
        ((10, None, [11], 1), r"a window of size \(11,\) does not fit into rows of shape \(10,\)"),
        ((10, None, [0], 1), "does not fit"),
        (
            (10, None, [(2, 2)], 1),
            r"window \(2, 2\) must be an integer or have one integer for each of 1 axes",
        ),
        ((10, None, [], 1), "windows must be 'auto' or a list of window sizes"),
        ((10, None, "wide", 1), "windows must be 'auto' or a list"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_grains(*arguments)
