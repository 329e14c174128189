"""First layers out of one pool of forests, and the race of their first trees."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from surewood.base.time_limit import TimeLimit
from surewood.deepforest import first_layer as module
from surewood.deepforest.data import LayerInput, TrainingSet
from surewood.deepforest.first_layer import choose_first_layer, first_layers, places_of, pool_of, race
from surewood.deepforest.forests import AUTO_BLOCKS, parse_members
from surewood.deepforest.margin_growth import first_layer_task
from surewood.deepforest.plan import MarginGrowthPlan, RunOptions
from surewood.trees.binning import bin_array

RUN = RunOptions()
PILOT = 4


@pytest.fixture(scope="module")
def training():
    X, y = load_wine(return_X_y=True)
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.unique(y))


def plans(blocks=AUTO_BLOCKS, rates=(8, 16), n_trees=20, pilot=PILOT):
    return [
        MarginGrowthPlan(
            members=parse_members(block, n_trees), schedule=(rate,) * len(block), n_folds=3, pilot_trees=pilot
        )
        for block in blocks
        for rate in rates
    ]


def whole_plans(rates=(8, 16)):
    return plans(rates=rates, n_trees=4, pilot=None)


def test_the_pool_has_every_block_and_no_more():
    pool = pool_of([list(block) for block in AUTO_BLOCKS])
    assert len(pool) == 8
    for block in AUTO_BLOCKS:
        places = places_of(block, pool)
        assert len(set(places)) == 4
        assert tuple(pool[place] for place in places) == block


def test_blocks_share_their_forests(training):
    layers = first_layers(training, whole_plans(), RUN)
    fits = {(plan.forests, plan.schedule[0]): fit for plan, fit in layers}
    assert len(fits) == 8
    published, extra, mixed, all_extra = (
        fits[tuple((kind, 4) for kind in block), 8] for block in AUTO_BLOCKS
    )
    np.testing.assert_array_equal(published.vectors[2:], extra.vectors[2:])  # the completely random ones
    np.testing.assert_array_equal(published.vectors[:2], mixed.vectors[:2])
    np.testing.assert_array_equal(extra.vectors[:2], mixed.vectors[2:])
    np.testing.assert_array_equal(all_extra.vectors[:2], extra.vectors[:2])
    assert not np.array_equal(all_extra.vectors[1], all_extra.vectors[2])


def test_a_taken_block_predicts_like_its_members(training):
    for _, fit in first_layers(training, whole_plans((8,)), RUN):
        assert fit.block.vectors(training.inputs).shape == (4, training.n_rows, 3)
        assert fit.importances.shape == (13,)
        assert fit.importances.sum() == pytest.approx(1.0)


def test_the_best_held_out_score_is_chosen(training):
    chosen, fit = choose_first_layer(training, whole_plans(), RUN)
    accuracy = {
        id(plan): np.mean(other.vectors.mean(axis=0).argmax(axis=1) == training.y)
        for plan, other in first_layers(training, whole_plans(), RUN)
    }
    assert np.mean(fit.vectors.mean(axis=0).argmax(axis=1) == training.y) == max(accuracy.values())
    assert chosen.first_key in {plan.first_key for plan in whole_plans()}


def test_a_plan_with_a_pilot_races(training):
    chosen, fit = choose_first_layer(training, plans(), RUN)
    again, same = race(training, plans(), RUN, PILOT)
    assert chosen == again
    np.testing.assert_array_equal(fit.vectors, same.vectors)
    assert chosen.kinds in AUTO_BLOCKS
    assert 6 <= chosen.members[0].n_trees <= 20
    assert fit.block.n_trees == 4 * 3 * chosen.members[0].n_trees


def test_the_winner_has_the_trees_it_would_have_alone(training):
    """Its forests are those of their places in the pool, whose first block is the first of the plans."""
    first = plans(AUTO_BLOCKS[:1], rates=(8,))
    chosen, fit = race(training, first, RUN, PILOT)
    np.testing.assert_allclose(fit.vectors, first_layer_task(training, chosen, RUN).train().vectors)


def test_a_clearly_better_block_wins(training):
    """Columns of noise: a completely random tree seldom finds the two that matter."""
    noise = np.random.default_rng(0).normal(size=(training.n_rows, 60))
    X, _ = load_wine(return_X_y=True)
    wide = TrainingSet(LayerInput(bin_array(np.hstack([X[:, [6, 12]], noise]))), training.y, training.classes)
    blocks = (("completely_random",) * 2, ("random",) * 2)
    assert race(wide, plans(blocks), RUN, PILOT)[0].kinds == ("random", "random")


def test_blocks_that_lose_do_not_try_other_depths(training, monkeypatch):
    entered = []
    enter = module._enter

    def noted(training, plans, run, pilot):
        entered.append([(plan.kinds, plan.schedule[0]) for plan in plans])
        return enter(training, plans, run, pilot)

    monkeypatch.setattr(module, "_enter", noted)
    race(training, plans(), RUN, PILOT)
    assert [len(group) for group in entered] == [4, 2]
    assert {rate for _, rate in entered[1]} == {16}


def test_without_time_the_first_trees_of_the_first_depth_decide(training):
    chosen, fit = race(training, plans(), RunOptions(time_limit=TimeLimit(0.0)), PILOT)
    assert (chosen.schedule[0], chosen.members[0].n_trees) == (8, 4)
    assert fit.block.n_trees == 4 * 3 * 4
