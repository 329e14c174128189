"""Fixed-sequence testing and ranks of prediction sets against their definitions."""

import math

import numpy as np
import pytest
from scipy import stats

from surewood.bounds import fixed_sequence_choice, set_threshold
from surewood.bounds.thresholds import first_threshold, marginal_rank, pac_rank, threshold_grid


def slow_choice(failures, sizes, at_most, delta, start):
    chosen = None
    for position in range(start, len(sizes)):
        if sum(stats.binom.pmf(i, sizes[position], at_most) for i in range(failures[position] + 1)) > delta:
            break
        chosen = position
    return chosen


def test_choice_equals_the_loop():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = np.sort(rng.integers(0, 300, 12))
        failures = rng.binomial(sizes, 0.03)
        start = int(rng.integers(0, 6))
        assert fixed_sequence_choice(failures, sizes, 0.06, delta=0.1, start=start) == slow_choice(
            failures, sizes, 0.06, 0.1, start
        )


def test_a_later_success_does_not_count_after_a_failure():
    assert fixed_sequence_choice([0, 90, 0], [200, 200, 900], 0.05) == 0
    assert fixed_sequence_choice([90, 0], [200, 900], 0.05) is None


def test_grid_has_equal_steps_of_coverage():
    scores = np.random.default_rng(1).random(1000)
    grid = threshold_grid(scores)
    assert grid.size == 50
    assert [(scores >= t).mean() for t in grid] == pytest.approx(np.arange(1, 51) / 50)
    assert threshold_grid([0.5] * 9).tolist() == [0.5]


def test_the_first_threshold_expects_twice_the_rows_an_error_free_promise_needs():
    needed = 2 * np.log(0.05) / np.log(0.9)
    coverage = np.arange(1, 51) / 50
    first = first_threshold(coverage, 500, 0.1)
    assert coverage[first] * 500 >= needed > coverage[first - 1] * 500
    assert first_threshold(coverage, 20, 0.1) is None
    assert fixed_sequence_choice([0], [int(np.ceil(needed / 2))], 0.1) == 0


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="failures must be <= sizes"):
        fixed_sequence_choice([2], [1], 0.1)
    with pytest.raises(ValueError, match=r"at_most must be in \(0, 1\), got 0"):
        first_threshold([0.5], 10, 0)


@pytest.mark.parametrize("n", [1, 10, 59, 100, 777])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_pac_rank_is_the_largest_that_the_tail_allows(n, alpha, delta):
    allowed = [j for j in range(1, n + 1) if stats.binom.cdf(j - 1, n, alpha) <= delta]
    assert pac_rank(n, alpha, delta=delta) == max(allowed, default=0)


def test_marginal_rank():
    for n in range(60):
        exact = max((j for j in range(n + 2) if 20 * j <= n + 1), default=0)
        assert marginal_rank(n, 0.05) == exact


def test_threshold_is_the_order_statistic():
    scores = np.random.default_rng(0).random(200)
    for guarantee, rank in (("pac", pac_rank(200, 0.1)), ("marginal", marginal_rank(200, 0.1))):
        assert set_threshold(scores, 0.1, guarantee=guarantee) == np.sort(scores)[rank - 1]
    assert set_threshold([0.5, 0.6], 0.1) == -math.inf
    assert set_threshold([], 0.1) == -math.inf


def test_prediction_sets_bad_arguments_are_named():
    with pytest.raises(ValueError, match="guarantee must be one of marginal, pac, got 'exact'"):
        set_threshold([0.1], 0.1, guarantee="exact")
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 1\), got 1"):
        pac_rank(10, 1)
