"""When growing stops and which layer is kept."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss, make_scorer, matthews_corrcoef

from surewood.base.time_limit import TimeLimit
from surewood.deepforest.blocks import Block
from surewood.deepforest.data import LayerInput, TrainingSet
from surewood.deepforest.forests import parse_members
from surewood.deepforest.plan import MarginSetting, RunOptions
from surewood.deepforest.stopping import Growth, held_out_score, mean_and_error
from surewood.trees.binning import bin_array

SETTING = MarginSetting(
    members=parse_members(["random", "random"], 2), schedule=(4, None), max_layers=9, patience=3
)
TRAINING = TrainingSet(
    LayerInput(bin_array(np.zeros((4, 1)))), np.array([0, 0, 1, 1], np.int32), np.array(["a", "b"])
)
RIGHT = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
WRONG = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4]])


def growth_of(**changes):
    options = {name: changes.pop(name) for name in ("keep_held_out", "time_limit") if name in changes}
    return Growth(TRAINING, replace(SETTING, **changes), RunOptions(**options))


def record_of(growth, scores, **changes):
    weight = np.array([2.0, 0.0, 1.0, 1.0])
    record = growth.record_of(scores, WRONG, Block([], 2), step=0.5, weight=weight, n_points=4, seconds=1.0)
    return replace(record, **changes)


def add(growth, scores, *, is_last=False, **changes):
    growth.take_in(record_of(growth, scores, **changes), scores, scores, is_last=is_last)


def grown(scores, ratios=None, **changes):
    """A growth that took in layers of these scores until it stopped."""
    growth = growth_of(**changes)
    for number, score in enumerate(scores):
        add(growth, WRONG, score=score, margin_ratio=0.0 if ratios is None else ratios[number])
        if growth.finished:
            break
    return growth


@pytest.mark.parametrize(
    ("scores", "ratios", "changes", "n_layers", "n_kept"),
    [
        ([0.80, 0.85, 0.84, 0.83, 0.82, 0.99], None, {}, 5, 2),  # patience
        ([0.8, 0.80005, 0.80008, 0.80009], None, {}, 4, 4),  # tiny gains end the growth but are kept
        ([0.9, 0.9, 0.9], [0.5, 0.3, 0.3], {}, 3, 2),  # ties: smaller margin ratio, then fewer layers
        ([0.9, 0.9], [0.5, 0.5], {}, 2, 1),
        ([0.9, 0.5, 0.6, 0.7], None, {}, 4, 1),  # never below the first layer
        ([-np.inf, -np.inf], [np.inf, np.inf], {}, 2, 1),  # margin ratios without a mean
        ([0.5, 0.6, 0.7], None, {"max_layers": 2}, 2, 2),
    ],
)
def test_how_far_it_grows_and_what_is_kept(scores, ratios, changes, n_layers, n_kept):
    growth = grown(scores, ratios, **changes)
    assert (len(growth.records), growth.n_kept) == (n_layers, n_kept)


def test_a_record_holds_the_cascade_and_its_own_layer():
    record = record_of(growth_of(), RIGHT)
    assert (record.score, record.accuracy, record.layer_accuracy, record.max_depth) == (1.0, 1.0, 0.5, None)
    assert record.effective_sample_size == pytest.approx(16 / 6 / 4)


def test_the_best_layer_is_kept_with_its_scores():
    growth = growth_of(keep_held_out=True, patience=2)
    for scores, score in ((WRONG, 0.5), (RIGHT, 0.75), (WRONG, 0.5)):
        assert not growth.finished
        add(growth, scores, score=score)
    assert (growth.n_kept, growth.best_score, growth.finished) == (2, 0.75, False)
    add(growth, WRONG, score=0.5)
    assert growth.stop_reason == "no gain"  # two layers in a row were no better
    growth.finish()
    assert [record.kept for record in growth.records] == [True, True, False, False]
    assert growth.held_out is RIGHT
    assert len(growth.staged_held_out) == 4


@pytest.mark.parametrize(
    ("changes", "layer", "reason"),
    [
        ({}, {"score": 1.0}, "perfect"),
        ({}, {"score": 0.5, "is_last": True}, "no gain"),
        ({"max_layers": 1}, {"score": 0.5}, "max_layers"),
        ({"time_limit": TimeLimit(0.0)}, {"score": 0.5}, "time_limit"),
    ],
)
def test_why_growing_ends_after_the_first_layer(changes, layer, reason):
    growth = growth_of(**changes)
    add(growth, WRONG, **layer)
    assert growth.stop_reason == reason
    assert growth.staged_held_out == []


def test_a_gain_within_noise_is_no_gain():
    growth = growth_of(patience=1, min_improvement="noise")
    add(growth, WRONG)
    better = WRONG.copy()
    better[3] = [0.4, 0.6]  # one row more of four: its standard error is 0.22
    add(growth, better)
    assert not growth.finished
    worse_and_better = better.copy()
    worse_and_better[0], worse_and_better[1] = [0.1, 0.9], [0.9, 0.1]
    add(growth, worse_and_better, score=0.8)
    assert growth.stop_reason == "no gain"  # 0.05 better, with two rows that changed sides
    assert growth.n_kept == 3  # it was grown, so the better one is kept


def test_a_layer_that_was_given_up_is_recorded_and_not_kept():
    growth = growth_of(keep_held_out=True)
    add(growth, WRONG)
    growth.abandon(record_of(growth, RIGHT), RIGHT)
    assert growth.stop_reason == "no gain"
    growth.finish()
    assert [record.kept for record in growth.records] == [True, False]
    assert len(growth.staged_held_out) == 2


def test_the_mean_and_its_error_are_weighted():
    values, weight = np.array([0.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0])
    mean, error = mean_and_error(values, weight)
    assert mean == pytest.approx(0.5)
    assert error == pytest.approx(np.sqrt((2 * 0.5) ** 2 + 2 * 0.5**2) / 4)


def test_the_monitored_quantity_may_be_any_scorer():
    rng = np.random.default_rng(0)
    vectors = rng.dirichlet(np.ones(3), 50)
    y = rng.integers(0, 3, 50)
    classes = np.array(["a", "b", "c"])
    weight = rng.random(50)
    assert held_out_score("accuracy", vectors, y, classes) == (vectors.argmax(axis=1) == y).mean()
    assert held_out_score("neg_log_loss", 4 * vectors, y, classes) == pytest.approx(-log_loss(y, vectors))
    assert held_out_score("neg_log_loss", vectors, y, classes, weight) == pytest.approx(
        -log_loss(y, vectors, sample_weight=weight)
    )
    own = make_scorer(matthews_corrcoef)
    assert held_out_score(own, vectors, y, classes) == pytest.approx(
        matthews_corrcoef(y, vectors.argmax(axis=1))
    )
    assert np.isfinite(held_out_score("roc_auc_ovr", vectors, y, classes))
    assert np.isfinite(held_out_score("balanced_accuracy", vectors, y, classes, weight))


def test_the_margin_ratio_counts_downwards():
    y, classes = np.array([0, 1]), np.array([0, 1])
    good, bad = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.4, 0.6]])
    assert held_out_score("margin_ratio", good, y, classes) > held_out_score("margin_ratio", bad, y, classes)
    assert held_out_score("margin_ratio", bad[::-1], y, classes) == -np.inf
