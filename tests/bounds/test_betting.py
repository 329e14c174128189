"""Betting limits: against a slow loop, the peers they must not lose to, and their validity."""

import itertools
import math

import numpy as np
import pytest

from surewood.bounds import auc_limit, betting, betting_lower_limit, betting_upper_limit, calibration_limit
from surewood.bounds.holdout import binomial_tail_inverse


def slow_capital(values, u, cell, target):
    """Largest log-capital against u, one row at a time, with the bets of the game against the cell's end."""
    n, start = len(values), max(cell, 0.5e-4)
    block = -(-n // 250)
    weight = 0.25 * math.sqrt(n)
    second = weight * start * (1 - start)
    third = second * (1 - 2 * start)
    game, capital, best = 0.0, 0.0, -math.inf
    for i, z in enumerate(values):
        if i % block == 0:
            root = math.sqrt(2 * max(target - game, 0) / ((n - i) * second / (weight + i)))
            bet = root / math.sqrt(1 + 4 / 3 * root * max(third, 0) / second)
            bet = min(bet, 0.99 / (1 - cell))
        game += math.log1p(bet * (cell - z))
        capital += math.log1p(bet * (u - z))
        best = max(best, capital)
        second += (z - cell) ** 2
        third += (z - cell) ** 3
    return best


def slow_limit(values, delta):
    """The largest cell that is not rejected, then a fine search within it."""
    target, cells = math.log(1 / delta) + 1e-9, [*betting._cells(), 1.0]
    kept = max(j for j, u in enumerate(cells[:-1]) if slow_capital(values, u, u, target) < target)
    low, high = cells[kept], cells[kept + 1]
    for _ in range(40):
        u = (low + high) / 2
        rejected = slow_capital(values, u, cells[kept], target) >= target
        low, high = (low, u) if rejected else (u, high)
    return max(high, np.mean(values))


@pytest.mark.parametrize(
    ("n", "draw"),
    [(1, "beta"), (7, "bernoulli"), (7, "beta"), (60, "bernoulli"), (60, "beta"), (501, "beta")],
)
def test_equals_the_slow_loop(n, draw):
    rng = np.random.default_rng(n)
    values = rng.random(n) < 0.2 if draw == "bernoulli" else rng.beta(2, 8, n)
    assert betting_upper_limit(values, delta=0.05) == pytest.approx(
        slow_limit(np.asarray(values, float), 0.05), abs=1e-9
    )


def hoeffding(z, delta):
    return min(1.0, z.mean() + math.sqrt(math.log(1 / delta) / (2 * z.size)))


def bernstein(z, delta):
    log = math.log(2 / delta)
    return min(1.0, z.mean() + math.sqrt(2 * z.var(ddof=1) * log / z.size) + 7 * log / (3 * (z.size - 1)))


def bentkus(z, delta):
    return binomial_tail_inverse(math.ceil(z.sum() - 1e-9), z.size, math.log(delta) - 1.0)


LAWS = {
    "bernoulli 0.02": lambda rng, n: (rng.random(n) < 0.02).astype(float),
    "bernoulli 0.2": lambda rng, n: (rng.random(n) < 0.2).astype(float),
    "bernoulli 0.9": lambda rng, n: (rng.random(n) < 0.9).astype(float),
    "beta(1, 1)": lambda rng, n: rng.random(n),
    "beta(1, 9)": lambda rng, n: rng.beta(1, 9, n),
    "beta(10, 30)": lambda rng, n: rng.beta(10, 30, n),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "draws"), [(100, 100), (1000, 20)])
def test_at_most_five_percent_wider_than_the_best_peer(law, n, draws):
    rng = np.random.default_rng(0)
    samples = [LAWS[law](rng, n) for _ in range(draws)]
    ours = np.mean([betting_upper_limit(z) - z.mean() for z in samples])
    peers = [np.mean([peer(z, 0.05) - z.mean() for z in samples]) for peer in (hoeffding, bernstein, bentkus)]
    assert ours <= 1.05 * min(peers)


@pytest.mark.parametrize(("n", "width", "draws"), [(100, 0.0300, 150), (500, 0.0077, 60)])
def test_width_over_the_mean_of_beta_2_18(n, width, draws):
    rng = np.random.default_rng(3)
    samples = rng.beta(2, 18, (draws, n))
    assert np.mean([betting_upper_limit(z) - z.mean() for z in samples]) < width


