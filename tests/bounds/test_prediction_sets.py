"""Ranks of prediction sets against their definitions."""

import math

import numpy as np
import pytest
from scipy import stats

from surewood.bounds import marginal_rank, pac_rank, set_threshold


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


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="guarantee must be one of marginal, pac, got 'exact'"):
        set_threshold([0.1], 0.1, guarantee="exact")
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 1\), got 1"):
        pac_rank(10, 1)
