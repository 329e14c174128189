"""Fixed-sequence testing of thresholds against a loop over the definition."""

import numpy as np
import pytest
from scipy import stats

from surewood.bounds import first_threshold, fixed_sequence_choice, threshold_grid


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
