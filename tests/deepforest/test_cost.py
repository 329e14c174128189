import numpy as np
import pytest
from sklearn.datasets import make_classification

from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest.cost import LayerCost, fits_in_memory


@pytest.fixture(scope="module")
def data():
    return make_classification(2000, 10, n_informative=5, random_state=0)


def test_the_estimate_is_of_the_size_of_the_model(data):
    X, y = data
    model = CascadeForestClassifier(10, max_layers=2, study={"patience": 1}, random_state=0)
    estimate = model.estimate_cost(X, y)
    model.fit(X, y)
    measured = np.mean([record.model_bytes for record in model.layers_])
    assert estimate.n_trees_per_layer == model.layers_[0].n_trees
    assert 0.4 < estimate.model_bytes_per_layer / measured < 2.5
    assert estimate.memory_bytes > estimate.working_bytes > X.size
    assert estimate.seconds[0] < estimate.seconds[1]


def test_out_of_bag_needs_fewer_trees(data):
    X, y = data
    folds, bags = (
        MarginDeepForestClassifier(5, study={"cross_fit": c}).estimate_cost(X, y) for c in ("kfold", "oob")
    )
    assert folds.n_trees_per_layer == 5 * bags.n_trees_per_layer
    assert folds.memory_bytes > bags.memory_bytes


def test_memory_decides_between_keeping_spilling_and_refusing(data):
    cost = LayerCost(
        101 * 2**20,
        (0.0, 1.0),
        n_trees_per_layer=100,
        model_bytes_per_layer=10 * 2**20,
        working_bytes=2**20,
    )
    assert fits_in_memory(cost, 200 * 2**20, keep_in_memory=True)
    assert not fits_in_memory(cost, 50 * 2**20, keep_in_memory=True)
    assert not fits_in_memory(cost, 200 * 2**20, keep_in_memory=False)
    with pytest.raises(ValueError, match="needs about 21 MiB even with finished layers on disk, more than"):
        fits_in_memory(cost, 2**20, keep_in_memory=True)
    with pytest.raises(ValueError, match="raise it"):
        CascadeForestClassifier(5, max_memory=1000).fit(*data)
    spilled = CascadeForestClassifier(
        20, max_layers=8, max_memory="4MiB", study={"cross_fit": "oob"}, random_state=0
    )
    cost = spilled.estimate_cost(*data)
    spilled.set_params(max_memory=cost.memory_bytes - 1).fit(*data)
    assert spilled.model_.spill is not None


def test_a_pilot_grows_fewer_trees(data):
    X, y = data
    study = {"pilot_trees": None, "patience": 3, "min_improvement": 1e-4}
    fast, whole = (MarginDeepForestClassifier(40, study=s, random_state=0).fit(X, y) for s in (None, study))
    grown = [sum(record.n_trees for record in model.layers_) for model in (fast, whole)]
    assert grown[0] < 0.5 * grown[1]
    costs = [MarginDeepForestClassifier(40, study=s).estimate_cost(X, y) for s in (None, study)]
    assert costs[0].memory_bytes == pytest.approx(costs[1].memory_bytes, rel=0.5)
