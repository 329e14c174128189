from dataclasses import replace

import numpy as np
import pytest

from surewood.deepforest.block import Block
from surewood.deepforest.data import TrainingSet
from surewood.deepforest.growth_log import GrowthLog, Judged, make_record, score_of
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.members import parse_members
from surewood.deepforest.plan import MarginPlan
from surewood.estimators.time_limit import TimeLimit
from surewood.trees import bin_array

PLAN = MarginPlan(members=parse_members(["random"], 2), schedule=(4,), max_layers=5, patience=2)
TRAINING = TrainingSet(
    LayerInput(bin_array(np.zeros((4, 1)))), np.array([0, 0, 1, 1], np.int32), np.array(["a", "b"])
)
RIGHT = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
WRONG = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4]])


def record(layer, scores, **changes):
    made = make_record(
        layer,
        score_of(PLAN, scores, TRAINING),
        scores,
        WRONG,
        TRAINING,
        step=0.5,
        weight=np.array([2.0, 0.0, 1.0, 1.0]),
        n_points=4,
        block=Block([], 2),
        max_depth=[4, None],
        seconds=1.0,
    )
    return replace(made, **changes)


def test_a_record_holds_the_cascade_and_its_own_layer():
    one = record(1, RIGHT)
    assert (one.score, one.accuracy, one.layer_accuracy, one.max_depth) == (1.0, 1.0, 0.5, None)
    assert one.effective_sample_size == pytest.approx(16 / 6 / 4)


def test_the_best_layer_is_kept_with_its_scores():
    log = GrowthLog(PLAN, keep_held_out=True)
    for scores, score in ((WRONG, 0.5), (RIGHT, 0.75), (WRONG, 0.5)):
        assert not log.finished
        log.add(record(log.next_layer, scores, score=score), scores, is_last=False)
    assert (log.n_kept, log.best_score, log.finished) == (2, 0.75, False)
    log.add(record(4, WRONG, score=0.5), WRONG, is_last=False)
    assert log.finished  # two layers in a row were no better
    grown = log.result("layers", PLAN)
    assert [one.kept for one in grown.records] == [True, True, False, False]
    assert grown.score == 0.75
    assert grown.held_out is RIGHT
    assert len(grown.staged_held_out) == 4


@pytest.mark.parametrize(("score", "is_last"), [(1.0, False), (0.5, True)])
def test_perfect_accuracy_or_the_algorithm_ends_the_growth(score, is_last):
    log = GrowthLog(PLAN, keep_held_out=False)
    log.add(record(1, RIGHT, score=score), RIGHT, is_last=is_last)
    assert log.finished
    assert log.staged == []


def test_the_number_of_layers_is_limited():
    log = GrowthLog(replace(PLAN, max_layers=1), keep_held_out=False)
    log.add(record(1, WRONG, score=0.5), WRONG, is_last=False)
    assert log.finished
    assert log.stop_reason == "max_layers"


def test_a_gain_within_noise_is_no_gain():
    plan = replace(PLAN, patience=1, min_improvement="noise")
    log = GrowthLog(plan, keep_held_out=False)
    log.add(record(1, WRONG), WRONG, is_last=False, judged=Judged.of(WRONG, TRAINING))
    better = WRONG.copy()
    better[3] = [0.4, 0.6]  # one row more of four: its standard error is 0.22
    log.add(record(2, better), better, is_last=False, judged=Judged.of(better, TRAINING))
    assert not log.finished
    worse_and_better = better.copy()
    worse_and_better[0], worse_and_better[1] = [0.1, 0.9], [0.9, 0.1]
    log.add(record(3, WRONG, score=0.8), WRONG, is_last=False, judged=Judged.of(worse_and_better, TRAINING))
    assert log.stop_reason == "no gain"  # 0.05 better, with two rows that changed sides
    assert log.n_kept == 3


def test_a_layer_that_was_given_up_is_recorded_and_not_kept():
    log = GrowthLog(PLAN, keep_held_out=True)
    log.add(record(1, WRONG), WRONG, is_last=False)
    log.abandon(record(2, RIGHT), RIGHT)
    assert log.stop_reason == "no gain"
    assert [one.kept for one in log.result("layers", PLAN).records] == [True, False]
    assert len(log.staged) == 2


def test_the_time_limit_ends_the_growth():
    log = GrowthLog(PLAN, keep_held_out=False, time_limit=TimeLimit(0.0))
    log.add(record(1, WRONG, score=0.5), WRONG, is_last=False)
    assert log.stop_reason == "time_limit"
