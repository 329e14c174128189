"""SplitMix64 for arrays: the one source of reproducible 64-bit words outside NumPy's generators.

`core/rng.hpp` has the same function for the engines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, odd
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: a bijection of 64-bit words in which every bit depends on every bit.

    Examples
    --------
    >>> [hex(word) for word in mixed(np.array([0, 1], dtype=np.uint64)).tolist()]
    ['0x0', '0x5692161d100b05e5']
    """
    with np.errstate(over="ignore"):
        words = (words ^ (words >> np.uint64(30))) * _FIRST
        words = (words ^ (words >> np.uint64(27))) * _SECOND
        return words ^ (words >> np.uint64(31))


def splitmix64(state: Any) -> NDArray[np.uint64]:
    """The output of SplitMix64 for each state: ``mixed(state + GOLDEN)``.

    Examples
    --------
    >>> hex(splitmix64(np.uint64(0)).item())  # the first word of the reference generator seeded with 0
    '0xe220a8397b1dcdaf'
    """
    with np.errstate(over="ignore"):
        return mixed(np.asarray(state, dtype=np.uint64) + GOLDEN)
