import numpy as np
import pytest
from sklearn.datasets import load_wine

from surewood.deepforest.data import TrainingSet
from surewood.deepforest.first_layer import choose_first_layer
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.margin_growth import train_first_layer
from surewood.deepforest.members import AUTO_BLOCKS, parse_members
from surewood.deepforest.plan import MarginPlan, PilotRule, RunOptions
from surewood.deepforest.race import race
from surewood.estimators.time_limit import TimeLimit
from surewood.trees import bin_array

PILOT = PilotRule(n_trees=4, least_trees=6, tolerance=0.2)


@pytest.fixture(scope="module")
def training():
    X, y = load_wine(return_X_y=True)
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.unique(y))


def plans(blocks=AUTO_BLOCKS, rates=(8, 16), n_trees=20):
    return [
        MarginPlan(members=parse_members(b, n_trees), schedule=(r,) * len(b), n_folds=3, pilot=PILOT)
        for b in blocks
        for r in rates
    ]


def test_a_plan_with_a_pilot_races(training):
    chosen, fit = choose_first_layer(training, plans(), RunOptions())
    again, same = race(training, plans(), RunOptions(), PILOT)
    assert chosen == again
    np.testing.assert_array_equal(fit.vectors, same.vectors)
    assert chosen.kinds in AUTO_BLOCKS
    assert 6 <= chosen.members[0].n_trees <= 20
    assert fit.block.n_trees == 4 * 3 * chosen.members[0].n_trees


def test_the_winner_has_the_trees_it_would_have_alone(training):
    """Its forests are those of their places in the pool, whose first block is the first of the plans."""
    first = plans(AUTO_BLOCKS[:1], rates=(8,))
    chosen, fit = race(training, first, RunOptions(), PILOT)
    np.testing.assert_allclose(fit.vectors, train_first_layer(training, chosen, RunOptions()).vectors)


def test_a_clearly_better_block_wins(training):
    """Columns of noise: a completely random tree seldom finds the two that matter."""
    noise = np.random.default_rng(0).normal(size=(training.n_rows, 60))
    X, _ = load_wine(return_X_y=True)
    wide = TrainingSet(LayerInput(bin_array(np.hstack([X[:, [6, 12]], noise]))), training.y, training.classes)
    blocks = (("completely_random",) * 2, ("random",) * 2)
    assert race(wide, plans(blocks), RunOptions(), PILOT)[0].kinds == ("random", "random")


def test_blocks_that_lose_do_not_try_other_depths(training, monkeypatch):
    from surewood.deepforest import race as module

    entered = []
    enter = module._enter

    def noted(training, plans, run, pilot):
        entered.append([(plan.kinds, plan.schedule[0]) for plan in plans])
        return enter(training, plans, run, pilot)

    monkeypatch.setattr(module, "_enter", noted)
    race(training, plans(), RunOptions(), PILOT)
    assert [len(group) for group in entered] == [4, 2]
    assert {rate for _, rate in entered[1]} == {16}


def test_without_time_the_first_trees_of_the_first_depth_decide(training):
    chosen, fit = race(training, plans(), RunOptions(time_limit=TimeLimit(0.0)), PILOT)
    assert (chosen.schedule[0], chosen.members[0].n_trees) == (8, 4)
    assert fit.block.n_trees == 4 * 3 * 4
