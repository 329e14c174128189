"""Growing margin forests: the algorithm, layers grown by and by, the race of first layers out of one pool."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine, make_classification

from surewood.base.time_limit import TimeLimit
from surewood.deepforest import margin_growth as module
from surewood.deepforest.data import LayerInput, TrainingSet
from surewood.deepforest.forests import AUTO_BLOCKS, PUBLISHED, parse_members
from surewood.deepforest.margin_growth import (
    FewTrees,
    LayerTask,
    MarginGrowth,
    brier_loss,
    calibrated,
    choose_first_layer,
    few_trees,
    first_layer_task,
    first_layers,
    mixing_gain,
    places_of,
    pool_of,
    race,
    with_at_most,
)
from surewood.deepforest.margins import StepRule
from surewood.deepforest.plan import MarginSetting, RunOptions
from surewood.trees.binning import BinnedMatrix, as_table, bin_array
from tests.deepforest.reference_margin_forest import reference_margin_forest

RUN = RunOptions()


def setting(n_trees=5, **changes):
    standard = MarginSetting(
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
        setting(15, schedule=(4,) * 4, max_layers=2, step=StepRule("simplex", "layer", 0.8, 0.05)),
        RunOptions(keep_held_out=True),
    ).grown()
    inputs = LayerInput(BinnedMatrix.of(base.mapper.codes(as_table(X[new])), base.mapper))
    staged = [scores for *_, scores in ours.layers.walk(inputs)]
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
    fit = MarginGrowth(training, setting(step=StepRule(mode, margins)), RUN).grown()
    np.testing.assert_allclose(fit.held_out.sum(axis=1), 1.0)
    for *_, scores in fit.layers.walk(training.inputs):
        np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    alphas = fit.layers.alphas()
    assert min(alphas) >= 0
    if mode == "simplex":
        assert sum(alphas) == pytest.approx(1.0)
    else:
        assert list(alphas) == [layer.step for layer in fit.layers.layers]


def test_the_kept_layer_is_the_best_and_never_below_the_first(training):
    fit = MarginGrowth(training, setting(reweighting="literal"), RUN).grown()
    best = max(record.score for record in fit.records)
    assert fit.best_score == best >= fit.records[0].score
    assert (fit.held_out.argmax(axis=1) == training.y).mean() == pytest.approx(best)
    assert [record.kept for record in fit.records].count(True) == len(fit.layers.layers)


def test_a_shared_first_layer_changes_nothing(training):
    first = first_layer_task(training, setting(), RUN).train()
    for theta in (0.7, 0.9):
        chosen = setting(step=StepRule(theta=theta))
        shared, alone = (MarginGrowth(training, chosen, RUN).grown(f) for f in (first, None))
        np.testing.assert_array_equal(shared.held_out, alone.held_out)


def test_variants_see_what_they_should(training):
    for layer_inputs, columns in (("both", 9), ("scores", 3), ("features", 6)):
        fit = MarginGrowth(
            training, setting(layer_inputs=layer_inputs, patience=9, max_layers=2), RUN
        ).grown()
        if len(fit.layers.layers) > 1:
            assert fit.layers.layers[1].block.models[0].n_features == columns
        assert len(fit.records) <= 2


def test_weights_of_points_reach_margins_and_scores(training):
    weight = np.where(training.y == 2, 3.0, 1.0)
    weighted = replace(training, weight=weight / weight.mean())
    fit = MarginGrowth(weighted, setting(), RUN).grown()
    right = fit.held_out.argmax(axis=1) == training.y
    assert fit.best_score == pytest.approx(np.average(right, weights=weight))


@pytest.fixture(scope="module")
def two_classes():
    X, y = make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=1)
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.arange(2))


def task(two_classes, forests=("random", "extra"), n_trees=9, **options):
    members = parse_members(forests, n_trees)
    setting = MarginSetting(members=members, schedule=(4,) * len(members), n_folds=3)
    return LayerTask(two_classes, two_classes.inputs, None, setting, 1, RunOptions(**options))


def test_trees_that_come_by_and_by_are_those_of_one_go(two_classes):
    layer = task(two_classes)
    whole = layer.train()
    grown, n_trees = layer.grow(layer.begin(4)[0], 4)
    assert n_trees == 9
    assert grown.block.n_trees == whole.block.n_trees
    np.testing.assert_allclose(grown.vectors, whole.vectors, atol=1e-12)
    np.testing.assert_allclose(grown.member_importances, whole.member_importances, atol=1e-12)
    np.testing.assert_allclose(
        grown.block.vectors(two_classes.inputs), whole.block.vectors(two_classes.inputs), atol=1e-12
    )


def test_forests_may_differ_in_size(two_classes):
    layer = task(two_classes, forests=(("random", 4), ("extra", 9)))
    whole, grown = layer.train(), layer.grow(layer.begin(4)[0], 4)[0]
    assert [model.n_trees for model in grown.block.models] == [12, 27]
    np.testing.assert_allclose(grown.vectors, whole.vectors, atol=1e-12)


def test_places_are_those_of_the_pool(two_classes):
    pool = task(two_classes, forests=("random", "extra", "extra"))
    alone = replace(task(two_classes, forests=("extra",)), places=[2])
    np.testing.assert_array_equal(alone.train().vectors[0], pool.train().vectors[2])


def test_growing_stops_when_the_time_is_over(two_classes):
    layer = task(two_classes, time_limit=TimeLimit(0.0))
    fit, n_trees = layer.grow(layer.begin(4)[0], 4)
    assert (n_trees, fit.block.n_trees) == (4, 2 * 3 * 4)


def test_no_more_trees_than_needed(two_classes, monkeypatch):
    layer = task(two_classes, n_trees=50)
    fit, halves = layer.begin(10)
    few = few_trees(halves, fit, 5, 10)
    assert few.n_trees == 10
    sizes = []
    for tolerance in (1e-3, 0.1, 1e3):
        monkeypatch.setattr("surewood.deepforest.margin_growth.TOLERANCE", tolerance)
        sizes.append(layer.with_trees_needed(few).setting.members[0].n_trees)
    assert sizes[0] == 50
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] == 30
    assert [n for _, n in with_at_most(layer.setting, 7).forests] == [7, 7]


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(0).integers(0, 3, 4000).astype(np.int32)


def trees(y, n_trees, seed, noise=1.0):
    """Vectors of single trees: one common opinion of each row, and noise of each tree's own."""
    rng = np.random.default_rng(7)
    common = np.eye(3)[y] + rng.normal(0.0, 0.8, (len(y), 3))
    rng = np.random.default_rng(seed)
    return [_softmax(common) + noise * rng.normal(0.0, 0.1, (len(y), 3)) for _ in range(n_trees)]


