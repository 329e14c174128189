"""The bit layout of nodes: no other module knows it (core/forest/flat_tree.hpp describes it).

A whole node is two numbers, its left child (or what a leaf holds) and a word. A short node is one number,
which holds both. The functions below take arrays of words and give arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Ints

_TEST_BITS = 10  # of a word, below the feature
_LEAF_WORD = ((1 << 22) - 1) << _TEST_BITS
_PURE, _MIXED, _BINARY = 0, 1, 2
PURE_LEAF = _LEAF_WORD + _PURE  # the word of a leaf with one class
BINARY_LEAF = _LEAF_WORD + _BINARY  # of one with the probability of class 1


def is_split(word: Ints) -> NDArray[np.bool_]:
    """Whether nodes are splits; the others are leaves."""
    return word < _LEAF_WORD


def is_category(word: Ints) -> NDArray[np.bool_]:
    """Whether splits are by category."""
    return np.asarray(is_split(word) & (word & 1 == 1))


def is_pure(word: Ints) -> NDArray[np.bool_]:
    """Whether nodes are leaves with one class, which stands in the place of the left child."""
    return np.asarray(word == PURE_LEAF)


def is_mixed(word: Ints) -> NDArray[np.bool_]:
    """Whether nodes are leaves with a sparse class vector, its offset in the place of the left child."""
    return np.asarray(word == _LEAF_WORD + _MIXED)


def is_binary(word: Ints) -> NDArray[np.bool_]:
    """Whether nodes are leaves with the probability of class 1, float bits in the place of the left child."""
    return np.asarray(word == BINARY_LEAF)


def feature_of(word: Ints) -> Ints:
    """The feature of splits; a number past all features for leaves."""
    return word >> _TEST_BITS


def missing_left(word: Ints) -> NDArray[np.bool_]:
    """Whether splits by number send missing values left."""
    return np.asarray(is_split(word) & (word >> 1 & 1 == 1))


def last_bin(word: Ints) -> Ints:
    """The last bin of the left side of splits by number."""
    return (word >> 2 & 255) - (word >> 1 & 1)


def goes_left(word: Ints, code: Ints) -> NDArray[np.bool_]:
    """Whether codes go left at splits by number."""
    return (code + (word >> 1 & 1)) % 256 <= (word >> 2 & 255)


def split_word(
    feature: Ints, last: Ints, missing_to_left: NDArray[np.bool_], by_category: NDArray[np.bool_]
) -> Ints:
    """Words of splits; `last` is the last bin of the left side, which splits by category do not have.

    Examples
    --------
    >>> word = split_word(np.array([3]), np.array([7]), np.array([True]), np.array([False]))
    >>> feature_of(word).tolist(), last_bin(word).tolist(), missing_left(word).tolist()
    ([3], [7], [True])
    """
    missing = missing_to_left.astype(np.int64)
    test = np.where(by_category, 1, (last + missing) << 2 | missing << 1)
    return np.asarray(feature << _TEST_BITS | test)


def pack_set(members: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sets of codes (one row per set, one column per code) as rows of four words.

    Examples
    --------
    >>> codes = np.zeros((1, 256), dtype=bool)
    >>> codes[0, [1, 64, 255]] = True
    >>> set_members(pack_set(codes)[0])
    [1, 64, 255]
    """
    packed = np.packbits(members, axis=1, bitorder="little")
    return np.asarray(np.ascontiguousarray(packed).view("<u8").astype(np.uint64).reshape(len(members), 4))


def probability(content: Ints) -> NDArray[np.float32]:
    """The probability of class 1 that binary leaves hold."""
    return content.astype(np.uint32).view(np.float32)


def in_set(words: NDArray[np.uint64], code: Ints) -> NDArray[np.bool_]:
    """Whether each code is in its set of categories, a row of four words."""
    chosen = words[np.arange(len(code)), code >> 6]
    return np.asarray((chosen >> (code & 63).astype(np.uint64) & np.uint64(1)) == 1)


def set_members(words: NDArray[np.uint64]) -> list[int]:
    """The codes in a set of categories."""
    return [code for code in range(256) if int(words[code >> 6]) >> (code & 63) & 1]


def read_short(nodes: NDArray[Any], word_bits: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Numbers and words of short nodes, and which numbers are distances from the node to its left child."""
    short = nodes.astype(np.int64)
    number, word = short >> word_bits, short & ((1 << word_bits) - 1)
    leaf = word >= ((1 << (word_bits - _TEST_BITS)) - 1) << _TEST_BITS
    word[leaf] = _LEAF_WORD | (word[leaf] & ((1 << _TEST_BITS) - 1))
    return number, word, ~leaf & (word & 1 == 0)
