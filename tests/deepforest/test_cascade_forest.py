"""The cascade forest through its public class, its growth, and confidence screening."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine, make_classification

from surewood.deepforest import CascadeForestClassifier
from surewood.deepforest.cascade_growth import CascadeGrowth, automatic_gate, stopping_points
from surewood.deepforest.data import LayerInput, TrainingSet
from surewood.deepforest.forests import PUBLISHED, parse_members
from surewood.deepforest.plan import CascadeSetting, RunOptions
from surewood.trees.binning import bin_array


@pytest.fixture(scope="module")
def training():
    X, y = make_classification(
        300, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, flip_y=0.1, random_state=0
    )
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.arange(3))


def setting(**changes):
    standard = {"max_layers": 4, "patience": 4, "min_improvement": 0.0}
    return CascadeSetting(members=parse_members(PUBLISHED, 5), n_folds=3, **{**standard, **changes})


def test_later_layers_see_all_forests_of_the_layer_before(training):
    fit = CascadeGrowth(training, setting(patience=9), RunOptions()).grown()
    widths = [layer.block.models[0].n_features for layer in fit.layers.layers]
    assert widths[0] == 6
    assert set(widths[1:]) <= {6 + 4 * 3}


def test_the_last_layer_is_the_best_one_and_its_mean_is_the_prediction(training):
    fit = CascadeGrowth(training, setting(), RunOptions(keep_held_out=True)).grown()
    best = max(record.score for record in fit.records)
    assert fit.records[len(fit.layers.layers) - 1].score == best
    np.testing.assert_array_equal(fit.held_out, fit.staged_held_out[len(fit.layers.layers) - 1])
    stages = [scores for *_, scores in fit.layers.walk(training.inputs)]
    assert len(stages) == len(fit.layers.layers)
    np.testing.assert_allclose(stages[-1].sum(axis=1), 1.0)


@pytest.mark.parametrize("screening", ["auto", 0.9])
def test_screened_points_stop_in_training_and_in_prediction(training, screening):
    fit = CascadeGrowth(
        training, setting(screening=screening, patience=9), RunOptions(keep_held_out=True)
    ).grown()
    in_play = [record.n_points for record in fit.records]
    assert in_play == sorted(in_play, reverse=True)
    gate = fit.layers.layers[0].gate
    if len(fit.records) > 1 and gate < np.inf:
        assert in_play[1] < in_play[0]
    stages = [scores for *_, scores in fit.layers.walk(training.inputs)]
    for layer, before, after in zip(fit.layers.layers, stages, stages[1:]):
        sure = before.max(axis=1) >= layer.gate
        np.testing.assert_array_equal(before[sure], after[sure])


def test_a_gate_that_everybody_passes_leaves_the_first_layer_in_charge(training):
    fit = CascadeGrowth(training, setting(screening=0.0), RunOptions()).grown()
    assert [record.n_points for record in fit.records][1:] == [9] * (len(fit.records) - 1)  # 3 per class stay
    stages = [scores for *_, scores in fit.layers.walk(training.inputs)]
    np.testing.assert_array_equal(stages[0], stages[-1])


def small(**parameters):
    return CascadeForestClassifier(**{"n_estimators": 5, "max_layers": 3, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.mark.parametrize("screening", [None, "auto", 0.8])
def test_learns(wine, screening):
    X, y = wine
    model = small(screening=screening, n_estimators=20).fit(X, y)
    assert model.score(X, y) > 0.95
    assert len(model.gates_) == model.n_layers_
    assert (model.gates_ == np.inf).all() == (screening is None)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.shape == (13,)


def test_many_rows_are_predicted_in_parts(wine, monkeypatch):
    X, y = wine
    for screening in (None, "auto"):
        model = small(screening=screening).fit(X, y)
        expected = model.predict_proba(X)
        monkeypatch.setattr("surewood.deepforest.model._ROWS_AT_ONCE", 50)
        np.testing.assert_array_equal(model.predict_proba(X), expected)
        monkeypatch.undo()


def test_the_published_cascade_has_a_name(wine):
    model = CascadeForestClassifier.paper(n_estimators=2, max_layers=2, random_state=0)
    assert (len(model.forests), model.cv) == (8, 3)
    assert model.fit(*wine).layers_[0].n_trees == 8 * 2 * 3


def brute_force_gate(vectors, y):
    confidence, right = vectors.max(axis=1), vectors.argmax(axis=1) == y
    required = 1 - (1 - right.mean()) / 3
    gates = [c for c in np.unique(confidence) if right[confidence >= c].mean() > required]
    return min(gates, default=np.inf)


@given(st.integers(0, 10_000), st.integers(2, 30))
def test_the_gate_equals_trying_every_confidence(seed, m):
    rng = np.random.default_rng(seed)
    vectors = np.round(rng.dirichlet(np.ones(3), m), 1)  # ties
    y = rng.integers(0, 3, m)
    assert automatic_gate(vectors, y) == brute_force_gate(vectors, y)


def test_no_gate_when_nothing_is_sure_enough():
    vectors = np.array([[0.6, 0.4], [0.7, 0.3]])
    assert automatic_gate(vectors, np.array([1, 1])) == np.inf


@given(st.integers(0, 1000), st.integers(1, 4))
def test_every_class_keeps_enough_points_in_play(seed, least):
    rng = np.random.default_rng(seed)
    vectors, y = rng.dirichlet(np.ones(3), 25), rng.integers(0, 3, 25)
    stops = stopping_points(vectors, y, 0.0, least, 3)
    for code in range(3):
        assert (~stops[y == code]).sum() == min(least, (y == code).sum())
