"""Weights of a mixture: the optimum by another method, few rows, what is dropped.

The calibration of a mixture: none where none is needed, the right one where one is.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from surewood.base.calibration import FOLDS, ScoreCalibrator
from surewood.mixture.weights import (
    SMALLEST_WEIGHT,
    _cross_validated,
    best_step,
    calibrate_mixture,
    gain_with_failure,
    mixture_weights,
    optimal_mixture,
    with_a_row_each,
)


def of_truth(rng, n, m):
    return rng.uniform(0.05, 0.95, (n, m))


@pytest.mark.parametrize("seed", range(5))
def test_the_optimum_is_that_of_a_general_minimiser(seed):
    rng = np.random.default_rng(seed)
    truth, mass = of_truth(rng, 200, 3), rng.uniform(0.5, 2.0, 200)
    mass /= mass.sum()
    found = optimal_mixture(truth, mass)

    def loss(logits):
        w = np.exp(logits - logits.max())
        return -(mass @ np.log(truth @ (w / w.sum())))

    best = minimize(
        loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
    )
    assert -(mass @ np.log(truth @ found)) <= best.fun + 1e-9
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)


def probabilities(p, y):
    """Two-class probabilities that give the true class `p`."""
    out = np.column_stack([1 - p, p])
    out[y == 0] = out[y == 0][:, ::-1]
    return out


def test_few_rows_keep_all_members_and_many_rows_only_the_best():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    p = np.clip(
        rng.uniform(0.4, 0.95, y.size) + rng.normal([[0.0], [-0.05], [-0.1]], 0.02, (3, y.size)), 0.01, 0.99
    )
    few, many = (mixture_weights([probabilities(one[:n], y[:n]) for one in p], y[:n]) for n in (8, y.size))
    assert few[0] > few[1] > few[2] > 0.25
    np.testing.assert_array_equal(many, [1.0, 0.0, 0.0])


def test_a_member_without_a_mistake_does_not_get_everything_on_few_rows():
    y = np.arange(60, dtype=np.int32) % 2
    sure, less = np.full(60, 0.999), np.where(np.arange(60) < 3, 0.4, 0.97)
    few = mixture_weights([probabilities(sure, y), probabilities(less, y)], y)
    assert 0.5 < few[0] < 0.9
    many = np.tile(np.arange(60), 200)
    found = mixture_weights([probabilities(sure[many], y[many]), probabilities(less[many], y[many])], y[many])
    np.testing.assert_array_equal(found, [1.0, 0.0])


def test_a_row_of_a_member_counts_as_one_row_whatever_the_unit_of_the_weights():
    truth = of_truth(np.random.default_rng(0), 40, 3)
    for weight, rows in ((np.ones(40), 40.0), (np.full(40, 1 / 40), 40.0), (np.full(40, 3.0), 120.0)):
        longer, mass = with_a_row_each(truth, weight)
        np.testing.assert_allclose(mass[40:], weight.sum() / rows)
        np.testing.assert_array_equal(longer, np.vstack([truth, np.eye(3)]))


def test_small_members_are_dropped_and_the_rest_sums_to_one():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 3000)
    good = [probabilities(rng.uniform(0.5, 0.95, 3000), y) for _ in range(2)]
    found = mixture_weights([*good, probabilities(np.full(3000, 0.2), y)], y)
    assert found[2] == 0.0
    assert found.sum() == pytest.approx(1.0)
    assert not ((found > 0) & (found < SMALLEST_WEIGHT)).any()


def test_weight_two_is_the_row_twice():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    members = np.stack([probabilities(rng.uniform(0.2, 0.95, 300), y) for _ in range(2)])
    twice = np.concatenate([np.arange(300), np.arange(50)])
    weight = np.ones(300)
    weight[:50] = 2
    once = mixture_weights(members, y, weight)
    repeated = mixture_weights(members[:, twice], y[twice])
    np.testing.assert_allclose(once, repeated, atol=1e-6)


def test_a_certain_and_wrong_member_does_not_break_the_others():
    y = np.zeros(100, dtype=np.int32)
    members = [np.tile([0.0, 1.0], (100, 1)), np.tile([0.7, 0.3], (100, 1))]
    np.testing.assert_array_equal(mixture_weights(members, y), [0.0, 1.0])


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 1500)
    return np.column_stack([1 - p, p]), (rng.random(1500) < p).astype(np.int32), np.ones(1500)


def test_calibrated_probabilities_are_left_alone(sample):
    assert best_step(*sample) is None
    assert calibrate_mixture("auto", *sample, verbose=0) is None


@pytest.mark.parametrize("n", [20, 60, 150])
def test_few_rows_seldom_ask_for_a_calibration(sample, n):
    mixed, y, weight = sample
    parts = [slice(k, k + n) for k in range(0, 1500 - n, n)][:20]
    asked = sum(best_step(mixed[part], y[part], weight[part]) is not None for part in parts)
    assert asked <= 2


def test_timid_probabilities_are_sharpened(sample):
    mixed, y, weight = sample
    timid = 0.5 + 0.3 * (mixed - 0.5)
    calibrator = calibrate_mixture("auto", timid, y, weight, verbose=0)
    assert calibrator is not None
    assert np.abs(calibrator.transform(timid) - mixed).mean() < 0.05


def test_a_named_method_is_always_fitted_and_none_never(sample):
    named = calibrate_mixture("temperature", *sample, verbose=0)
    assert named is not None
    assert named.chosen_ == "temperature"
    assert calibrate_mixture(None, *sample, verbose=0) is None


def test_one_fit_per_fold_serves_all_steps(sample):
    mixed, y, weight = (one[:400] for one in sample)
    steps = ("temperature", "offset")
    found = _cross_validated(steps, mixed, y, weight, 1 - y, np.arange(len(y)) % FOLDS)
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
