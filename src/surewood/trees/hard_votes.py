"""Trees whose leaves vote for one class: then the mean of their class vectors is a count of votes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surewood.trees import node_codec
from surewood.trees.flat_tree import FlatForest


def with_hard_votes(forest: FlatForest) -> FlatForest:
    """The same trees, in which every leaf votes for its most frequent class, the lower one on ties.

    Examples
    --------
    >>> from surewood.trees import TreeParams, bin_array, grow_forest
    >>> matrix = bin_array(np.zeros((3, 1)))
    >>> forest = grow_forest(matrix, np.array([0, 1, 1]), 2, TreeParams(), n_trees=1, seed=0).forest
    >>> forest.predict_proba(matrix)[0].round(2).tolist(), with_hard_votes(forest).predict_proba(matrix)[0]
    ([0.33, 0.67], array([0., 1.]))
    """
    whole = forest.with_whole_nodes()
    votes = whole.node_votes()
    leaf = ~node_codec.is_split(whole.nodes[:, 1].astype(np.int64))
    nodes = whole.nodes.copy()
    nodes[leaf, 0] = votes[leaf]
    nodes[leaf, 1] = node_codec.PURE_LEAF
    return replace(
        whole,
        nodes=nodes,
        leaf_class=whole.leaf_class[:0],
        leaf_weight=whole.leaf_weight[:0],
        leaf_start=np.zeros_like(whole.leaf_start),
    )


__all__ = ["with_hard_votes"]
