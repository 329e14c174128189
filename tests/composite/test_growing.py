"""Grown trees: cuts, row sets, nested depths, importances."""

import numpy as np
import pytest

from surewood.composite.growing import (
    IndexSets,
    TreeRange,
    collect_leaves,
    cut,
    grow,
    grow_to_size,
    mean_sample_size,
    split_importances,
)
from tests.composite.composite_samples import prepared, sample, setting


@pytest.mark.parametrize(
    "draws",
    [{}, {"sampling": "subsample", "n_draws": 100}, {"sampling": "bootstrap"}],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_importances_of_a_cut_tree_are_those_of_the_shallow_tree(draws, weighted):
    X, y = sample(150)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.5], 150) if weighted else None
    data = prepared(X, y, weight)
    deep = grow(data, setting(max_depth=6, **draws), TreeRange(5, 3, 2))
    shallow = grow(data, setting(**draws), TreeRange(5, 3, 2))
    found = split_importances(data, deep, cut(deep.topology, 2))
    assert found == pytest.approx(shallow.grown.importances, abs=1e-6)
    whole = split_importances(data, shallow, cut(shallow.topology, 2))
    assert np.array_equal(whole, shallow.grown.importances)


def test_a_tree_cut_at_its_root_has_no_importances():
    data = prepared(*sample(80))
    grove, stop = grow_to_size(data, setting(max_depth=0), TreeRange(3, 0))
    assert split_importances(data, grove, stop).tolist() == [0.0] * 6


def test_nothing_is_grown_below_the_leaves():
    data = prepared(*sample(150))
    grove, stop = grow_to_size(data, setting(max_size=20), TreeRange(5, 3))
    split = ~grove.topology.terminal
    assert (stop[split] < 0).all()
    deep = grow(data, setting(), TreeRange(5, 3), depth=60)
    sizes = deep.topology.sizes(deep.assigned, deep.bags)
    ends = deep.topology.code[cut(deep.topology, 2, 20, sizes)[deep.assigned + deep.topology.start[:-1]]]
    assert np.array_equal(grove.topology.code[grove.assigned + grove.topology.start[:-1]], ends)


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
    grove, stop = grow_to_size(data, limited, TreeRange(4, 0))
    leaves, sets = leaves_of(data, grove, stop)
    sizes = np.array([len(sets.rows[k]) for k in leaves.set_id])
    assert sizes[~sets.pure[leaves.set_id]].max() <= 30  # pure leaves need no SVM
    assert leaves.depth.min() >= 1
    # No leaf is cut further than it must be: the parent of a leaf below depth 1 was too large.
    counts = grove.topology.sizes(grove.assigned, grove.bags)
    deeper = leaves.depth > 1
    assert (counts[grove.topology.parent[leaves.node[deeper]]] > 30).all()


def test_the_size_limit_gives_up_on_equal_rows():
    rng = np.random.default_rng(0)
    X = np.zeros((60, 2))
    X[:30, 1] = 1.0
    y = rng.integers(0, 2, 60)
    data = prepared(X, y)  # merged: at most four distinct rows
    grove, stop = grow_to_size(data, setting(max_depth=0, max_size=2), TreeRange(1, 0))
    leaves, _ = leaves_of(data, grove, stop)
    assert len(leaves) == 2
