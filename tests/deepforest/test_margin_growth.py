from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification

from surewood.deepforest.additive import StepRule
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.margin_growth import MarginGrowth, train_first_layer
from surewood.deepforest.members import PUBLISHED, parse_members
from surewood.deepforest.plan import MarginPlan, RunOptions
from surewood.deepforest.reweighting import CHOICES, WeightRule
from surewood.trees import BinnedMatrix, as_table, bin_array
from tests.deepforest.reference_margin_forest import reference_margin_forest

RUN = RunOptions()


def plan(n_trees=5, **changes):
    standard = MarginPlan(
        members=parse_members(PUBLISHED, n_trees), schedule=(8,) * 4, n_folds=3, max_layers=4
    )
    return replace(standard, **changes)


@pytest.fixture(scope="module")
def training():
    X, y = make_classification(
        240, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, flip_y=0.1, random_state=1
    )
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.arange(3))


def test_agrees_with_the_reference_built_from_scikit_learn():
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))
    train, new = rows[:350], rows[350:850]
    X, y = X[:, 8:56], y.astype(np.int32)
    settings = {"n_layers": 2, "n_trees": 15, "n_folds": 3, "rate": 4, "theta": 0.8, "mu": 0.05}
    expected = reference_margin_forest(X[train], y[train], X[new], seed=0, **settings)
    base = bin_array(X[train])
    ours = MarginGrowth(
        TrainingSet(LayerInput(base), y[train], np.arange(10)),
        plan(15, schedule=(4,) * 4, max_layers=2, step=StepRule("simplex", "layer", 0.8, 0.05)),
        RunOptions(keep_held_out=True),
    ).grown()
    inputs = LayerInput(BinnedMatrix.of(base.mapper.codes(as_table(X[new])), base.mapper))
    staged = list(ours.layers.staged_scores(inputs))
    for layer, (held_out, scores, step) in enumerate(expected):
        mine = ours.staged_held_out[layer]
        assert np.corrcoef(mine.ravel(), held_out.ravel())[0, 1] > 0.94
        assert (mine.argmax(1) == y[train]).mean() == pytest.approx(
            (held_out.argmax(1) == y[train]).mean(), abs=0.04
        )
        assert ours.records[layer].step == pytest.approx(step, abs=0.2)
        if layer < len(staged):
            assert np.corrcoef(staged[layer].ravel(), scores.ravel())[0, 1] > 0.94
            assert (staged[layer].argmax(1) == y[new]).mean() == pytest.approx(
                (scores.argmax(1) == y[new]).mean(), abs=0.03
            )


@pytest.mark.parametrize("mode", ["simplex", "literal", "capped"])
@pytest.mark.parametrize("margins", ["layer", "of_sum"])
def test_every_mode_grows_and_its_scores_are_distributions(training, mode, margins):
    fit = MarginGrowth(training, plan(step=StepRule(mode, margins)), RUN).grown()
    np.testing.assert_allclose(fit.held_out.sum(axis=1), 1.0)
    for scores in fit.layers.staged_scores(training.inputs):
        np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    alphas = fit.layers.alphas()
    assert min(alphas) >= 0
    if mode == "simplex":
        assert sum(alphas) == pytest.approx(1.0)
    else:
        assert list(alphas) == [layer.step for layer in fit.layers.layers]


def test_the_kept_layer_is_the_best_and_never_below_the_first(training):
    fit = MarginGrowth(training, plan(weights=WeightRule("literal")), RUN).grown()
    best = max(record.score for record in fit.records)
    assert fit.score == best >= fit.records[0].score
    assert (fit.held_out.argmax(axis=1) == training.y).mean() == pytest.approx(best)
    assert [record.kept for record in fit.records].count(True) == len(fit.layers.layers)


def test_a_shared_first_layer_changes_nothing(training):
    first = train_first_layer(training, plan(), RUN)
    for theta in (0.7, 0.9):
        chosen = plan(step=StepRule(theta=theta))
        shared, alone = (MarginGrowth(training, chosen, RUN).grown(f) for f in (first, None))
        np.testing.assert_array_equal(shared.held_out, alone.held_out)


def test_variants_see_what_they_should(training):
    for layer_inputs, columns in (("both", 9), ("scores", 3), ("features", 6)):
        fit = MarginGrowth(training, plan(layer_inputs=layer_inputs, patience=9, max_layers=2), RUN).grown()
        if len(fit.layers.layers) > 1:
            assert fit.layers.layers[1].block.models[0].n_features == columns
        assert len(fit.records) <= 2


def test_chosen_resolves_to_the_best_exponent_at_the_second_layer(training):
    fit = MarginGrowth(training, plan(weights=WeightRule("chosen"), max_layers=2), RUN).grown()
    assert fit.plan.weights.kind == "tempered"
    assert fit.plan.weights.strength in CHOICES
    others = [
        MarginGrowth(training, plan(weights=WeightRule("tempered", t), max_layers=2), RUN).grown().records[1]
        for t in CHOICES
    ]
    assert fit.records[1].score == max(record.score for record in others)


def test_a_validation_set_decides_where_there_is_one(training):
    rows, held = np.flatnonzero(np.arange(240) % 4), np.arange(0, 240, 4)
    fit = MarginGrowth(training.take(rows), plan(), RUN, validation=training.take(held)).grown()
    points = training.take(held)
    *_, scores = fit.layers.staged_scores(points.inputs)
    assert fit.score == pytest.approx((scores.argmax(axis=1) == points.y).mean())


def test_weights_of_points_reach_margins_and_scores(training):
    weight = np.where(training.y == 2, 3.0, 1.0)
    weighted = replace(training, weight=weight / weight.mean())
    fit = MarginGrowth(weighted, plan(), RUN).grown()
    right = fit.held_out.argmax(axis=1) == training.y
    assert fit.score == pytest.approx(np.average(right, weights=weight))


def test_all_points_right_ends_the_growth_at_once():
    X = np.repeat([0.0, 10.0], 30)[:, None] + np.random.default_rng(0).random((60, 1))
    clean = TrainingSet(LayerInput(bin_array(X)), np.repeat([0, 1], 30).astype(np.int32), np.arange(2))
    assert len(MarginGrowth(clean, plan(), RUN).grown().records) == 1


def test_equal_margins_are_defined():
    """Nothing to learn: constant inputs, balanced classes."""
    same = TrainingSet(
        LayerInput(bin_array(np.zeros((40, 2)))), (np.arange(40) % 2).astype(np.int32), np.arange(2)
    )
    fit = MarginGrowth(same, plan(), RUN).grown()
    np.testing.assert_allclose(fit.held_out.sum(axis=1), 1.0)
