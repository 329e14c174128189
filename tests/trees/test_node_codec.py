"""The bit layout of nodes, against what is written into it bit by bit."""

import numpy as np
import pytest

from surewood.trees import node_codec

LEAF = ((1 << 22) - 1) << 10


def number_split(feature, last_bin, missing_left):
    """The word of a split by number: feature, last bin of the left side, side of missing values."""
    return feature << 10 | (last_bin + missing_left) << 2 | missing_left << 1


@pytest.mark.parametrize("missing_left", [0, 1])
@pytest.mark.parametrize(("feature", "last_bin"), [(0, 0), (7, 3), (4_000_000, 253)])
def test_splits_by_number(feature, last_bin, missing_left):
    word = np.array([number_split(feature, last_bin, missing_left)])
    assert node_codec.is_split(word).all()
    assert not node_codec.is_category(word).any()
    assert node_codec.feature_of(word).tolist() == [feature]
    assert node_codec.last_bin(word).tolist() == [last_bin]
    assert node_codec.missing_left(word).tolist() == [bool(missing_left)]
    codes = np.arange(256)
    expected = np.where(codes == 255, bool(missing_left), codes <= last_bin)
    np.testing.assert_array_equal(node_codec.goes_left(word.repeat(256), codes), expected)


def test_splits_by_category_and_leaves():
    word = np.array([5 << 10 | 1, LEAF, LEAF + 1, LEAF + 2])
    np.testing.assert_array_equal(node_codec.is_category(word), [True, False, False, False])
    np.testing.assert_array_equal(node_codec.is_pure(word), [False, True, False, False])
    np.testing.assert_array_equal(node_codec.is_mixed(word), [False, False, True, False])
    np.testing.assert_array_equal(node_codec.is_binary(word), [False, False, False, True])
    np.testing.assert_array_equal(node_codec.is_split(word), [True, False, False, False])


def test_binary_leaves_hold_float_bits():
    bits = np.array([0.25, 1.0], dtype=np.float32).view(np.uint32).astype(np.int64)
    np.testing.assert_array_equal(node_codec.probability(bits), np.array([0.25, 1.0], dtype=np.float32))


def test_sets_of_categories():
    members = [0, 63, 64, 200, 255]
    words = np.zeros(4, dtype=np.uint64)
    for code in members:
        words[code // 64] |= np.uint64(1) << np.uint64(code % 64)
    assert node_codec.set_members(words) == members
    codes = np.arange(256)
    found = node_codec.in_set(np.tile(words, (256, 1)), codes)
    np.testing.assert_array_equal(found, np.isin(codes, members))


def test_short_nodes_are_read_as_whole_ones():
    bits = 16
    small_leaf = ((1 << (bits - 10)) - 1) << 10
    nodes = np.array(
        [9 << bits | number_split(3, 5, 1), 2 << bits | small_leaf, 4 << bits | 3 << 10 | 1], dtype=np.uint32
    )
    number, word, near = node_codec.read_short(nodes, bits)
    assert number.tolist() == [9, 2, 4]
    assert near.tolist() == [True, False, False]
    assert node_codec.feature_of(word[:1]).tolist() == [3]
    assert node_codec.is_pure(word).tolist() == [False, True, False]
