"""The keyed streams of the core against their NumPy reference, and the binding's refusals."""

import numpy as np
import pytest

from surewood import _core

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mix64(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def reference_words(seed, ids, count):
    key = mix64((seed + GOLDEN) & MASK)
    for i in ids:
        key = mix64(mix64((key + GOLDEN) & MASK) ^ ((i * GOLDEN + 0x632BE59BD9B4E019) & MASK))
    return [mix64((key + n * GOLDEN) & MASK) for n in range(1, count + 1)]


@pytest.mark.parametrize("ids", [[], [0], [3, 5], [2**63, 1, 7]])
def test_words_equal_the_reference(ids):
    words = _core.random_words(12345, np.array(ids, dtype=np.uint64), 5)
    assert [int(w) for w in words] == reference_words(12345, ids, 5)


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        (np.array([1], dtype=np.int64), "ids: expected an array of uint64"),
        (np.array([[1]], dtype=np.uint64), r"ids: expected 1 dimension\(s\), got 2"),
        (np.arange(4, dtype=np.uint64)[::2], "ids: expected a C-contiguous array"),
    ],
)
def test_no_silent_conversion(ids, sentence):
    with pytest.raises(TypeError, match=sentence):
        _core.random_words(0, ids, 1)