def _softmax(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


def test_halves_tell_what_more_trees_would_gain(y):
    grown = trees(y, 400, seed=1)
    few = FewTrees.of_halves(np.mean(grown[:5], axis=0), np.mean(grown[5:10], axis=0), 5, 5)
    limit = brier_loss(np.mean(grown, axis=0), y).mean()
    assert few.n_trees == 10
    assert brier_loss(few.vectors, y).mean() > limit + 5 * abs(
        (brier_loss(few.vectors, y) - few.variance).mean() - limit
    )


def test_unequal_parts_estimate_the_same_variance(y):
    grown = trees(y, 12, seed=2)
    estimates = [
        FewTrees.of_halves(np.mean(grown[:k], axis=0), np.mean(grown[k:], axis=0), k, 12 - k).variance.mean()
        for k in (2, 6, 9)
    ]
    np.testing.assert_allclose(estimates, 3 * 0.1**2 / 12, rtol=0.1)


def test_trees_needed_follow_tolerance_folds_and_noise(y):
    def needed(tolerance=0.2, n_folds=5, noise=1.0):
        grown = trees(y, 10, seed=3, noise=noise)
        few = FewTrees.of_halves(np.mean(grown[:5], axis=0), np.mean(grown[5:], axis=0), 5, 5)
        return few.trees_needed(y, None, tolerance, n_folds)

    assert needed(tolerance=0.1) == pytest.approx(2 * needed(), abs=1)
    assert needed(n_folds=1) == pytest.approx(5 * needed(), abs=5)
    assert needed(noise=2.0) > 3 * needed()


def test_equal_halves_need_no_more_trees(y):
    vectors = np.mean(trees(y, 3, seed=4), axis=0)
    assert FewTrees.of_halves(vectors, vectors, 5, 5).trees_needed(y, None, 0.2, 5) == 10


@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_calibration_undoes_a_power(y, exponent):
    probability = _softmax(2.0 * np.eye(3)[y] + np.random.default_rng(5).normal(0.0, 1.0, (len(y), 3)))
    raised = probability**exponent
    raised /= raised.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(calibrated(raised, y), calibrated(probability, y), atol=0.02)
    assert brier_loss(calibrated(raised, y), y).mean() <= brier_loss(raised, y).mean()


def test_being_bolder_is_no_gain(y):
    vectors = _softmax(np.eye(3)[y] + np.random.default_rng(6).normal(0.0, 0.8, (len(y), 3)))
    sharp = vectors**3 / (vectors**3).sum(axis=1, keepdims=True)
    gain, noise = mixing_gain(vectors, sharp, y)
    assert gain < 0.05 * noise


def test_knowing_more_is_a_gain(y):
    rng = np.random.default_rng(8)
    first, second = (_softmax(np.eye(3)[y] + rng.normal(0.0, 0.8, (len(y), 3))) for _ in range(2))
    gain, noise = mixing_gain(first, second, y)
    assert gain > noise > 0.0
    assert mixing_gain(second, np.full_like(first, 1.0 / 3.0), y)[0] == pytest.approx(0.0, abs=1e-3)


PILOT = 4


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.unique(y))


