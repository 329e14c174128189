"""Cuts, row sets and nested depths."""

import numpy as np
import pytest

from surewood.composite.growing import TreeRange, grow, grow_to_size
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.leaves import IndexSets, Topology, collect_leaves, cut
from surewood.composite.setting import Setting
from tests.composite.composite_samples import prepared, sample

OPTIONS = SolverOptions()


def setting(depth, **changes):
    base = {"max_depth": depth, "max_features": 2, "degrees": (1, 2), "C": (1.0, 1.0), "gamma_scale": 1e-4}
    return Setting(**(base | changes))


def leaves_of(data, grove, stop):
    sets = IndexSets(data.y, data.weight, data.n_classes)
    return collect_leaves(grove.topology, stop, grove.assigned, grove.bags, sets), sets


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
def test_a_tree_cut_at_a_depth_is_the_tree_grown_to_it(data, depth):
    deep = grow(data, setting(6), TreeRange(8, 5), OPTIONS)
    shallow = grow(data, setting(depth), TreeRange(8, 5), OPTIONS)
    a, a_sets = leaves_of(data, deep, cut(deep.topology, depth))
    b, b_sets = leaves_of(data, shallow, cut(shallow.topology, depth))
    assert a.tree.tolist() == b.tree.tolist()
    assert a.code.tolist() == b.code.tolist()
    assert a.depth.tolist() == b.depth.tolist()
    for k, j in zip(a.set_id, b.set_id):
        assert np.array_equal(a_sets.rows[k], b_sets.rows[j])


def test_every_row_is_in_exactly_one_leaf(data):
    grove = grow(data, setting(4), TreeRange(5, 0), OPTIONS)
    leaves, sets = leaves_of(data, grove, cut(grove.topology, 3))
    for tree in range(5):
        rows = np.concatenate([sets.rows[k] for k in leaves.set_id[leaves.tree == tree]])
        assert np.array_equal(np.sort(rows), np.arange(data.n_rows))
    assert sets.total[leaves.set_id[leaves.tree == 0]].sum() == data.total()


def test_equal_row_sets_are_one_set():
    X, y = sample()
    data = prepared(X, y)
    grove = grow(
        data, setting(2, max_features=X.shape[1]), TreeRange(10, 0), OPTIONS
    )  # nothing left to chance
    leaves, sets = leaves_of(data, grove, cut(grove.topology, 2))
    assert len(leaves) == 10 * len(sets)


def test_leaves_above_the_size_limit_go_deeper(data):
    limited = setting(1, max_size=30)
    grove, stop = grow_to_size(data, limited, TreeRange(4, 0), OPTIONS)
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
    grove, stop = grow_to_size(data, setting(0, max_size=2, max_features=2), TreeRange(1, 0), OPTIONS)
    leaves, _ = leaves_of(data, grove, stop)
    assert len(leaves) == 2


def test_path_codes_name_the_path(data):
    grove = grow(data, setting(3), TreeRange(1, 0), OPTIONS)
    topology = Topology.of(grove.forest)
    assert topology.code[0] == 1
    inner = np.flatnonzero(~topology.terminal)
    for node in inner:
        children = np.flatnonzero(topology.parent == node)
        assert sorted(topology.code[children].tolist()) == [
            2 * int(topology.code[node]),
            2 * int(topology.code[node]) + 1,
        ]


def test_facts_of_a_set_count_weights():
    y = np.array([0, 0, 1, 1], dtype=np.int32)
    sets = IndexSets(y, np.array([1.0, 1.0, 3.0, 0.5]), 2)
    mixed = sets.add(np.array([0, 1, 2], dtype=np.int32))
    pure = sets.add(np.array([2, 3], dtype=np.int32))
    again = sets.add(np.array([0, 1, 2], dtype=np.int32))
    assert mixed == again != pure
    assert sets.total.tolist() == [5.0, 3.5]
    assert sets.majority.tolist() == [1, 1]
    assert sets.majority_total.tolist() == [3.0, 3.5]
    assert sets.pure.tolist() == [False, True]
