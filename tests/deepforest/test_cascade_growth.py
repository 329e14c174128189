import numpy as np
import pytest
from sklearn.datasets import make_classification

from surewood.deepforest.cascade_growth import CascadeGrowth
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.members import PUBLISHED, parse_members
from surewood.deepforest.plan import CascadePlan, RunOptions
from surewood.trees import bin_array


@pytest.fixture(scope="module")
def training():
    X, y = make_classification(
        300, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, flip_y=0.1, random_state=0
    )
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.arange(3))


def plan(**changes):
    standard = {"max_layers": 4, "patience": 4, "min_improvement": 0.0}
    return CascadePlan(members=parse_members(PUBLISHED, 5), n_folds=3, **{**standard, **changes})


def test_later_layers_see_all_forests_of_the_layer_before(training):
    fit = CascadeGrowth(training, plan(patience=9), RunOptions()).grown()
    widths = [layer.block.models[0].n_features for layer in fit.layers.layers]
    assert widths[0] == 6
    assert set(widths[1:]) <= {6 + 4 * 3}


def test_the_last_layer_is_the_best_one_and_its_mean_is_the_prediction(training):
    fit = CascadeGrowth(training, plan(), RunOptions(keep_held_out=True)).grown()
    best = max(record.score for record in fit.records)
    assert fit.records[len(fit.layers.layers) - 1].score == best
    np.testing.assert_array_equal(fit.held_out, fit.staged_held_out[len(fit.layers.layers) - 1])
    stages = list(fit.layers.staged_scores(training.inputs))
    assert len(stages) == len(fit.layers.layers)
    np.testing.assert_allclose(stages[-1].sum(axis=1), 1.0)


@pytest.mark.parametrize("screening", ["auto", 0.9])
def test_screened_points_stop_in_training_and_in_prediction(training, screening):
    fit = CascadeGrowth(
        training, plan(screening=screening, patience=9), RunOptions(keep_held_out=True)
    ).grown()
    in_play = [record.n_points for record in fit.records]
    assert in_play == sorted(in_play, reverse=True)
    gate = fit.layers.layers[0].gate
    if len(fit.records) > 1 and gate < np.inf:
        assert in_play[1] < in_play[0]
    stages = list(fit.layers.staged_scores(training.inputs))
    for layer, before, after in zip(fit.layers.layers, stages, stages[1:]):
        sure = before.max(axis=1) >= layer.gate
        np.testing.assert_array_equal(before[sure], after[sure])


def test_a_gate_that_everybody_passes_leaves_the_first_layer_in_charge(training):
    fit = CascadeGrowth(training, plan(screening=0.0), RunOptions()).grown()
    assert [record.n_points for record in fit.records][1:] == [9] * (len(fit.records) - 1)  # 3 per class stay
    stages = list(fit.layers.staged_scores(training.inputs))
    np.testing.assert_array_equal(stages[0], stages[-1])


def test_forests_grow_as_points_leave(training):
    fit = CascadeGrowth(
        training, plan(screening="auto", screening_growth=True, patience=9), RunOptions()
    ).grown()
    for record in fit.records:
        expected = 4 * 3 * round(5 * training.n_rows / record.n_points)
        assert record.n_trees == expected
