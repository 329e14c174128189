"""Calibration: better log-loss, the same decisions, proper rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood.base.calibration import METHODS, ScoreCalibrator, _log_loss
from surewood.base.time_limit import TimeLimit


def overconfident(n, c, seed, sharpness=6.0):
    """Votes that are too sure of themselves: the truth follows the softer distribution."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, c))
    truth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = np.array([rng.choice(c, p=p) for p in truth])
    votes = np.exp(sharpness * logits)
    return np.round(votes / votes.sum(axis=1, keepdims=True), 2), logits, y


@pytest.mark.parametrize("method", ["auto", "temperature", "offset", "isotonic"])
@pytest.mark.parametrize(("n", "c"), [(300, 2), (2000, 4)])
def test_log_loss_falls_on_new_points(method, n, c):
    votes, _, y = overconfident(2 * n, c, seed=n)
    votes /= votes.sum(axis=1, keepdims=True)
    calibrator = ScoreCalibrator(method).fit(votes[:n], y[:n])
    raw = _log_loss(np.maximum(votes[n:], 1e-3), y[n:], np.ones(n))
    calibrated = _log_loss(calibrator.transform(votes[n:]), y[n:], np.ones(n))
    uniform = np.log(c)
    assert calibrated < raw
    assert calibrated < uniform


def test_a_time_limit_ends_the_choice_and_the_offsets():
    _, scores, y = overconfident(2000, 4, seed=0)
    over = TimeLimit(0.0)
    assert ScoreCalibrator("auto", "decisions").fit(scores, y, limit=over).chosen_ == "temperature"
    fitted, whole = (
        ScoreCalibrator("offset", "decisions").fit(scores, y, limit=limit) for limit in (over, TimeLimit(1e6))
    )
    raw = ScoreCalibrator("temperature", "decisions").fit(scores, y)
    losses = [_log_loss(one.transform(scores), y, np.ones(2000)) for one in (raw, fitted, whole)]
    assert losses[0] > losses[1] > losses[2]


def test_decision_values():
    _, logits, y = overconfident(1000, 3, seed=1)
    calibrator = ScoreCalibrator("temperature", kind="decisions").fit(50 * logits, y)
    assert calibrator.temperature_ == pytest.approx(50, rel=0.15)


rows = st.integers(2, 6).flatmap(
    lambda c: st.lists(st.lists(st.integers(0, 5), min_size=c, max_size=c), min_size=4, max_size=30)
)


@settings(max_examples=60, deadline=None)
@given(rows=rows, method=st.sampled_from(["temperature", "offset", "isotonic"]), seed=st.integers(0, 100))
def test_decisions_never_change(rows, method, seed):
    votes = np.array(rows, dtype=float) + 1e-9 * (np.sum(rows, axis=1, keepdims=True) == 0)
    votes = votes / votes.sum(axis=1, keepdims=True)
    y = np.random.default_rng(seed).integers(0, votes.shape[1], len(votes))
    proba = ScoreCalibrator(method).fit(votes, y).transform(votes)
    np.testing.assert_array_equal(proba.argmax(axis=1), votes.argmax(axis=1))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
    assert (proba > 0).all()


def biased(n, seed):
    """Votes that favour the first class: it gets twice the odds that it deserves."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(0.8, 0.8, size=n)
    y = (rng.random(n) < truth).astype(int)
    voted = np.clip(truth / (truth + 2 * (1 - truth)), 1e-3, 1 - 1e-3)
    return np.column_stack([1 - voted, voted]), y


def test_an_offset_serves_classes_that_get_too_few_votes():
    votes, y = biased(4000, seed=0)
    plain, shifted = (ScoreCalibrator(m).fit(votes[:2000], y[:2000]) for m in ("temperature", "offset"))
    losses = [_log_loss(c.transform(votes[2000:]), y[2000:], np.ones(2000)) for c in (plain, shifted)]
    assert losses[1] < losses[0] - 0.005
    assert np.diff(shifted.offsets_) > 0.3
    assert ScoreCalibrator().fit(votes, y).chosen_ != "temperature"


def test_a_matrix_serves_machines_of_different_scales():
    _, logits, y = overconfident(1500, 4, seed=5)
    scores = logits * np.array([1.0, 3.0, 0.3, 1.0])
    plain, mixed = (ScoreCalibrator(m, "decisions").fit(scores[:1000], y[:1000]) for m in METHODS[1:3])
    losses = [_log_loss(c.transform(scores[1000:]), y[1000:], np.ones(500)) for c in (plain, mixed)]
    assert losses[1] < losses[0]
    np.testing.assert_array_equal(mixed.transform(scores).argmax(axis=1), scores.argmax(axis=1))


@pytest.mark.parametrize("method", ["temperature", "offset"])
def test_scores_that_differ_by_a_hair_keep_their_decision(method):
    scores = np.array([[-1e-17, 1e-17], [1e-17, -1e-17], [0.0, 0.0], [-3.0, 3.0]])
    proba = ScoreCalibrator(method, "decisions").fit(scores, np.array([1, 0, 0, 1])).transform(scores)
    np.testing.assert_array_equal(proba.argmax(axis=1), [1, 0, 0, 1])


def test_rows_without_scores_do_not_count():
    votes, _, y = overconfident(200, 2, seed=3)
    votes /= votes.sum(axis=1, keepdims=True)
    holes = np.vstack([votes, np.full((50, 2), np.nan)])
    with_holes = ScoreCalibrator().fit(holes, np.r_[y, np.zeros(50, dtype=int)])
    assert with_holes.temperature_ == ScoreCalibrator().fit(votes, y).temperature_


def test_weights_are_repetitions():
    votes, _, y = overconfident(100, 3, seed=4)
    votes /= votes.sum(axis=1, keepdims=True)
    weighted = ScoreCalibrator().fit(votes, y, np.full(100, 2.0))
    repeated = ScoreCalibrator().fit(np.vstack([votes, votes]), np.r_[y, y])
    np.testing.assert_allclose(weighted.transform(votes), repeated.transform(votes), rtol=1e-6)


def test_one_class_and_no_points():
    assert ScoreCalibrator().fit(np.ones((3, 1)), np.zeros(3, dtype=int)).transform(
        np.ones((2, 1))
    ).tolist() == [
        [1.0],
        [1.0],
    ]
    nothing = ScoreCalibrator().fit(np.empty((0, 2)), np.empty(0, dtype=int))
    assert nothing.transform(np.array([[0.7, 0.3]])).argmax() == 0


def test_bad_arguments():
    with pytest.raises(ValueError, match="method must be one of auto"):
        ScoreCalibrator("magic")
    with pytest.raises(ValueError, match="kind must be"):
        ScoreCalibrator(kind="votes")
