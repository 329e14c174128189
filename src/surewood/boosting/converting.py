"""Trees of scikit-learn's histogram boosting as a :class:`FlatForest` and a value per node.

They were grown on our codes, so every threshold lies between two bins of a column and every set of
categories is a set of bins. A category that a model did not see goes where missing values go, as in
scikit-learn. The children of a node stand side by side in our trees, level after level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surewood._arrays import Floats
from surewood.trees.binning import MISSING_CODE, BinMapper
from surewood.trees.flat_tree import FlatForest
from surewood.trees.node_codec import PURE_LEAF, pack_set, split_word

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GrownTree:
    """A tree as scikit-learn has it."""

    #: Fields of scikit-learn's trees; ``feature_idx`` is a column of our table.
    nodes: NDArray[Any]
    #: Codes that go left at each split by categories, by ``bitset_idx``, shape (n_category_splits, 256).
    left_sets: NDArray[np.bool_]


def flat_forest(
    trees: Sequence[GrownTree], mapper: BinMapper, n_classes: int
) -> tuple[FlatForest, NDArray[np.float32], Floats]:
    """The trees, the value of every node (0 for splits), and the gain of the splits on each column."""
    n_features, n_bins = mapper.n_columns, np.diff(mapper.offset)
    parts = [_flat_tree(tree, n_bins) for tree in trees]
    sizes = {key: np.cumsum([0, *(len(part[key]) for part in parts)]) for key in ("nodes", "category_left")}

    def joined(key: str, empty: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([empty, *(part[key] for part in parts)])

    forest = FlatForest(
        nodes=joined("nodes", np.empty((0, 2), dtype=np.uint32)),
        leaf_class=np.empty(0, dtype=np.uint16),
        leaf_weight=np.empty(0, dtype=np.uint32),
        category_left=joined("category_left", np.empty(0, dtype=np.uint32)),
        category_set=joined("category_set", np.empty((0, 4), dtype=np.uint64)),
        node_start=sizes["nodes"].astype(np.int64),
        leaf_start=np.zeros(len(parts) + 1, dtype=np.int64),
        category_start=sizes["category_left"].astype(np.int64),
        n_classes=n_classes,
        n_features=n_features,
    )
    gains = np.zeros(n_features)
    for tree in trees:
        split = tree.nodes[tree.nodes["is_leaf"] == 0]
        np.add.at(gains, split["feature_idx"], np.maximum(split["gain"], 0.0))
    return forest, joined("values", np.empty(0, dtype=np.float32)), gains


def _flat_tree(tree: GrownTree, n_bins: Ints) -> dict[str, NDArray[Any]]:
    """One tree in our order."""
    order, left = _level_order(tree.nodes)
    nodes = tree.nodes[order]
    leaf, category = nodes["is_leaf"] == 1, nodes["is_categorical"] == 1
    category &= ~leaf
    feature = np.where(leaf, 0, nodes["feature_idx"]).astype(np.int64)
    with np.errstate(invalid="ignore"):  # a leaf has no threshold
        threshold = np.where(leaf, 0.0, nodes["num_threshold"])
    last = np.minimum(np.floor(threshold), n_bins[feature] - 1).astype(np.int64)
    word = split_word(feature, last, nodes["missing_go_to_left"] == 1, category)
    content = left.copy()
    content[category] = np.arange(category.sum())
    content[leaf], word[leaf] = 0, PURE_LEAF
    return {
        "nodes": np.stack([content, word], axis=1).astype(np.uint32),
        "values": np.where(leaf, nodes["value"], 0.0).astype(np.float32),
        "category_left": left[category].astype(np.uint32),
        "category_set": pack_set(tree.left_sets[nodes["bitset_idx"][category]]),
    }


def _level_order(nodes: NDArray[Any]) -> tuple[Ints, Ints]:
    """Nodes level by level, children side by side, and the new number of each node's left child."""
    levels, level, made = [np.zeros(1, dtype=np.int64)], np.zeros(1, dtype=np.int64), 1
    lefts = []
    while True:
        split = nodes["is_leaf"][level] == 0
        left = np.zeros(len(level), dtype=np.int64)
        left[split] = made + 2 * np.arange(split.sum())
        lefts.append(left)
        if not split.any():
            return np.concatenate(levels), np.concatenate(lefts)
        parents = level[split]
        level = np.stack([nodes["left"][parents], nodes["right"][parents]], axis=1).ravel().astype(np.int64)
        levels.append(level)
        made += len(level)


def left_codes(bits: NDArray[Any], known: NDArray[Any], missing_left: bool) -> NDArray[np.bool_]:
    """Which of the codes 0 to 255 go left at a split by categories.

    `bits` is scikit-learn's set of the numbers of categories, `known` the code of each number.
    """
    left: NDArray[np.bool_] = np.full(MISSING_CODE + 1, missing_left)
    number = np.arange(len(known))
    left[known] = (bits[number >> 5] >> (number & 31).astype(bits.dtype)) & 1 == 1
    return left
