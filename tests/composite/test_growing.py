"""Grown trees: their importances under a cut."""

import numpy as np
import pytest

from surewood.composite.growing import TreeRange, grow, grow_to_size, mean_sample_size, split_importances
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.leaves import cut
from surewood.composite.setting import Setting
from tests.composite.composite_samples import prepared, sample

OPTIONS = SolverOptions()


def setting(**changes):
    base = {"max_depth": 2, "max_features": 2, "degrees": (1,), "C": (1.0,), "gamma_scale": 1e-4}
    return Setting(**(base | changes))


@pytest.mark.parametrize(
    "draws",
    [{}, {"sampling": "subsample", "n_draws": 100}, {"sampling": "bootstrap"}],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_importances_of_a_cut_tree_are_those_of_the_shallow_tree(draws, weighted):
    X, y = sample(150)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.5], 150) if weighted else None
    data = prepared(X, y, weight)
    deep = grow(data, setting(max_depth=6, **draws), TreeRange(5, 3, 2), OPTIONS)
    shallow = grow(data, setting(**draws), TreeRange(5, 3, 2), OPTIONS)
    found = split_importances(data, deep, cut(deep.topology, 2))
    assert found == pytest.approx(shallow.grown.importances, abs=1e-6)
    whole = split_importances(data, shallow, cut(shallow.topology, 2))
    assert np.array_equal(whole, shallow.grown.importances)


def test_a_tree_cut_at_its_root_has_no_importances():
    data = prepared(*sample(80))
    grove, stop = grow_to_size(data, setting(max_depth=0), TreeRange(3, 0), OPTIONS)
    assert split_importances(data, grove, stop).tolist() == [0.0] * 6


def test_nothing_is_grown_below_the_leaves():
    data = prepared(*sample(150))
    grove, stop = grow_to_size(data, setting(max_size=20), TreeRange(5, 3), OPTIONS)
    split = ~grove.topology.terminal
    assert (stop[split] < 0).all()
    deep = grow(data, setting(), TreeRange(5, 3), OPTIONS, depth=60)
    sizes = deep.topology.sizes(deep.assigned, deep.bags)
    ends = deep.topology.code[cut(deep.topology, 2, 20, sizes)[deep.assigned + deep.topology.start[:-1]]]
    assert np.array_equal(grove.topology.code[grove.assigned + grove.topology.start[:-1]], ends)


def test_the_mean_sample_size_is_known_before_growing():
    data = prepared(*sample(80))
    bags = setting(sampling="subsample", n_draws=50)
    grove = grow(data, bags, TreeRange(4, 1, 3), OPTIONS)
    assert mean_sample_size(data, bags, 4, 1, 3) == grove.sample_size(data).mean() == 50
