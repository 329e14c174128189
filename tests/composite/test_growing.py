"""Grown trees: cuts, row sets, nested depths, importances."""

import numpy as np
import pytest

from surewood.composite.growing import (
    MAX_DEPTH,
    IndexSets,
    TreeRange,
    collect_leaves,
    cut,
    grow,
    mean_sample_size,
)
from tests.composite.composite_samples import prepared, sample, setting


def node_sizes(grove):
    """Rows of the bags that pass each node."""
    topology, sizes = grove.topology, np.zeros(len(grove.topology.parent), dtype=int)
    for tree, rows in enumerate(grove.bags):
        for node in topology.start[tree] + grove.assigned[rows, tree].astype(int):
            while node >= 0:
                sizes[node] += 1
                node = topology.parent[node]
    return sizes


def test_a_tree_without_a_split_has_no_importances():
    grove = grow(prepared(*sample(80)), setting(max_depth=0), TreeRange(3, 0))
    assert grove.topology.code.tolist() == [1, 1, 1]
    assert grove.grown.importances.tolist() == [0.0] * 6


@pytest.mark.parametrize("draws", [{}, {"sampling": "bootstrap"}])
@pytest.mark.parametrize("max_depth", [0, 2])
def test_trees_end_at_the_first_nodes_that_are_deep_and_small_enough(draws, max_depth):
    data = prepared(*sample(150))
    limited = setting(max_depth=max_depth, max_size=20, **draws)
    deep, grown = grow(data, limited, TreeRange(5, 3), depth=60), grow(data, limited, TreeRange(5, 3))
    topology, sizes = deep.topology, node_sizes(deep)
    small = ((topology.depth >= max_depth) & (sizes <= 20)) | topology.terminal
    ends = deep.assigned + topology.start[:-1]
    for row, tree in np.ndindex(ends.shape):
        path = [ends[row, tree]]
        while topology.parent[path[-1]] >= 0:
            path.append(topology.parent[path[-1]])
        ends[row, tree] = next(node for node in reversed(path) if small[node])
    assert np.array_equal(
        grown.topology.code[grown.assigned + grown.topology.start[:-1]], topology.code[ends]
    )


def test_the_mean_sample_size_is_known_before_growing():
    data = prepared(*sample(80))
    bags = setting(sampling="subsample", n_draws=50)
    grove = grow(data, bags, TreeRange(4, 1, 3))
    assert mean_sample_size(data, bags, 4, 1, 3) == grove.sample_size(data).mean() == 50


def leaves_of(data, grove, stop):
    sets = IndexSets(data.y, data.weight, data.n_classes)
    return collect_leaves(grove, stop, sets), sets


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
def test_a_tree_cut_at_a_depth_is_the_tree_grown_to_it(data, depth):
    deep = grow(data, setting(max_depth=6), TreeRange(8, 5))
    shallow = grow(data, setting(max_depth=depth), TreeRange(8, 5))
    a, a_sets = leaves_of(data, deep, cut(deep.topology, depth))
    b, b_sets = leaves_of(data, shallow, cut(shallow.topology, depth))
    assert a.tree.tolist() == b.tree.tolist()
    assert a.code.tolist() == b.code.tolist()
    assert a.depth.tolist() == b.depth.tolist()
    for k, j in zip(a.set_id, b.set_id):
        assert np.array_equal(a_sets.rows[k], b_sets.rows[j])


def test_every_row_is_in_exactly_one_leaf(data):
    grove = grow(data, setting(max_depth=4), TreeRange(5, 0))
    leaves, sets = leaves_of(data, grove, cut(grove.topology, 3))
    for tree in range(5):
        rows = np.concatenate([sets.rows[k] for k in leaves.set_id[leaves.tree == tree]])
        assert np.array_equal(np.sort(rows), np.arange(data.n_rows))
    assert sets.total[leaves.set_id[leaves.tree == 0]].sum() == data.total()


def test_equal_row_sets_are_one_set():
    X, y = sample()
    data = prepared(X, y)
    nothing_left_to_chance = setting(max_features=X.shape[1])
    grove = grow(data, nothing_left_to_chance, TreeRange(10, 0))
    leaves, sets = leaves_of(data, grove, cut(grove.topology, 2))
    assert len(leaves) == 10 * len(sets)


def test_leaves_above_the_size_limit_go_deeper(data):
    limited = setting(max_depth=1, max_size=30)
    grove = grow(data, limited, TreeRange(4, 0))
    leaves, sets = leaves_of(data, grove, cut(grove.topology, MAX_DEPTH))
    sizes = np.array([len(sets.rows[k]) for k in leaves.set_id])
    assert sizes[~sets.pure[leaves.set_id]].max() <= 30  # pure leaves need no SVM
    assert leaves.depth.min() >= 1
    # No leaf is cut further than it must be: the parent of a leaf below depth 1 was too large.
    counts = node_sizes(grove)
    deeper = leaves.depth > 1
    assert (counts[grove.topology.parent[leaves.node[deeper]]] > 30).all()


def test_the_size_limit_gives_up_on_equal_rows():
    rng = np.random.default_rng(0)
    X = np.zeros((60, 2))
    X[:30, 1] = 1.0
    y = rng.integers(0, 2, 60)
    data = prepared(X, y)  # merged: at most four distinct rows
    grove = grow(data, setting(max_depth=0, max_size=2), TreeRange(1, 0))
    leaves, _ = leaves_of(data, grove, cut(grove.topology, MAX_DEPTH))
    assert len(leaves) == 2
