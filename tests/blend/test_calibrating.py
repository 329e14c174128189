"""The calibration of a mixture: none where none is needed, the right one where one is."""

import numpy as np
import pytest

from surewood.blend.calibrating import (
    _cross_validated,
    best_step,
    calibrate_mixture,
    gain_with_failure,
)
from surewood.estimators.calibration import FOLDS, ScoreCalibrator


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 1500)
    return np.column_stack([1 - p, p]), (rng.random(1500) < p).astype(np.int32), np.ones(1500)


def test_calibrated_probabilities_are_left_alone(sample):
    assert best_step(*sample) is None
    assert calibrate_mixture("auto", *sample, n_jobs=1, verbose=0) is None


@pytest.mark.parametrize("n", [20, 60, 150])
def test_few_rows_seldom_ask_for_a_calibration(sample, n):
    mixed, y, weight = sample
    parts = [slice(k, k + n) for k in range(0, 1500 - n, n)][:20]
    asked = sum(best_step(mixed[part], y[part], weight[part]) is not None for part in parts)
    assert asked <= 2


def test_timid_probabilities_are_sharpened(sample):
    mixed, y, weight = sample
    timid = 0.5 + 0.3 * (mixed - 0.5)
    calibrator = calibrate_mixture("auto", timid, y, weight, n_jobs=1, verbose=0)
    assert calibrator is not None
    assert np.abs(calibrator.transform(timid) - mixed).mean() < 0.05


def test_a_named_method_is_always_fitted_and_none_never(sample):
    named = calibrate_mixture("temperature", *sample, n_jobs=1, verbose=0)
    assert named is not None
    assert named.chosen_ == "temperature"
    assert calibrate_mixture(None, *sample, n_jobs=1, verbose=0) is None


def test_one_fit_per_fold_serves_all_steps(sample):
    mixed, y, weight = (one[:400] for one in sample)
    steps = ("temperature", "offset")
    found = _cross_validated(steps, mixed, y, weight, 1 - y)
    fold = np.arange(400) % FOLDS
    for step in steps:
        for k in range(FOLDS):
            alone = ScoreCalibrator(step).fit(mixed[fold != k], y[fold != k], weight[fold != k])
            expected, rows = alone.transform(mixed[fold == k]), np.arange((fold == k).sum())
            for row, labels in enumerate((y, 1 - y)):
                truth = expected[rows, labels[fold == k]]
                np.testing.assert_allclose(found[step][row, fold == k], np.log(truth))


def test_few_rows_without_an_error_do_not_sharpen():
    y = np.arange(100, dtype=np.int32) % 2
    confident = np.where(y[:, None] == np.arange(2), 0.95, 0.05)
    assert best_step(confident, y, np.ones(100)) is None
    many = np.tile(y, 30)
    assert best_step(np.tile(confident, (30, 1)), many, np.ones(3000)) is not None


def test_the_additional_row_counts_as_one_row():
    rng = np.random.default_rng(0)
    gains = rng.normal(0.1, 0.05, (2, 40))
    once, twice = (
        gain_with_failure(gains, np.full(40, 2.0)),
        gain_with_failure(np.repeat(gains, 2, 1), np.ones(80)),
    )
    assert once[0] == pytest.approx(twice[0])
    shares = gain_with_failure(gains, np.full(40, 1 / 40))
    assert shares == pytest.approx(gain_with_failure(gains, np.ones(40)))
    alone = np.append(gains[0], gains[1].mean())
    assert shares[0] == pytest.approx(alone.mean())
    assert shares[1] == pytest.approx(alone.std() / np.sqrt(41))