@pytest.mark.parametrize("law", ["bernoulli 0.2", "beta(1, 9)"])
def test_the_limit_fails_at_most_as_often_as_it_says(law):
    rng = np.random.default_rng(1)
    mean = {"bernoulli 0.2": 0.2, "beta(1, 9)": 0.1}[law]
    failures = sum(betting_upper_limit(LAWS[law](rng, 50), delta=0.2) < mean for _ in range(300))
    assert failures <= 300 * 0.2 + 3 * math.sqrt(300 * 0.2 * 0.8)
    if law.startswith("bernoulli"):
        assert failures > 0, "a limit that never fails at delta=0.2 is not tight enough to test"


def test_lower_limit_is_the_mirror_and_extremes_are_kept():
    values = np.random.default_rng(2).beta(3, 2, 80)
    assert betting_lower_limit(values) == 1.0 - betting_upper_limit(1.0 - values)
    assert betting_upper_limit(np.ones(50)) == 1.0
    assert betting_upper_limit(np.zeros(300)) < 0.012
    assert betting_upper_limit([0.4], n_models=3) > betting_upper_limit([0.4]) - 1e-12


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (7, 3), (3, 7), (20, 50)])
def test_auc_bets_on_blocks_of_rows_that_no_other_block_shares(positives, negatives):
    rng = np.random.default_rng(positives)
    is_positive = rng.permutation(np.r_[np.ones(positives, bool), np.zeros(negatives, bool)])
    scores = rng.integers(0, 6, is_positive.size) + 2.0 * is_positive
    above, below = scores[is_positive], scores[~is_positive]
    few, many = (above, below) if positives <= negatives else (below, above)
    blocks = [[] for _ in few]
    for j, other in enumerate(many):
        block = j * len(few) // len(many)
        high, low = (few[block], other) if positives <= negatives else (other, few[block])
        blocks[block].append(1.0 if high > low else 0.5 if high == low else 0.0)
    assert auc_limit(scores, is_positive) == betting_lower_limit([np.mean(block) for block in blocks])


def test_auc_of_one_class_says_nothing():
    assert auc_limit([0.1, 0.2], [True, True]) == auc_limit([0.1, 0.2], [False, False]) == 0.0


def slow_calibration(p, y, n_bins, delta):
    """One row and one combination of signs at a time: the first cell that some signs leave, from above."""
    target, cells = math.log(1 / delta) + 1e-9, [*betting._cells(), 1.0]
    bins, n = np.minimum((p * n_bins).astype(int), n_bins - 1), len(p)
    all_signs = list(itertools.product((1, -1), repeat=n_bins))
    for k in range(len(cells) - 2, -1, -1):
        u, weight = cells[k], 0.25 * math.sqrt(n)
        squares, capitals, reached = 0.25 * weight, np.zeros(len(all_signs)), False
        for i in range(n):
            to_win = max(target - capitals.min(), 0.0)
            bet = math.sqrt(2 * to_win / ((n - i) * squares / (weight + i)))
            bet = min(bet, 0.99 / (1 - u))
            for position, signs in enumerate(all_signs):
                capitals[position] += math.log1p(bet * (u - signs[bins[i]] * (p[i] - y[i])))
            reached |= capitals.min() >= target
            squares += (p[i] - y[i]) ** 2
        if not reached:
            observed = sum(abs(np.sum((p - y)[bins == b])) for b in range(n_bins)) / n
            return max(cells[k + 1], observed)


@pytest.mark.parametrize(("n", "n_bins"), [(1, 2), (12, 3), (40, 1)])
def test_calibration_equals_the_game_against_all_signs(n, n_bins):
    rng = np.random.default_rng(n)
    p = rng.random(n)
    y = rng.random(n) < 0.5 * p
    assert calibration_limit(p, y, n_bins=n_bins) == pytest.approx(slow_calibration(p, y, n_bins, 0.05))


def test_calibration_of_many_rows_is_narrow_and_sees_a_bias():
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    assert calibration_limit(p, rng.random(4000) < p) < 0.04
    assert 0.1 < calibration_limit(p, rng.random(4000) < np.clip(p + 0.1, 0, 1)) < 0.13


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc_limit([0.1], [True, False]), "scores and is_positive must have the same length"),
        (lambda: calibration_limit([0.1], [True, False]), "probabilities and outcomes must have the same"),
        (lambda: calibration_limit([], []), "number of probabilities must be an integer >= 1, got 0"),
        (lambda: betting_upper_limit([]), "number of values must be an integer >= 1, got 0"),
        (lambda: betting_upper_limit([0.5, 1.5]), r"values must be in \[0, 1\]"),
    ],
)
def test_bad_values_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
