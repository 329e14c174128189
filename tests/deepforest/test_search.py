from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from surewood.deepforest.additive import StepRule
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.margin_growth import MarginGrowth
from surewood.deepforest.members import parse_members
from surewood.deepforest.plan import MarginPlan, RunOptions, SearchPlan
from surewood.deepforest.search import search_settings
from surewood.trees import bin_array

BASE = MarginPlan(members=parse_members(["random"], 3), schedule=(2,), n_folds=3, max_layers=4, patience=4)


@pytest.fixture(scope="module")
def training():
    X, y = make_classification(150, 6, n_informative=4, flip_y=0.1, random_state=1)
    return TrainingSet(LayerInput(bin_array(X)), y.astype(np.int32), np.arange(2))


def grid(halving):
    candidates = tuple(
        replace(BASE, schedule=(rate,), step=StepRule(theta=theta))
        for rate in (2, 4)
        for theta in (0.6, 0.8, 0.9)
    )
    return SearchPlan(candidates=candidates, rows=np.arange(150), halving=halving)


def test_without_halving_every_setting_is_grown_to_its_end(training):
    plan = grid(None)
    found = search_settings(plan, training, None)
    for candidate, setting in zip(plan.candidates, found.settings):
        alone = MarginGrowth(training, candidate, RunOptions()).grown()
        assert setting.score == max(record.score for record in alone.records)
        assert setting.n_layers == len(alone.records)
        assert (setting.theta, setting.schedule) == (candidate.step.theta, candidate.schedule[0])


def test_halving_grows_fewer_layers(training):
    full, halved = (search_settings(grid(halving), training, None) for halving in (None, 3.0))
    assert sum(s.n_layers for s in halved.settings) < sum(s.n_layers for s in full.settings)
    assert min(s.n_layers for s in halved.settings) >= 1


def test_the_best_setting_comes_with_its_first_layer(training):
    found = search_settings(grid(2.0), training, None)
    best = found.settings[found.best_index]
    assert best.score == max(setting.score for setting in found.settings)
    assert found.best_index == min(k for k, s in enumerate(found.settings) if s.score == best.score)
    alone = MarginGrowth(training, found.plan, RunOptions()).grown()
    shared = MarginGrowth(training, found.plan, RunOptions()).grown(found.first)
    np.testing.assert_array_equal(alone.held_out, shared.held_out)
