"""Arrays that come in parts."""

import numpy as np
import pytest

from surewood.tables.growing_array import GrowingArray


@pytest.mark.parametrize("first_fraction", [1e-3, 0.2, 1.0, 3.0])
def test_parts_join_whatever_was_expected(first_fraction):
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 9, size=(n, 2)).astype(np.uint16) for n in (3, 0, 100, 1)]
    array = GrowingArray(first_fraction)
    for part in parts:
        array.add(part)
    assert array.joined().dtype == np.uint16
    np.testing.assert_array_equal(array.joined(), np.concatenate(parts))


def test_an_empty_first_part():
    array = GrowingArray(0.5)
    array.add(np.zeros(0))
    array.add(np.ones(5))
    np.testing.assert_array_equal(array.joined(), np.ones(5))