def settings(blocks=AUTO_BLOCKS, rates=(8, 16), n_trees=20, pilot=PILOT):
    return [
        MarginSetting(
            members=parse_members(block, n_trees), schedule=(rate,) * len(block), n_folds=3, pilot_trees=pilot
        )
        for block in blocks
        for rate in rates
    ]


def whole_settings(rates=(8, 16)):
    return settings(rates=rates, n_trees=4, pilot=None)


def test_the_pool_has_every_block_and_no_more():
    pool = pool_of([list(block) for block in AUTO_BLOCKS])
    assert len(pool) == 8
    for block in AUTO_BLOCKS:
        places = places_of(block, pool)
        assert len(set(places)) == 4
        assert tuple(pool[place] for place in places) == block


def test_blocks_share_their_forests(wine):
    layers = first_layers(wine, whole_settings(), RUN)
    fits = {(setting.forests, setting.schedule[0]): fit for setting, fit in layers}
    assert len(fits) == 8
    published, extra, mixed, all_extra = (
        fits[tuple((kind, 4) for kind in block), 8] for block in AUTO_BLOCKS
    )
    np.testing.assert_array_equal(published.vectors[2:], extra.vectors[2:])  # the completely random ones
    np.testing.assert_array_equal(published.vectors[:2], mixed.vectors[:2])
    np.testing.assert_array_equal(extra.vectors[:2], mixed.vectors[2:])
    np.testing.assert_array_equal(all_extra.vectors[:2], extra.vectors[:2])
    assert not np.array_equal(all_extra.vectors[1], all_extra.vectors[2])


def test_a_taken_block_predicts_like_its_members(wine):
    for _, fit in first_layers(wine, whole_settings((8,)), RUN):
        assert fit.block.vectors(wine.inputs).shape == (4, wine.n_rows, 3)
        assert fit.importances.shape == (13,)
        assert fit.importances.sum() == pytest.approx(1.0)


def test_the_best_held_out_score_is_chosen(wine):
    chosen, fit = choose_first_layer(wine, whole_settings(), RUN)
    accuracy = {
        id(setting): np.mean(other.vectors.mean(axis=0).argmax(axis=1) == wine.y)
        for setting, other in first_layers(wine, whole_settings(), RUN)
    }
    assert np.mean(fit.vectors.mean(axis=0).argmax(axis=1) == wine.y) == max(accuracy.values())
    assert chosen.first_key in {setting.first_key for setting in whole_settings()}


def test_a_setting_with_a_pilot_races(wine):
    chosen, fit = choose_first_layer(wine, settings(), RUN)
    again, same = race(wine, settings(), RUN, PILOT)
    assert chosen == again
    np.testing.assert_array_equal(fit.vectors, same.vectors)
    assert chosen.kinds in AUTO_BLOCKS
    assert 6 <= chosen.members[0].n_trees <= 20
    assert fit.block.n_trees == 4 * 3 * chosen.members[0].n_trees


def test_the_winner_has_the_trees_it_would_have_alone(wine):
    """Its forests are those of their places in the pool, whose first block is the first of the settings."""
    first = settings(AUTO_BLOCKS[:1], rates=(8,))
    chosen, fit = race(wine, first, RUN, PILOT)
    np.testing.assert_allclose(fit.vectors, first_layer_task(wine, chosen, RUN).train().vectors)


def test_a_clearly_better_block_wins(wine):
    """Columns of noise: a completely random tree seldom finds the two that matter."""
    noise = np.random.default_rng(0).normal(size=(wine.n_rows, 60))
    X, _ = load_wine(return_X_y=True)
    wide = TrainingSet(LayerInput(bin_array(np.hstack([X[:, [6, 12]], noise]))), wine.y, wine.classes)
    blocks = (("completely_random",) * 2, ("random",) * 2)
    assert race(wide, settings(blocks), RUN, PILOT)[0].kinds == ("random", "random")


def test_blocks_that_lose_do_not_try_other_depths(wine, monkeypatch):
    entered = []
    enter = module._enter

    def noted(wine, settings, run, pilot):
        entered.append([(setting.kinds, setting.schedule[0]) for setting in settings])
        return enter(wine, settings, run, pilot)

    monkeypatch.setattr(module, "_enter", noted)
    race(wine, settings(), RUN, PILOT)
    assert [len(group) for group in entered] == [4, 2]
    assert {rate for _, rate in entered[1]} == {16}


def test_without_time_the_first_trees_of_the_first_depth_decide(wine):
    chosen, fit = race(wine, settings(), RunOptions(time_limit=TimeLimit(0.0)), PILOT)
    assert (chosen.schedule[0], chosen.members[0].n_trees) == (8, 4)
    assert fit.block.n_trees == 4 * 3 * 4
